"""A venv's seal: what it was made from, and every file as it was when it was whole."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dflash_env import codec
from dflash_env.collect import tree
from dflash_env.facts import Drift, NotApplicable, Seal


@dataclass(frozen=True)
class Manifest:
    """Every file of a venv, and which distributions own it."""

    entries: dict[str, tree.Entry]
    owners: dict[str, tuple[str, ...]]

    def text(self) -> str:
        """One JSON document; a row a file, since there are tens of thousands."""
        rows = {
            path: [
                each.sha256,
                each.size,
                each.mtime_ns,
                each.ctime_ns,
                each.inode,
                each.mode,
                *self.owners.get(path, ()),
            ]
            for path, each in self.entries.items()
        }
        return json.dumps({"schema": codec.SCHEMA, "files": rows}, separators=(",", ":"))


def read_manifest(path: Path) -> Manifest:
    """Raises ValueError where the file is no manifest."""
    document = codec.open_document(json.loads(path.read_text("utf-8")))
    try:
        rows = document["files"]
        entries = {name: _entry(row) for name, row in rows.items()}
        owners = {name: tuple(map(str, row[6:])) for name, row in rows.items() if len(row) > 6}
    except (TypeError, AttributeError, KeyError) as error:
        raise ValueError(f"{path.name} is damaged: {error}") from None
    return Manifest(entries, owners)


def _entry(row: list[Any]) -> tree.Entry:
    sha256, *numbers = row[:6]
    if type(sha256) is not str or not all(type(each) is int for each in numbers):
        raise TypeError(f"{row!r} is no row")
    return tree.Entry(sha256, *numbers)


def read_seal(path: Path) -> Seal | NotApplicable:
    """The seal, or that there is none. Raises ValueError where the file is no seal."""
    if not path.exists():
        return NotApplicable(why=f"{path} does not exist: the build was not finished")
    return codec.decode(Seal, codec.open_document(json.loads(path.read_text("utf-8"))))


@dataclass(frozen=True)
class Comparison:
    """A venv against its manifest: what drifted, and the content of every file that is there now."""

    drift: tuple[Drift, ...]
    files: dict[str, tuple[str, int]]
    """(sha256, mode) by path."""
    hard_linked: int


def compare(root: Path, manifest: Manifest, deep: bool, seen: Callable[[int], None] = lambda _: None) -> Comparison:
    """Hash what moved since the seal, or everything when `deep`; what did not move keeps its sealed sha256."""
    there = tree.walk(root)
    moved = [
        path
        for path, status in there.items()
        if deep or path not in manifest.entries or not manifest.entries[path].untouched(status)
    ]
    hashed = tree.digests(root, moved, seen)
    files = {
        path: (hashed[path] if path in hashed else manifest.entries[path].sha256, status.st_mode)
        for path, status in there.items()
    }
    hard_linked = sum(status.st_nlink != 1 for status in there.values())
    return Comparison(tuple(_drift(manifest, files)), files, hard_linked)


def _drift(manifest: Manifest, files: Mapping[str, tuple[str, int]]) -> list[Drift]:
    def drift(path: str, how: str) -> Drift:
        return Drift(path=path, how=how, owner=", ".join(manifest.owners.get(path, ())))

    missing = [drift(path, "missing") for path in manifest.entries if path not in files]
    unowned = [drift(path, "unowned") for path in files if path not in manifest.entries]
    changed = [
        drift(path, "changed")
        for path, (sha256, mode) in files.items()
        if path in manifest.entries and _other(manifest.entries[path], sha256, mode)
    ]
    return sorted([*missing, *unowned, *changed], key=lambda each: each.path)


EXECUTABLE_AND_KIND = 0o170100


def _other(sealed: tree.Entry, sha256: str, mode: int) -> bool:
    return sealed.sha256 != sha256 or (sealed.mode ^ mode) & EXECUTABLE_AND_KIND != 0
