"""Puts tracked files back to HEAD, after everything that this would lose is kept, and undoes it again."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from dflash_env import backup, codec
from dflash_env.backup import Backup, Loss
from dflash_env.collect import git, repo
from dflash_env.errors import Failure, StepFailed
from dflash_env.facts import Lock, Repo, Unknown

NOTHING = "0" * 40
ORDINARY = "H"
"""The index's letter of an ordinary entry."""


def survey(root: Path, paths: Sequence[str], lock: Lock, taken: str) -> Backup:
    """Read the repository, and say what putting `paths` back would lose."""
    found = repo.collect(root, paths, lock, ())
    if isinstance(found, Unknown):
        raise StepFailed(found.text, "run this in a git clone with at least one commit")
    return look(root, found, paths, taken)


def look(root: Path, found: Repo, paths: Sequence[str], taken: str) -> Backup:
    """What putting `paths` back would lose. Nothing is touched.

    Raises Failure where git is in the middle of something, or a path is none of this repository's.
    """
    _refuse(root)
    committed, staged = _by_path(git.tree(root, found.commit, paths)), _index(root, paths)
    strays = [each for each in found.strays if any(each == path or each.startswith(f"{path}/") for path in paths)]
    for path in paths:
        inside = f"{path}/"
        if not any(each == path or each.startswith(inside) or path == "." for each in (*committed, *staged, *strays)):
            raise Failure(f"{path} is no file or folder that HEAD holds", "name paths relative to the project")
    losses = (
        _loss(root, each, committed.get(each), staged.get(each)) for each in sorted({*committed, *staged, *strays})
    )
    lost = tuple(loss for loss in losses if loss)
    for path in committed:
        if (root / path).is_dir() and not (root / path).is_symlink():
            raise Failure(f"{root / path} is a folder where HEAD holds a file", f"move it away: `mv {path} {path}.off`")
    in_the_way = {str(parent) for loss in lost for parent in Path(loss.path).parents if _no_folder(root / parent)}
    ways = tuple(Loss(path=each, file_mode=(root / each).lstat().st_mode) for each in sorted(in_the_way))
    return Backup(id=_ident(root, taken), head=found.commit, losses=(*ways, *lost))


def _refuse(root: Path) -> None:
    operation = git.unfinished(root)
    if isinstance(operation, Unknown):
        raise StepFailed(operation.text, "run this in a git clone")
    if operation:
        give_up = "git bisect reset" if operation == "bisect" else f"git {operation} --abort"
        raise Failure(f"a {operation} is in progress", f"finish it or give it up: `{give_up}`")


def _by_path(entries: tuple[git.Entry, ...] | Unknown) -> dict[str, git.Entry]:
    if isinstance(entries, Unknown):
        raise StepFailed(entries.text, "run `git fsck`")
    return {os.fsdecode(entry.path): entry for entry in entries}


def _index(root: Path, paths: Sequence[str]) -> dict[str, git.Staged]:
    entries = git.index(root, paths)
    if isinstance(entries, Unknown):
        raise StepFailed(entries.text, "run `git status`")
    for entry in entries:
        if entry.stage:
            raise Failure(f"{os.fsdecode(entry.path)} is unmerged", "resolve it, or `git merge --abort`")
    return {os.fsdecode(entry.path): entry for entry in entries}


def _loss(root: Path, path: str, committed: git.Entry | None, staged: git.Staged | None) -> Loss | None:
    # What stands behind a link is not ours to compare or to keep; the link itself is.
    through_link = any(_no_folder(root / parent) for parent in Path(path).parents)
    same_file = not through_link and git.same(root / path, committed)
    same_entry = (staged and (staged.mode, staged.blob)) == (committed and (committed.mode, committed.blob))
    hidden = staged is not None and staged.flag != ORDINARY
    if same_file and same_entry and not hidden:
        return None
    here = root / path
    there = not through_link and (here.is_symlink() or here.is_file())
    return Loss(
        path=path,
        file_mode=here.lstat().st_mode if there else 0,
        staged_mode=staged.mode if staged else "",
        staged_blob=staged.blob if staged else "",
        flag=staged.flag if staged and hidden else "",
    )


def _no_folder(path: Path) -> bool:
    """Whether something else stands where a folder has to be."""
    return path.is_symlink() or path.is_file()


def _ident(root: Path, taken: str) -> str:
    stem = taken.replace("-", "").replace(":", "")
    used = {each.id for each in backup.listed(root)}
    return next(name for name in (stem, *(f"{stem}-{number}" for number in range(2, 1000))) if name not in used)


