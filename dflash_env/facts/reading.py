"""A reading, and the two ways there may be none."""

from dataclasses import dataclass
from typing import ClassVar, TypeAlias, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Unknown:
    """A reading that could not be taken. It is never a pass."""

    TAG: ClassVar[str] = "unknown"
    code: str
    """A stable word: `timeout`, `denied`, `failed`, `malformed`, `missing`."""
    text: str


@dataclass(frozen=True, kw_only=True)
class NotApplicable:
    """A reading that this machine does not have, such as the driver version where no driver is."""

    TAG: ClassVar[str] = "not_applicable"
    why: str


Reading: TypeAlias = T | NotApplicable | Unknown
Section: TypeAlias = T | Unknown
