"""The checksums of every file that a launch depends on, in the form that `sha256sum -c` reads and in a fuller one."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from dflash_env import codec
from dflash_env.collect import git
from dflash_env.errors import StepFailed
from dflash_env.facts import Unknown


@dataclass(frozen=True, kw_only=True)
class Sum:
    """One tracked file: its content here, and the blob that HEAD holds."""

    path: str
    sha256: str
    md5: str
    """For those who compare with notes of old; it proves nothing against somebody who means harm."""
    git_blob: str


@dataclass(frozen=True, kw_only=True)
class Sums:
    """The sums of a commit's files as they are in the working tree; links, which have no content, are left out."""

    commit: str
    files: tuple[Sum, ...]


def take(root: Path, paths: tuple[str, ...]) -> Sums:
    """Sum up the tracked files below `paths`."""
    commit = git.head(root)
    entries = commit if isinstance(commit, Unknown) else git.tree(root, commit, paths)
    if isinstance(commit, Unknown) or isinstance(entries, Unknown):
        why = commit.text if isinstance(commit, Unknown) else str(entries)
        raise StepFailed(f"nothing vouches for the source: {why}", "run this in a git clone with at least one commit")
    return Sums(commit=commit, files=tuple(_sum(root, entry) for entry in entries if not entry.is_link))


def _sum(root: Path, entry: git.Entry) -> Sum:
    path = os.fsdecode(entry.path)
    try:
        content = (root / path).read_bytes()
    except OSError as error:
        raise StepFailed(f"{path} cannot be read: {error.strerror}", "run `dflash-env restore`") from None
    return Sum(
        path=path,
        sha256=hashlib.sha256(content).hexdigest(),
        md5=hashlib.md5(content, usedforsecurity=False).hexdigest(),
        git_blob=entry.blob,
    )


def checkable(sums: Sums) -> bytes:
    """The file that `sha256sum -c` accepts, with GNU's escapes for names that hold a line break or a backslash."""
    return b"".join(_line(each) for each in sums.files)


def _line(one: Sum) -> bytes:
    name = os.fsencode(one.path)
    escaped = name.replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(b"\r", b"\\r")
    return (b"\\" if escaped != name else b"") + f"{one.sha256}  ".encode() + escaped + b"\n"


def document(sums: Sums) -> str:
    """The fuller form, as JSON."""
    return codec.document(sums)
