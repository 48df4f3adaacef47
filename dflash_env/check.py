"""What a check is, and how all of them are put to the facts. One file is one check is one id."""

import inspect
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Generic, ParamSpec, TypeVar

from dflash_env.facts import SECTIONS, Facts, NotApplicable, Unknown

P = ParamSpec("P")
T = TypeVar("T")

FAMILIES = ("gpu", "host", "environ", "venv", "source", "cache", "launch")


class Severity(StrEnum):
    """An error blocks a launch, a warning does not."""

    ERROR = "error"
    WARNING = "warning"


class Outcome(StrEnum):
    """What became of one check."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_NEEDED = "not needed"
    SKIPPED = "skipped"
    CRASHED = "crashed"
    IGNORED = "ignored"


@dataclass(frozen=True)
class Finding:
    """One wrong thing here: found against needed, and the remedy for exactly this case (else the check's own)."""

    message: str
    fix: str = ""
    about: tuple[str, ...] = ()
    """The dotted names of the readings whose absence is the finding."""


def missing(readings: dict[str, object], fix: str = "") -> Iterator[Finding]:
    """A finding for each reason why required readings, by dotted name, are Unknown: one cause, one finding."""
    reasons: dict[Unknown, list[str]] = {}
    for name, reading in readings.items():
        if isinstance(reading, Unknown):
            reasons.setdefault(reading, []).append(name)
    for reason, names in reasons.items():
        yield Finding(f"{', '.join(names)} could not be read ({reason.code}): {reason.text}", fix, tuple(names))


class Skipped(Exception):  # noqa: N818 - it is no error
    """A check needs a reading that nobody could take; the owner of that reading reports it."""


def need(reading: T | NotApplicable | Unknown) -> T:
    """The value of a reading; the check that asks is skipped when there is none."""
    if isinstance(reading, Unknown):
        raise Skipped(f"{reading.code}: {reading.text}")
    if isinstance(reading, NotApplicable):
        raise Skipped(reading.why)
    return reading


@dataclass(frozen=True)
class Check(Generic[P]):
    """A judgement over the sections that its parameters name, and the text that explains it."""

    title: str
    severity: Severity
    why: str
    fix: str
    find: Callable[P, Iterator[Finding]]
    family: str = field(init=False)
    stem: str = field(init=False)

    def __post_init__(self) -> None:
        family, stem = self.find.__module__.split(".")[-2:]
        object.__setattr__(self, "family", family)
        object.__setattr__(self, "stem", stem)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> list[Finding]:
        return list(self.find(*args, **kwargs))

    @property
    def id(self) -> str:
        """`gpu-count-wrong` for `checks/gpu/count_wrong.py`."""
        return f"{self.family}-{self.stem}".replace("_", "-")

    @property
    def needs(self) -> dict[str, bool]:
        """The sections it reads; true where it asks to see an Unknown itself, and so owns it."""
        hints = typing.get_type_hints(self.find)
        return {name: Unknown in typing.get_args(hints[name]) for name in inspect.signature(self.find).parameters}


def check(
    *, title: str, severity: Severity, why: str, fix: str
) -> Callable[[Callable[P, Iterator[Finding]]], Check[P]]:
    """Make a generator over sections a check; it is named for the wrong thing, by its folder and file."""

    def wrap(find: Callable[P, Iterator[Finding]]) -> Check[P]:
        made = Check(title=title, severity=severity, why=why, fix=fix, find=find)
        strange = set(made.needs) - set(SECTIONS)
        if strange:
            raise TypeError(f"check {made.id} asks for {sorted(strange)}; the sections are {', '.join(SECTIONS)}")
        return made

    return wrap


@dataclass(frozen=True, kw_only=True)
class Result:
    """One check's outcome on one set of facts."""

    check: str
    family: str
    title: str
    severity: Severity
    outcome: Outcome
    reason: str = ""
    findings: tuple[Finding, ...] = ()

    @property
    def blocks(self) -> bool:
        """Whether a launch is refused over this: an error found, or a check that could not run to its end."""
        failed = self.outcome is Outcome.FAILED and self.severity is Severity.ERROR
        return failed or self.outcome is Outcome.CRASHED


def examine(
    checks: Iterable[Check[...]], facts: Facts, ignored: Mapping[str, str] = MappingProxyType({})
) -> tuple[Result, ...]:
    """Put every check to the facts. One broken check never hides the others.

    `ignored` gives the reason, by check, why what it finds shall not refuse this launch.
    """
    return tuple(_excused(_examine(one, facts), ignored) for one in checks)


def _excused(result: Result, ignored: Mapping[str, str]) -> Result:
    if result.outcome is Outcome.FAILED and result.check in ignored:
        return replace(result, outcome=Outcome.IGNORED, reason=ignored[result.check])
    return result


def _examine(one: Check[...], facts: Facts) -> Result:
    if spared := facts.profile.spares(one.family):
        return _result(one, Outcome.NOT_NEEDED, spared)
    arguments = {name: getattr(facts, name) for name in one.needs}
    for name, owns in one.needs.items():
        value = arguments[name]
        if isinstance(value, Unknown) and not owns:
            return _result(one, Outcome.SKIPPED, f"{name} is unknown: {value.text}")
    findings: list[Finding] = []
    try:
        for each in one.find(**arguments):
            findings.append(replace(each, fix=each.fix or one.fix))
    except Skipped as skipped:
        # What it found before it met the unreadable stands.
        return _result(one, Outcome.FAILED if findings else Outcome.SKIPPED, str(skipped), tuple(findings))
    except Exception as error:
        return _result(one, Outcome.CRASHED, f"{type(error).__name__}: {error}", tuple(findings))
    return _result(one, Outcome.FAILED if findings else Outcome.PASSED, findings=tuple(findings))


def _result(one: Check[...], outcome: Outcome, reason: str = "", findings: tuple[Finding, ...] = ()) -> Result:
    return Result(
        check=one.id,
        family=one.family,
        title=one.title,
        severity=one.severity,
        outcome=outcome,
        reason=reason,
        findings=findings,
    )
