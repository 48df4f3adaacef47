"""Every tracked file against what vouches for it, by content: git HEAD in a clone, the manifest in a wheel."""

import hashlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from packaging.utils import canonicalize_name

from dflash_env import bundle
from dflash_env.collect import git
from dflash_env.facts import Change, Lock, Repo, Section, Unknown


def collect(root: Path, paths: Sequence[str], lock: Lock, used: Sequence[Path]) -> Section[Repo]:
    """The state of `paths` below `root`, and whether the files `used` as expectations are committed too."""
    if bundle.installed():
        return _by_manifest(root, used)
    commit = git.head(root)
    if isinstance(commit, Unknown):
        return commit
    entries, top = git.tree(root, commit, paths), git.top_level(root, commit)
    if isinstance(entries, Unknown):
        return entries
    if isinstance(top, Unknown):
        return top
    try:
        return Repo(
            vouched_by="git",
            commit=commit,
            files=len(entries),
            changes=tuple(_changes(root, entries)),
            strays=tuple(_strays(root, paths, {entry.path for entry in entries}, top, lock)),
            uncommitted=tuple(_uncommitted(root, used, {entry.path for entry in entries})),
        )
    except OSError as error:
        return Unknown(code="denied", text=f"{error.filename}: {error.strerror}")


def _uncommitted(root: Path, used: Sequence[Path], tracked: set[bytes]) -> Iterator[str]:
    """The files that no commit of their own repository vouches for, and why; `tracked` ones are compared already."""
    for path in dict.fromkeys([*used, *(path.resolve() for path in used)]):
        if path.is_relative_to(root) and os.fsencode(path.relative_to(root)) in tracked:
            continue
        folder = path.parent
        commit = git.head(folder)
        entries = commit if isinstance(commit, Unknown) else git.tree(folder, commit, [path.name])
        if isinstance(entries, Unknown):
            yield f"{path} ({entries.text})"
        elif not entries:
            yield f"{path} is in no commit"
        elif how := git.difference(path, entries[0]):
            yield f"{path} is {how} against HEAD of its repository"


def _changes(root: Path, entries: Sequence[git.Entry]) -> Iterator[Change]:
    for entry in entries:
        path = Path(os.fsdecode(entry.path))
        linked = any((root / folder).is_symlink() for folder in path.parents[:-1])
        how = "replaced" if linked else git.difference(root / path, entry)
        if how:
            yield Change(path=_shown(entry.path), how=how, expected=entry.blob)


def _strays(root: Path, paths: Sequence[str], tracked: set[bytes], top: set[bytes], lock: Lock) -> Iterator[str]:
    for name in paths:
        for file in _importable(root / name):
            relative = file.relative_to(root)
            if os.fsencode(relative) not in tracked:
                yield _shown(os.fsencode(relative))
    yield from _top_level(root, top, lock)


def _importable(folder: Path) -> Iterator[Path]:
    """Files that an import could load; `__pycache__` is left to Python, which checks it against the source."""
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(each for each in folders if each != "__pycache__")
        yield from (Path(here, each) for each in folders if Path(here, each).is_symlink())  # os.walk goes past these
        yield from (Path(here, each) for each in sorted(files) if each.endswith((".py", ".pyc", ".so")))


def _top_level(root: Path, top: set[bytes], lock: Lock) -> Iterator[str]:
    """Untracked modules beside the project that would win over the standard library or a locked package."""
    precious = sys.stdlib_module_names | {canonicalize_name(one.name).replace("-", "_") for one in lock.packages}
    for entry in sorted(root.iterdir()):
        is_package = entry.name in precious and entry.is_dir() and any(entry.glob("*.py"))
        is_module = entry.name.partition(".")[0] in precious and entry.suffix in (".py", ".so", ".pyc")
        if (is_package or is_module) and os.fsencode(entry.name) not in top:
            yield _shown(os.fsencode(entry.name))


def _by_manifest(root: Path, used: Sequence[Path]) -> Section[Repo]:
    try:
        manifest = json.loads((root / bundle.MANIFEST).read_text("utf-8"))
        files: dict[str, str] = manifest["files"]
        changes = tuple(_manifest_changes(root, files))
        folders = sorted({name.partition("/")[0] for name in files if "/" in name})
        known = {os.fsencode(name) for name in files}
        found = (file.relative_to(root) for folder in folders for file in _importable(root / folder))
        strays = tuple(_shown(os.fsencode(each)) for each in found if os.fsencode(each) not in known)
        return Repo(
            vouched_by="manifest",
            commit=str(manifest["commit"]),
            files=len(files),
            changes=changes,
            strays=strays,
            uncommitted=tuple(_uncommitted(root, used, {os.fsencode(name) for name in files})),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return Unknown(code="malformed", text=f"{root / bundle.MANIFEST}: {type(error).__name__} {error}")
    except OSError as error:
        return Unknown(code="denied", text=f"{error.filename}: {error.strerror}")


def _manifest_changes(root: Path, files: dict[str, str]) -> Iterator[Change]:
    for name, expected in files.items():
        path = root / name
        if not path.is_file():
            yield Change(path=name, how="deleted", expected=expected)
        elif hashlib.sha256(path.read_bytes()).hexdigest() != expected:
            yield Change(path=name, how="modified", expected=expected)


def committed(root: Path, found: Repo, folder: str) -> dict[str, tuple[bytes, bool]] | Unknown:
    """The vouched-for files below `folder`: path, content, and whether it is executable."""
    if found.vouched_by == "manifest":
        files: dict[str, str] = json.loads((root / bundle.MANIFEST).read_text("utf-8"))["files"]
        return {name: ((root / name).read_bytes(), False) for name in files if name.startswith(f"{folder}/")}
    entries = git.tree(root, found.commit, [folder])
    if isinstance(entries, Unknown):
        return entries
    contents = git.blobs(root, entries)
    if isinstance(contents, Unknown):
        return contents
    return {os.fsdecode(entry.path): (contents[entry.blob], entry.is_executable) for entry in entries}


def _shown(path: bytes) -> str:
    """A path as text; bytes that are no UTF-8 are escaped, since a report is JSON."""
    return path.decode("utf-8", "backslashreplace")
