"""Tracked files against their commit, by content; only those that differ are looked at through git's attributes."""

import hashlib
import os
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dflash_env.collect import conversions, git
from dflash_env.facts import Change, Unknown

POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-[^\n]*\n)*oid sha256:([0-9a-f]{64})\nsize \d+\n"
)
NO_FILTER = ("unspecified", "unset", "set")


@dataclass(frozen=True)
class Seen:
    """What one pass over the files found."""

    different: dict[git.Entry, str]
    sources: dict[bytes, bytes]
    """The contents of Python files that are the committed ones."""


def look(root: Path, entries: Sequence[git.Entry]) -> Seen:
    """Compare every file with its commit, byte by byte."""
    seen = Seen({}, {})
    linked: dict[Path, bool] = {root: False}
    for entry in entries:
        path = root / os.fsdecode(entry.path)
        how, content = ("replaced", b"") if _linked(path.parent, linked) else git.look(path, entry)
        if not how and POINTER.fullmatch(content[:1024]):
            how = "pointer"
        if how:
            seen.different[entry] = how
        elif entry.path.endswith(b".py"):
            seen.sources[entry.path] = content
    return seen


def _linked(folder: Path, known: dict[Path, bool]) -> bool:
    """Whether a folder below the root is reached through a link."""
    if folder not in known:
        known[folder] = folder.is_symlink() or _linked(folder.parent, known)
    return known[folder]


def judged(
    root: Path, different: Mapping[git.Entry, str], unmerged: Container[bytes], sparse: Container[bytes]
) -> Iterator[Change]:
    """The differences that remain when git's conversions and LFS are accounted for. No filter is ever started."""
    modified = [entry for entry, how in different.items() if how == "modified" and not entry.is_link]
    filters, clean = _through_attributes(root, modified) if modified else ({}, set())
    for entry, raw in different.items():
        name = filters.get(entry, "")
        how = raw
        if entry.path in unmerged:
            how = "unmerged"
        elif raw == "deleted" and entry.path in sparse:
            how = "sparse"
        elif entry in clean:
            how = "mode" if git.other_mode(root / os.fsdecode(entry.path), entry) else ""
        elif name not in ("", "lfs"):
            how = "filtered"
        if how:
            yield Change(path=shown(entry.path), how=how, expected=entry.blob, filter=name)


def _through_attributes(root: Path, modified: list[git.Entry]) -> tuple[dict[git.Entry, str], set[git.Entry]]:
    """The filter of each file that has one, and the files that are what git would commit."""
    paths = [entry.path for entry in modified]
    found = git.attributes(root, paths, ("filter", *conversions.NAMES))
    if isinstance(found, Unknown):
        return {}, set()
    named = ((entry, found[entry.path].get("filter", "unspecified")) for entry in modified)
    filters = {entry: name for entry, name in named if name not in NO_FILTER}
    large = [entry for entry, name in filters.items() if name == "lfs"]
    clean = set(_of_lfs(root, large)) if large else set()
    autocrlf = git.setting(root, "core.autocrlf")
    for entry in modified:
        content = (root / os.fsdecode(entry.path)).read_bytes() if entry not in filters else b""
        if entry not in filters and _same(conversions.cleaned(content, found[entry.path], autocrlf), entry):
            clean.add(entry)
    return filters, clean


def _same(content: bytes, entry: git.Entry) -> bool:
    return git.blob_id(content, len(entry.blob)) == entry.blob


def _of_lfs(root: Path, entries: Sequence[git.Entry]) -> Iterator[git.Entry]:
    """The files whose content is what the committed pointer names."""
    contents = git.blobs(root, entries)
    if isinstance(contents, Unknown):
        return
    for entry in entries:
        pointer = POINTER.fullmatch(contents[entry.blob])
        if pointer and pointer[1].decode() == _sha256(root / os.fsdecode(entry.path)):
            yield entry


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def shown(path: bytes) -> str:
    """A path as text; bytes that are no UTF-8 are escaped, since a report is JSON."""
    return path.decode("utf-8", "backslashreplace")
