"""The code and lockfiles, and what vouches for them."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Change:
    """A tracked file that is not the committed one."""

    path: str
    how: str
    """`modified`, `deleted`, `mode`, or `replaced` (by a link or a folder)."""
    expected: str
    """The committed content's id."""


@dataclass(frozen=True, kw_only=True)
class Repo:
    """The code and lockfiles against what vouches for them: git HEAD in a clone, a manifest in an installed wheel."""

    vouched_by: str
    commit: str
    files: int
    changes: tuple[Change, ...]
    strays: tuple[str, ...]
    """Files nobody committed that Python would import from the source folders or the project's top level."""
    uncommitted: tuple[str, ...]
    """The expectations in use (lock, machine file) that no commit vouches for, and why."""