def apply(root: Path, kept: Backup) -> None:
    """Keep, then put every path back, then look at each again."""
    needed = sum((root / loss.path).lstat().st_size for loss in kept.losses if loss.file_mode)
    if shutil.disk_usage(root).free < 2 * needed + (1 << 20):
        raise StepFailed(f"{needed / 1e6:.0f} MB have to be kept, and the disk is nearly full", "free space first")
    backup.keep(root, kept)
    paths = [loss.path for loss in kept.losses]
    committed = {
        path: entry for path, entry in _by_path(git.tree(root, kept.head, ["."])).items() if path in set(paths)
    }
    blobs = git.blobs(root, list(committed.values()))
    if isinstance(blobs, Unknown):
        raise StepFailed(blobs.text, "run `git fsck`")
    entries = {path: (entry.mode, entry.blob) for path, entry in committed.items()}
    _set_index(root, {path: entries.get(path) for path in paths})
    for path in paths:
        if path not in committed:
            _remove(root, path)
    for path, entry in committed.items():
        permissions = 0o120777 if entry.is_link else 0o100755 if entry.is_executable else 0o100644
        _put(root / path, blobs[entry.blob], permissions, masked=True)
    wrong = [path for path, entry in committed.items() if not git.same(root / path, entry)]
    if wrong:
        raise StepFailed(f"{wrong[0]} is not what HEAD holds, right after it was put back", "look at what writes there")


def undo(root: Path, kept: Backup) -> None:
    """Bring a kept state back exactly: files, links, permissions, the index's entries and flags."""
    files = backup.contents(root, kept)
    gone = {loss.path for loss in kept.losses if not loss.file_mode}
    for loss in kept.losses:
        others = _others(root, loss.path, gone) if loss.file_mode else []
        if others:
            raise Failure(f"{others[0]} stands where {loss.path} has to come back", "move it away, and undo again")
    for loss in kept.losses:
        if not loss.file_mode:
            _remove(root, loss.path)
    for loss in sorted(kept.losses, key=lambda each: each.path):
        if loss.file_mode:
            _put(root / loss.path, files[loss.path], loss.file_mode)
    _set_index(
        root, {loss.path: (loss.staged_mode, loss.staged_blob) if loss.staged_blob else None for loss in kept.losses}
    )
    for option, letters in (("--assume-unchanged", "hs"), ("--skip-worktree", "Ss")):
        flagged = [loss.path for loss in kept.losses if loss.flag and loss.flag in letters]
        if flagged:
            _feed(root, [os.fsencode(path) + b"\0" for path in flagged], "update-index", option, "-z", "--stdin")


def _others(root: Path, path: str, gone: set[str]) -> list[Path]:
    """The files in a folder that stands in the place of a kept file or link, and that the undo does not remove."""
    here = root / path
    if here.is_symlink() or not here.is_dir():
        return []
    return [each for each in here.rglob("*") if not each.is_dir() and str(each.relative_to(root)) not in gone]


def _set_index(root: Path, entries: Mapping[str, tuple[str, str] | None]) -> None:
    lines = [
        f"{entry[0]} {entry[1]}\t".encode() + os.fsencode(path) + b"\0"
        if entry
        else f"0 {NOTHING}\t".encode() + os.fsencode(path) + b"\0"
        for path, entry in entries.items()
    ]
    _feed(root, lines, "update-index", "-z", "--index-info")


def _feed(root: Path, lines: Iterable[bytes], *arguments: str) -> None:
    with tempfile.TemporaryFile() as stream:
        stream.writelines(lines)
        stream.seek(0)
        backup.run(root, *arguments, why="set the index's entries", stdin=stream)


def _remove(root: Path, path: str) -> None:
    """Remove a kept file or link, and the folders that it alone was keeping."""
    here = root / path
    if any(_no_folder(root / parent) for parent in Path(path).parents):
        return
    if here.is_symlink() or here.is_file():
        here.unlink()
        for parent in here.parents:
            if parent == root or any(parent.iterdir()):
                break
            parent.rmdir()


def _put(path: Path, content: bytes, mode: int, masked: bool = False) -> None:
    """Replace a path in one rename: a reader sees the old or the new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name[:60]}.{os.getpid()}.restore")
    if stat.S_ISLNK(mode):
        fresh.symlink_to(os.fsdecode(content))
    else:
        fresh.write_bytes(content)
        fresh.chmod(stat.S_IMODE(mode) & ~(codec.umask() if masked else 0))
    fresh.replace(path)
