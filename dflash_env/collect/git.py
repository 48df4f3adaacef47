"""Git as a reader: object database only, so that no hook, filter, monitor or diff program of a repository can run."""

import hashlib
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dflash_env.collect import child
from dflash_env.facts import Unknown

LIMIT_S = 20.0


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One file of a commit."""

    path: bytes
    mode: str
    blob: str

    @property
    def is_link(self) -> bool:
        return self.mode == "120000"

    @property
    def is_executable(self) -> bool:
        return self.mode == "100755"


def head(root: Path) -> str | Unknown:
    """The commit id of HEAD."""
    inside = _git(root, "rev-parse", "--show-toplevel")
    if isinstance(inside, Unknown):
        nowhere = "not a git repository" in inside.text
        return Unknown(code="no-repository", text=f"{root} is in no git repository") if nowhere else inside
    answer = _git(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    if isinstance(answer, Unknown):
        return Unknown(code="no-commit", text=f"the repository {root} has no commit yet")
    return answer.decode().strip()


def tree(root: Path, commit: str, paths: Sequence[str]) -> tuple[Entry, ...] | Unknown:
    """The files of a commit below `paths`, which are relative to `root`; submodules are left out."""
    answer = _git(root, "ls-tree", "-r", "-z", commit, "--", *paths)
    if isinstance(answer, Unknown):
        return answer
    lines = (line.partition(b"\t") for line in answer.split(b"\0") if line)
    parsed = ((meta.decode().split(), path) for meta, _, path in lines)
    return tuple(Entry(path=path, mode=mode, blob=blob) for (mode, kind, blob), path in parsed if kind == "blob")


def top_level(root: Path, commit: str) -> set[bytes] | Unknown:
    """The names of the files and folders at the top of a commit, relative to `root`."""
    answer = _git(root, "ls-tree", "-z", "--name-only", commit)
    return answer if isinstance(answer, Unknown) else set(answer.split(b"\0"))


@dataclass(frozen=True, kw_only=True)
class Staged(Entry):
    """One entry of the index."""

    stage: int
    """0; 1 to 3 while the path is unmerged."""
    flag: str
    """Git's letter: `H`, or `S` for skip-worktree; lower case for assume-unchanged."""


def index(root: Path, paths: Sequence[str]) -> tuple[Staged, ...] | Unknown:
    """The entries of the index below `paths`; submodules are left out."""
    answer = _git(root, "ls-files", "-z", "-v", "--stage", "--", *paths)
    if isinstance(answer, Unknown):
        return answer
    lines = (line.partition(b"\t") for line in answer.split(b"\0") if line)
    parsed = ((meta.decode().split(), path) for meta, _, path in lines)
    return tuple(
        Staged(path=path, mode=mode, blob=blob, stage=int(stage), flag=flag)
        for (flag, mode, blob, stage), path in parsed
        if mode != SUBMODULE
    )


SUBMODULE = "160000"

IN_PROGRESS = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "BISECT_LOG": "bisect",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
}
"""What stands in git's folder while an operation is unfinished."""


def unfinished(root: Path) -> str | Unknown:
    """The operation that is in progress, or empty."""
    answer = _git(root, "rev-parse", "--absolute-git-dir")
    if isinstance(answer, Unknown):
        return answer
    folder = Path(os.fsdecode(answer.removesuffix(b"\n")))
    return next((what for name, what in IN_PROGRESS.items() if (folder / name).exists()), "")


def branch(root: Path) -> str | Unknown:
    """The branch that HEAD is on; empty when it is detached."""
    answer = _git(root, "for-each-ref", "--points-at=HEAD", "--format=%(HEAD)%(refname:short)", "refs/heads")
    if isinstance(answer, Unknown):
        return answer
    return next((line[1:] for line in answer.decode("utf-8", "replace").splitlines() if line.startswith("*")), "")


def blobs(root: Path, entries: Sequence[Entry]) -> dict[str, bytes] | Unknown:
    """The content of each entry by blob id, in one pass."""
    wanted = "".join(f"{entry.blob}\n" for entry in entries).encode()
    answer = _git(root, "cat-file", "--batch", data=wanted)
    if isinstance(answer, Unknown):
        return answer
    contents: dict[str, bytes] = {}
    at = 0
    for entry in entries:
        end = answer.index(b"\n", at)
        blob, kind, *size = answer[at:end].decode().split()
        if kind != "blob":
            return Unknown(code="damaged", text=f"git has no content for {entry.path!r} ({blob} {kind})")
        at = end + 1
        contents[entry.blob] = answer[at : at + int(size[0])]
        at += int(size[0]) + 1
    return contents


def difference(path: Path, entry: Entry) -> str:
    """How a file differs from a committed one, by content: empty, `modified`, `deleted`, `mode` or `replaced`."""
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return "deleted"
    is_link = stat.S_ISLNK(status.st_mode)
    if is_link != entry.is_link or not (is_link or stat.S_ISREG(status.st_mode)):
        return "replaced"
    content = os.fsencode(path.readlink()) if is_link else path.read_bytes()
    if blob_id(content, len(entry.blob)) != entry.blob:
        return "modified"
    if not is_link and bool(status.st_mode & stat.S_IXUSR) != entry.is_executable:
        return "mode"
    return ""


def same(path: Path, entry: Entry | None) -> bool:
    """Whether a path is what a commit holds; None stands for a path that it does not hold."""
    return not difference(path, entry) if entry else not (path.is_symlink() or path.exists())


def blob_id(content: bytes, digits: int) -> str:
    """Git's id of a content; 40 hex digits in a SHA-1 repository, 64 in a SHA-256 one."""
    made = hashlib.sha1(usedforsecurity=False) if digits == 40 else hashlib.sha256()
    made.update(b"blob %d\0" % len(content))
    made.update(content)
    return made.hexdigest()


def _git(root: Path, *arguments: str, data: bytes = b"") -> bytes | Unknown:
    argv = ["git", "-C", str(root), "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", *arguments]
    env = child.environment(GIT_OPTIONAL_LOCKS="0", GIT_NO_REPLACE_OBJECTS="1", GIT_TERMINAL_PROMPT="0", LC_ALL="C")
    env["GIT_ALLOW_PROTOCOL"] = ""  # a partial clone would fetch what it lacks, by a program that its config names
    return child.run(argv, limit_s=LIMIT_S, env=env, data=data)
