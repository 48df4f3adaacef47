"""Every file of a folder tree: what it is, what it was, whose it is, and one digest over all of it."""

import base64
import csv
import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

CHUNK_BYTES = 1 << 20

OF_NO_PACKAGE = "(venv)"
"""Stands for the files that uv itself makes, such as `bin/activate`."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or link as it was when it was sealed. The sha256 of a link is that of its target's name."""

    sha256: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    mode: int

    def untouched(self, status: os.stat_result) -> bool:
        """Whether nothing happened to the file since. An mtime can be set back; a ctime only with the clock."""
        return (self.size, self.mtime_ns, self.ctime_ns, self.inode, self.mode) == (
            status.st_size,
            status.st_mtime_ns,
            status.st_ctime_ns,
            status.st_ino,
            status.st_mode,
        )


def entry(sha256: str, status: os.stat_result) -> Entry:
    """An entry for a file in the state it has now."""
    return Entry(sha256, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_mode)


def walk(root: Path) -> dict[str, os.stat_result]:
    """Every file and link below a folder by its relative path; links are not followed."""
    found: dict[str, os.stat_result] = {}
    pending = [(str(root), "")]
    while pending:
        folder, prefix = pending.pop()
        with os.scandir(folder) as entries:
            for each in entries:
                if each.is_dir(follow_symlinks=False):
                    pending.append((each.path, f"{prefix}{each.name}/"))
                else:
                    found[prefix + each.name] = each.stat(follow_symlinks=False)
    return found


def digests(root: Path, paths: Iterable[str], seen: Callable[[int], None] = lambda _: None) -> dict[str, str]:
    """The sha256 of each path, on as many threads as there are cores; `seen` is told the bytes as they are read."""
    wanted = list(paths)
    with ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0))) as pool:
        return dict(zip(wanted, pool.map(lambda path: digest(root / path, seen), wanted), strict=True))


def digest(path: Path, seen: Callable[[int], None] = lambda _: None) -> str:
    """The sha256 of a file's content, or of a link's target name. A pipe or a device is never opened."""
    made, mode = hashlib.sha256(), path.lstat().st_mode
    if stat.S_ISLNK(mode):
        made.update(os.fsencode(path.readlink()))
        return made.hexdigest()
    if not stat.S_ISREG(mode):
        return made.hexdigest()
    with path.open("rb", buffering=0) as stream:
        while chunk := stream.read(CHUNK_BYTES):
            made.update(chunk)
            seen(len(chunk))
    return made.hexdigest()


def portable(path: str) -> bool:
    """Whether a file of a venv is the same on every machine: not the interpreter's links, nor what names its home."""
    return path != "pyvenv.cfg" and not path.startswith("bin/python")


def package_digests(files: Mapping[str, tuple[str, int]], owners: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """A digest per package over the (sha256, mode) of its files, and one over those of no package."""
    lines: dict[str, list[str]] = {}
    for path, (sha256, mode) in files.items():
        if portable(path):
            kind = "link" if stat.S_ISLNK(mode) else "exec" if mode & stat.S_IXUSR else "file"
            for owner in owners.get(path, (OF_NO_PACKAGE,)):
                lines.setdefault(owner, []).append(f"{sha256} {kind} {path}\n")
    return {owner: hashlib.sha256("".join(sorted(each)).encode()).hexdigest() for owner, each in lines.items()}


def whole_digest(packages: Mapping[str, str]) -> str:
    """One digest over the digests of all packages."""
    return hashlib.sha256(
        "".join(f"{digest} {name}\n" for name, digest in sorted(packages.items())).encode()
    ).hexdigest()


@dataclass(frozen=True)
class Claim:
    """A path that a distribution's RECORD claims, with the sha256 it states (empty for RECORD itself)."""

    path: str
    sha256: str


def claims(root: Path, record: Path) -> Iterator[Claim]:
    """The rows of one RECORD, by paths relative to the venv. Raises ValueError for a row that is none."""
    site = record.parent.parent
    for row in filter(None, csv.reader(record.read_text("utf-8").splitlines())):
        name, stated, _ = row
        algorithm, _, value = stated.partition("=")
        if stated and algorithm != "sha256":
            raise ValueError(f"{name} has a hash that is no sha256")
        yield Claim(os.path.relpath(os.path.normpath(site / name), root), _hex(value) if stated else "")


def _hex(urlsafe: str) -> str:
    stated = base64.urlsafe_b64decode(urlsafe + "=" * (-len(urlsafe) % 4))
    if len(stated) != hashlib.sha256().digest_size:
        raise ValueError(f"{urlsafe} is no sha256")
    return stated.hex()
