"""The code and lockfiles, and what vouches for them."""

from dataclasses import dataclass

from dflash_env.facts.reading import Reading


@dataclass(frozen=True, kw_only=True)
class Change:
    """A tracked file that is not the committed one, after git's own conversions of line endings and encodings."""

    path: str
    how: str
    """`modified`, `deleted`, `mode`, or `replaced` (by a link or a folder); `unmerged`; `sparse` (not checked out);
    `pointer` (of LFS, where content is expected); `filtered` (through a program, which is never started)."""
    expected: str
    """The committed content's id."""
    filter: str = ""
    """The name of the filter that stands between file and commit."""


@dataclass(frozen=True, kw_only=True)
class Hidden:
    """A path whose edits git was told not to see."""

    path: str
    flag: str
    """`assume-unchanged` or `skip-worktree`."""


@dataclass(frozen=True, kw_only=True)
class Submodule:
    """A repository inside the source folders."""

    path: str
    expected: str
    found: str
    """The commit that is checked out; empty where nothing is."""


@dataclass(frozen=True, kw_only=True)
class Checkout:
    """The state of a git clone around its files."""

    branch: str
    """Empty when HEAD is detached."""
    operation: str
    """The merge, rebase or bisect that is unfinished; empty when none is."""
    shallow: bool
    unmerged: tuple[str, ...] = ()
    staged: tuple[str, ...] = ()
    """Paths whose index entry is not HEAD's, though the file is."""
    hidden: tuple[Hidden, ...] = ()
    submodules: tuple[Submodule, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Patch:
    """A place where the committed trainer writes into a module that is not its own."""

    path: str
    line: int
    what: str


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
    checkout: Reading[Checkout]
    bytecode: tuple[str, ...] = ()
    """Compiled files in the source folders that Python would run without a look at the source."""
    links: tuple[str, ...] = ()
    """Committed links that lead out of the repository."""
    patches: tuple[Patch, ...] = ()
