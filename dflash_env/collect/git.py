"""Git as a reader: object database only, so that no hook, filter, monitor or diff program of a repository can run."""

import hashlib
import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dflash_env.collect import child
from dflash_env.facts import Unknown

LIMIT_S = 20.0
OLDEST = (2, 15)
"""The first git that obeys GIT_OPTIONAL_LOCKS, so that a reader never writes the index, and names a shallow clone."""
SUBMODULE = "160000"


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


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a repository is."""

    top: Path
    folder: Path
    """Git's own folder of this work tree."""
    shallow: bool


def place(root: Path) -> Place | Unknown:
    """The repository that a folder is in; every reason why git cannot work there has its own code."""
    top = _git(root, "rev-parse", "--show-toplevel")
    if isinstance(top, Unknown):
        return _refusal(root, top)
    answer = _git(root, "rev-parse", "--absolute-git-dir", "--is-shallow-repository")
    if isinstance(answer, Unknown):
        return _refusal(root, answer)
    folder, _, shallow = answer.removesuffix(b"\n").rpartition(b"\n")
    if shallow not in (b"true", b"false"):  # an old git repeats an option that it does not know
        return _refusal(root, Unknown(code="failed", text=f"git answered {shallow.decode('utf-8', 'replace')}"))
    where = Path(os.fsdecode(top.removesuffix(b"\n")))
    return Place(top=where, folder=Path(os.fsdecode(folder)), shallow=shallow == b"true")


def _refusal(root: Path, answer: Unknown) -> Unknown:
    if answer.code != "failed":
        return answer
    if "not a git repository" in answer.text:
        return Unknown(code="no-repository", text=f"{root} is in no git repository")
    if "safe.directory" in answer.text:
        command = answer.text.partition(": ")[2].strip()
        return Unknown(code="ownership", text=f"git refuses {root}, which belongs to another user; `{command}`")
    printed = child.run(["git", "version"], limit_s=LIMIT_S, env=child.environment(LC_ALL="C"))
    number = re.search(rb"(\d+)\.(\d+)", b"" if isinstance(printed, Unknown) else printed)
    if number and (int(number[1]), int(number[2])) < OLDEST:
        found, needed = number[0].decode(), ".".join(map(str, OLDEST))
        return Unknown(code="too-old", text=f"git {found} is older than {needed}, the first that only reads when asked")
    return answer


def commit(root: Path) -> str | Unknown:
    """The commit id of HEAD, in a folder that is known to be in a repository."""
    answer = _git(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    if isinstance(answer, Unknown):
        return Unknown(code="no-commit", text=f"the repository {root} has no commit yet")
    return answer.decode().strip()


def head(root: Path) -> str | Unknown:
    """The commit id of HEAD of the repository that a folder is in."""
    found = place(root)
    return found if isinstance(found, Unknown) else commit(root)


def everything(root: Path, commit: str, paths: Sequence[str]) -> tuple[Entry, ...] | Unknown:
    """The files and submodules of a commit below `paths`, which are relative to `root`."""
    answer = _git(root, "ls-tree", "-r", "-z", commit, "--", *paths)
    if isinstance(answer, Unknown):
        return answer
    lines = (line.partition(b"\t") for line in answer.split(b"\0") if line)
    parsed = ((meta.decode().split(), path) for meta, _, path in lines)
    return tuple(Entry(path=path, mode=mode, blob=blob) for (mode, _, blob), path in parsed)


def tree(root: Path, commit: str, paths: Sequence[str]) -> tuple[Entry, ...] | Unknown:
    """The files of a commit below `paths`, which are relative to `root`; submodules are left out."""
    entries = everything(root, commit, paths)
    return entries if isinstance(entries, Unknown) else tuple(each for each in entries if each.mode != SUBMODULE)


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


IN_PROGRESS = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "BISECT_LOG": "bisect",
    "rebase-merge": "rebase",
    "rebase-apply/applying": "am",
    "rebase-apply": "rebase",
}
"""What stands in git's folder while an operation is unfinished."""


def unfinished(root: Path) -> str | Unknown:
    """The operation that is in progress, or empty."""
    found = place(root)
    return found if isinstance(found, Unknown) else operation(found)


def operation(found: Place) -> str:
    """The same, where the repository is known."""
    return next((what for name, what in IN_PROGRESS.items() if (found.folder / name).exists()), "")


def branch(root: Path) -> str | Unknown:
    """The branch that HEAD is on; empty when it is detached."""
    answer = _git(root, "for-each-ref", "--points-at=HEAD", "--format=%(HEAD)%(refname:short)", "refs/heads")
    if isinstance(answer, Unknown):
        return answer
    return next((line[1:] for line in answer.decode("utf-8", "replace").splitlines() if line.startswith("*")), "")


def attributes(root: Path, paths: Sequence[bytes], names: Sequence[str]) -> dict[bytes, dict[str, str]] | Unknown:
    """The attributes of all paths, in one pass."""
    answer = _git(root, "check-attr", "-z", "--stdin", *names, data=b"".join(path + b"\0" for path in paths))
    if isinstance(answer, Unknown):
        return answer
    fields = answer.split(b"\0")
    found: dict[bytes, dict[str, str]] = {path: {} for path in paths}
    for path, name, value in zip(fields[::3], fields[1::3], fields[2::3], strict=False):
        found[path][name.decode()] = value.decode("utf-8", "replace")
    return found


def setting(root: Path, name: str) -> str:
    """One value of git's configuration, in lower case; empty where it is not set."""
    answer = _git(root, "config", "-z", "--get", name)
    return "" if isinstance(answer, Unknown) else answer.rstrip(b"\0").decode("utf-8", "replace").lower()


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
    return look(path, entry)[0]


def look(path: Path, entry: Entry) -> tuple[str, bytes]:
    """The same, and the content that was read."""
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return "deleted", b""
    is_link = stat.S_ISLNK(status.st_mode)
    if is_link != entry.is_link or not (is_link or stat.S_ISREG(status.st_mode)):
        return "replaced", b""
    content = os.fsencode(path.readlink()) if is_link else path.read_bytes()
    if blob_id(content, len(entry.blob)) != entry.blob:
        return "modified", content
    return "mode" if other_mode(path, entry) else "", content


def other_mode(path: Path, entry: Entry) -> bool:
    """Whether a file is executable and its committed one is not, or the other way about."""
    return not entry.is_link and bool(path.lstat().st_mode & stat.S_IXUSR) != entry.is_executable


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
