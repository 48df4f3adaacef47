"""The state of a clone around its files: branch, unfinished operations, index, flags that hide edits, submodules."""

import os
from collections.abc import Container, Iterator, Sequence
from pathlib import Path

from dflash_env.collect import git
from dflash_env.collect.changes import shown
from dflash_env.facts import Checkout, Hidden, Submodule, Unknown

HIDING = {"h": ("assume-unchanged",), "S": ("skip-worktree",), "s": ("skip-worktree", "assume-unchanged")}
TRUE = ("true", "yes", "on", "1")


def sparse(root: Path, index: Sequence[git.Staged]) -> frozenset[bytes]:
    """The paths that a sparse checkout leaves out."""
    absent = [each.path for each in index if each.flag in "Ss" and not os.path.lexists(_path(root, each.path))]
    return frozenset(absent if absent and git.setting(root, "core.sparseCheckout") in TRUE else ())


def _path(root: Path, path: bytes) -> Path:
    return root / os.fsdecode(path)


def collect(
    root: Path,
    place: git.Place,
    entries: Sequence[git.Entry],
    index: Sequence[git.Staged],
    told: Container[bytes],
    left_out: Container[bytes],
) -> Checkout | Unknown:
    """The state around `entries`; what is staged of the paths that are `told` of elsewhere is not told again."""
    branch = git.branch(root)
    if isinstance(branch, Unknown):
        return branch
    unmerged = {each.path for each in index if each.stage}
    staged = (path for path in _staged(entries, index) if path not in unmerged and path not in told)
    return Checkout(
        branch=branch,
        operation=git.operation(place),
        shallow=place.shallow,
        unmerged=tuple(map(shown, sorted(unmerged))),
        staged=tuple(map(shown, staged)),
        hidden=tuple(_hidden(index, left_out)),
        submodules=tuple(_submodules(root, entries)),
    )


def _staged(entries: Sequence[git.Entry], index: Sequence[git.Staged]) -> list[bytes]:
    committed = {(each.path, each.mode, each.blob) for each in entries if each.mode != git.SUBMODULE}
    return sorted({path for path, _, _ in committed ^ {(each.path, each.mode, each.blob) for each in index}})


def _hidden(index: Sequence[git.Staged], left_out: Container[bytes]) -> Iterator[Hidden]:
    for each in index:
        for flag in HIDING.get(each.flag, ()):
            if each.path not in left_out:
                yield Hidden(path=shown(each.path), flag=flag)


def _submodules(root: Path, entries: Sequence[git.Entry]) -> Iterator[Submodule]:
    for entry in entries:
        if entry.mode == git.SUBMODULE:
            folder = _path(root, entry.path)
            # Without its own .git, the repository around it would answer.
            found = git.head(folder) if (folder / ".git").exists() else ""
            known = "" if isinstance(found, Unknown) else found
            yield Submodule(path=shown(entry.path), expected=entry.blob, found=known)
