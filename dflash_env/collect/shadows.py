"""What Python would load from the source folders in place of, or besides, the committed modules."""

import os
import sys
from collections.abc import Container, Iterator, Sequence
from pathlib import Path

from packaging.utils import canonicalize_name

from dflash_env.collect import git
from dflash_env.collect.changes import shown
from dflash_env.facts import Lock

MODULES = (".py", ".pyc", ".so")
NAMESPACES = frozenset({"google", "nvidia"})
"""Packages without an `__init__.py`, which folders of that name beside the project would extend from the front."""
HASHED, CHECKED = 1, 2
"""The flags in a .pyc; one that is hashed and not checked is run whatever its source says (PEP 552)."""


def strays(root: Path, paths: Sequence[str], tracked: Container[bytes]) -> Iterator[str]:
    """Files below `paths` that nobody committed and that an import could load."""
    for name in paths:
        for file in importable(root / name):
            relative = os.fsencode(file.relative_to(root))
            if relative not in tracked:
                yield shown(relative)


def importable(folder: Path) -> Iterator[Path]:
    """Files that an import could load; `__pycache__` is left to Python, which checks it against the source."""
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(each for each in folders if each != "__pycache__")
        yield from (Path(here, each) for each in folders if Path(here, each).is_symlink())  # os.walk goes past these
        yield from (Path(here, each) for each in sorted(files) if each.endswith(MODULES))


def beside(root: Path, top: Container[bytes], lock: Lock) -> Iterator[str]:
    """Untracked modules beside the project that would win over the standard library or a locked package."""
    precious = sys.stdlib_module_names | {canonicalize_name(one.name).replace("-", "_") for one in lock.packages}
    for entry in sorted(root.iterdir()):
        is_package = entry.name in precious and entry.is_dir() and any(_modules(entry))
        is_module = entry.name.partition(".")[0] in precious and entry.suffix in MODULES
        is_portion = entry.name in NAMESPACES and any(importable(entry))
        if (is_package or is_module or is_portion) and os.fsencode(entry.name) not in top:
            yield shown(os.fsencode(entry.name))


def _modules(folder: Path) -> Iterator[Path]:
    yield from folder.glob("*.py")
    yield from (path for path in folder.glob("__init__.*") if path.suffix in MODULES)


def bytecode(root: Path, paths: Sequence[str], tracked: Container[bytes]) -> Iterator[str]:
    """Files in `__pycache__` that Python would run without comparing them with the source."""
    for name in paths:
        for here, folders, files in os.walk(root / name):
            folders.sort()
            for each in sorted(files) if Path(here).name == "__pycache__" else ():
                path = Path(here, each)
                relative = os.fsencode(path.relative_to(root))
                if path.suffix == ".pyc" and relative not in tracked and _is_unchecked(path):
                    yield shown(relative)


def _is_unchecked(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        flags = int.from_bytes(stream.read(8)[4:], "little")
    return flags & (HASHED | CHECKED) == HASHED


def leading_out(root: Path, top: Path, entries: Sequence[git.Entry]) -> Iterator[str]:
    """Committed links to what no commit of this repository holds."""
    for entry in entries:
        path = root / os.fsdecode(entry.path)
        if entry.is_link and path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(top):
            yield f"{shown(entry.path)} → {path.readlink()}"
