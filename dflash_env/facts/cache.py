"""The compile cache's folder."""

from dataclasses import dataclass

from dflash_env.facts.reading import Reading


@dataclass(frozen=True, kw_only=True)
class Cache:
    """The compile cache's folder."""

    path: str
    kind: Reading[str]
    """`folder`, `link` or `file`; not applicable when nothing is there."""
    owner_uid: Reading[int]
    our_uid: int
    mode: Reading[int]
    """Permission bits."""
