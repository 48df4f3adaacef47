"""Every tracked file against what vouches for it, by content: git HEAD in a clone, the manifest in a wheel."""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from dflash_env import bundle
from dflash_env.collect import changes, checkout, git, patches, shadows
from dflash_env.facts import Change, Lock, NotApplicable, Repo, Section, Unknown

TRAINER = "trainer"
"""The package that a launch runs."""
INSTALLED = NotApplicable(why="an installed wheel is no clone")


def collect(root: Path, paths: Sequence[str], lock: Lock, used: Sequence[Path]) -> Section[Repo]:
    """The state of `paths` below `root`, and whether the files `used` as expectations are committed too."""
    if bundle.installed():
        return _by_manifest(root, used)
    place = git.place(root)
    if isinstance(place, Unknown):
        return place
    commit = git.commit(root)
    if isinstance(commit, Unknown):
        return commit
    entries, top = git.everything(root, commit, paths), git.top_level(root, commit)
    if isinstance(entries, Unknown):
        return entries
    if isinstance(top, Unknown):
        return top
    try:
        return _by_git(root, place, commit, entries, paths, [*shadows.beside(root, top, lock)], used)
    except OSError as error:
        return Unknown(code="denied", text=f"{error.filename}: {error.strerror}")


def _by_git(
    root: Path,
    place: git.Place,
    commit: str,
    entries: tuple[git.Entry, ...],
    paths: Sequence[str],
    beside: list[str],
    used: Sequence[Path],
) -> Section[Repo]:
    files = [entry for entry in entries if entry.mode != git.SUBMODULE]
    tracked = {entry.path for entry in files}
    seen = changes.look(root, files)
    strays = tuple(shadows.strays(root, paths, tracked))
    index = git.index(root, paths)
    listed = () if isinstance(index, Unknown) else index
    left_out = checkout.sparse(root, listed)
    told = {entry.path for entry in seen.different} | {os.fsencode(each) for each in strays}
    around = index if isinstance(index, Unknown) else checkout.collect(root, place, entries, index, told, left_out)
    unmerged = {each.path for each in listed if each.stage}
    sources = _sources(root, files, seen)
    if isinstance(sources, Unknown):
        return sources
    return Repo(
        vouched_by="git",
        commit=commit,
        files=len(files),
        changes=tuple(changes.judged(root, seen.different, unmerged, left_out)),
        strays=(*strays, *beside),
        uncommitted=tuple(_uncommitted(root, used, tracked)),
        checkout=around,
        bytecode=tuple(shadows.bytecode(root, paths, tracked)),
        links=tuple(shadows.leading_out(root, place.top, files)),
        patches=patches.scan(sources, TRAINER),
    )


def _sources(root: Path, files: Sequence[git.Entry], seen: changes.Seen) -> dict[bytes, bytes] | Unknown:
    """The committed Python files of the trainer: those of the work tree that are the same, the rest from git."""
    ours = [each for each in files if each.path.startswith(b"trainer/") and each.path.endswith(b".py")]
    ours = [each for each in ours if not each.is_link]
    gone = [each for each in ours if each.path not in seen.sources]
    contents = git.blobs(root, gone) if gone else {}
    if isinstance(contents, Unknown):
        return contents
    return {each.path: seen.sources.get(each.path, contents.get(each.blob, b"")) for each in ours}


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


def _by_manifest(root: Path, used: Sequence[Path]) -> Section[Repo]:
    try:
        manifest = json.loads((root / bundle.MANIFEST).read_text("utf-8"))
        files: dict[str, str] = manifest["files"]
        differing = tuple(_manifest_changes(root, files))
        folders = sorted({name.partition("/")[0] for name in files if "/" in name} - {"dflash_env"})
        known = {os.fsencode(name) for name in files}
        ours = [each for each in files if each.startswith(f"{TRAINER}/") and each.endswith(".py")]
        sources = {os.fsencode(each): (root / each).read_bytes() for each in ours if (root / each).is_file()}
        return Repo(
            vouched_by="manifest",
            commit=str(manifest["commit"]),
            files=len(files),
            changes=differing,
            strays=tuple(shadows.strays(root, folders, known)),
            uncommitted=tuple(_uncommitted(root, used, known)),
            checkout=INSTALLED,
            bytecode=tuple(shadows.bytecode(root, folders, known)),
            patches=patches.scan(sources, TRAINER),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return Unknown(code="malformed", text=f"{root / bundle.MANIFEST}: {type(error).__name__} {error}")
    except OSError as error:
        return Unknown(code="denied", text=f"{error.filename}: {error.strerror}")


def _manifest_changes(root: Path, files: dict[str, str]) -> Iterator[Change]:
    for name, expected in files.items():
        # The tool's own modules stand beside the bundled folder, which is inside its package.
        path = root.parents[1] / name if name.startswith("dflash_env/") else root / name
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
