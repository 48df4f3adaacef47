"""Kept states: what a restore would lose, as a commit under refs/dflash/backup/ that touches no branch and no index."""

import json
import os
import stat
import tempfile
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from dflash_env import execute
from dflash_env.collect import git
from dflash_env.errors import Failure, StepFailed
from dflash_env.facts import Unknown
from dflash_env.plan import Step

REFS = "refs/dflash/backup/"
WHO = "dflash-env <dflash-env@localhost>"
GIT_PASSES = ("HOME", "PATH", "TMPDIR")
LIMIT_S = 600.0


@dataclass(frozen=True, kw_only=True)
class Loss:
    """One path as it was: the file of the working tree, and the entry of the index. Empty: there was none."""

    path: str
    file_mode: int = 0
    """`st_mode`, so that a link, a file and its permissions come back as they were."""
    staged_mode: str = ""
    staged_blob: str = ""
    flag: str = ""
    """The index's letter when git was told to ignore changes of the path."""


@dataclass(frozen=True, kw_only=True)
class Backup:
    """A kept state."""

    id: str
    head: str
    losses: tuple[Loss, ...]


def keep(root: Path, backup: Backup) -> None:
    """Write everything that is about to be lost into git's objects, and a ref to it.

    Two commits: the index's state upon HEAD, and upon that the working tree's, whose message is the list itself.
    """
    with tempfile.TemporaryFile() as stream:
        _commit(stream, backup, 1, "the index", _staged(backup.losses), f"from {backup.head}\n")
        listed = json.dumps({"schema": 1, **asdict(backup)})
        _commit(stream, backup, 2, listed, (), "from :1\n")
        for loss in backup.losses:
            _worktree(stream, root, loss)
        stream.write(b"\ndone\n")
        stream.seek(0)
        run(root, "fast-import", "--quiet", "--done", why="keep what would be lost", stdin=stream)


def _commit(stream: IO[bytes], backup: Backup, mark: int, message: str, lines: Iterable[bytes], parent: str) -> None:
    text = message.encode()
    stream.write(f"commit {REFS}{backup.id}\nmark :{mark}\ncommitter {WHO} {int(time.time())} +0000\n".encode())
    stream.write(b"data %d\n%s\n%s" % (len(text), text, parent.encode()))
    stream.writelines(lines)


def _staged(losses: Iterable[Loss]) -> Iterable[bytes]:
    for loss in losses:
        if loss.staged_blob:
            yield f"M {loss.staged_mode} {loss.staged_blob} ".encode() + _quoted(loss.path) + b"\n"
        else:
            yield b"D " + _quoted(loss.path) + b"\n"


def _worktree(stream: IO[bytes], root: Path, loss: Loss) -> None:
    path = root / loss.path
    if not loss.file_mode:
        stream.write(b"D " + _quoted(loss.path) + b"\n")
        return
    is_link = stat.S_ISLNK(loss.file_mode)
    mode = "120000" if is_link else "100755" if loss.file_mode & stat.S_IXUSR else "100644"
    stream.write(f"M {mode} inline ".encode() + _quoted(loss.path) + b"\n")
    if is_link:
        target = os.fsencode(path.readlink())
        stream.write(b"data %d\n%s\n" % (len(target), target))
        return
    with path.open("rb") as source:
        size = os.fstat(source.fileno()).st_size
        stream.write(b"data %d\n" % size)
        copied = 0
        while chunk := source.read(min(1 << 20, size - copied)):
            copied += len(chunk)
            stream.write(chunk)
        stream.write(b"\n")
    if copied != size:
        raise StepFailed(f"{path} changed while it was being kept", "close what writes to it, and run this again")


def _quoted(path: str) -> bytes:
    """A path as fast-import reads it, whatever bytes it holds."""
    return b'"' + b"".join(b"\\%03o" % byte for byte in os.fsencode(path)) + b'"'


def run(root: Path, *arguments: str, why: str, stdin: IO[bytes] | None = None) -> bytes:
    """Run git as a writer: no hooks, no user's variables."""
    argv = ("git", "-C", str(root), "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", *arguments)
    env = {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", "GIT_ALLOW_PROTOCOL": ""}
    step = Step(why=why, argv=argv, cwd=str(root), env=env, passes=GIT_PASSES)
    return execute.run(step, limit_s=LIMIT_S, stdin=stdin)


def listed(root: Path) -> tuple[Backup, ...]:
    """Every kept state, the newest last."""
    names = run(root, "for-each-ref", "--format=%(refname)", REFS, why="list the kept states").decode().split()
    return tuple(read(root, name.removeprefix(REFS)) for name in sorted(names))


def read(root: Path, ident: str) -> Backup:
    """One kept state by its id."""
    try:
        text = run(root, "cat-file", "commit", f"{REFS}{ident}", why=f"read the kept state {ident}")
        note = json.loads(text.partition(b"\n\n")[2])
        losses = tuple(Loss(**each) for each in note["losses"])
        return Backup(id=note["id"], head=note["head"], losses=losses)
    except (StepFailed, ValueError, KeyError, TypeError):
        raise Failure(f"there is no kept state {ident!r}", "`dflash-env restore --list` shows them") from None


def contents(root: Path, backup: Backup) -> dict[str, bytes]:
    """The files of a kept state by path."""
    entries = git.tree(root, f"{REFS}{backup.id}", ["."])
    wanted = {loss.path for loss in backup.losses if loss.file_mode}
    if isinstance(entries, Unknown):
        raise StepFailed(f"the kept state {backup.id} cannot be read: {entries.text}", "run `git fsck`")
    ours = [entry for entry in entries if os.fsdecode(entry.path) in wanted]
    blobs = git.blobs(root, ours)
    if isinstance(blobs, Unknown):
        raise StepFailed(f"the kept state {backup.id} cannot be read: {blobs.text}", "run `git fsck`")
    return {os.fsdecode(entry.path): blobs[entry.blob] for entry in ours}
