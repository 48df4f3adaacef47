"""How checks are put to the facts: one cause is one finding, and an Unknown is never a pass."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from dflash_env import bundle, codec
from dflash_env.check import Check, Finding, Outcome, Result, Severity, Skipped, check, examine, missing, need
from dflash_env.facts import SECTIONS, Facts, Host, NotApplicable, Unknown
from dflash_env.report import Report
from tests import healthy

LOST = Unknown(code="timeout", text="it did not answer")
READINGS = ("host", "gpus", "venv", "repo", "cache", "environ")
"""The sections that a collector fills; the others are expectations and are always known."""


def made(
    find: Callable[..., Iterator[Finding]], family: str = "host", severity: Severity = Severity.ERROR
) -> Check[...]:
    """A check as if `find` stood in `checks/<family>/`."""
    find.__module__ = f"checks.{family}.{find.__name__}"
    return check(title="A title", severity=severity, why="A reason.", fix="The usual fix.")(find)


def outcome(one: Check[...], found: Facts = healthy.FACTS) -> Result:
    [result] = examine([one], found)
    return result


# ---- one check ------------------------------------------------------------------------------------------------------


def too_hot(host: Host) -> Iterator[Finding]:
    yield Finding("90 °C")
    yield Finding("91 °C", "Open a window.")


def fine(host: Host) -> Iterator[Finding]:
    yield from ()


def broken(host: Host) -> Iterator[Finding]:
    raise ZeroDivisionError("by zero")
    yield


def found_then_unreadable(host: Host) -> Iterator[Finding]:
    yield Finding("90 °C")
    need(host.shm_bytes)
    yield Finding("measured")


def found_then_broken(host: Host) -> Iterator[Finding]:
    yield Finding("90 °C")
    raise ZeroDivisionError("by zero")


def halfway(host: Host) -> Iterator[Finding]:
    need(host.shm_bytes)
    yield Finding("measured")


def test_a_check_is_named_by_its_folder_and_file() -> None:
    assert made(too_hot, "gpu").id == "gpu-too-hot"


def test_a_check_is_called_like_a_function() -> None:
    assert [finding.message for finding in made(too_hot)(host=healthy.HOST)] == ["90 °C", "91 °C"]


def test_findings_fail_it_and_get_its_fix_where_they_have_none() -> None:
    result = outcome(made(too_hot))
    assert result.outcome is Outcome.FAILED
    assert [finding.fix for finding in result.findings] == ["The usual fix.", "Open a window."]


def test_no_finding_passes_it() -> None:
    assert outcome(made(fine)).outcome is Outcome.PASSED


def test_an_exception_crashes_it_and_says_which() -> None:
    result = outcome(made(broken))
    assert result.outcome is Outcome.CRASHED
    assert result.reason == "ZeroDivisionError: by zero"


def test_a_section_that_is_unknown_skips_it() -> None:
    result = outcome(made(fine), replace(healthy.FACTS, host=LOST))
    assert result.outcome is Outcome.SKIPPED
    assert result.reason == "host is unknown: it did not answer"


def test_a_reading_that_is_unknown_skips_it() -> None:
    result = outcome(made(halfway), replace(healthy.FACTS, host=replace(healthy.HOST, shm_bytes=LOST)))
    assert result.outcome is Outcome.SKIPPED
    assert result.reason == "timeout: it did not answer"


@pytest.mark.parametrize("severity", Severity)
def test_what_it_found_before_an_unreadable_reading_stands(severity: Severity) -> None:
    unreadable = replace(healthy.FACTS, host=replace(healthy.HOST, shm_bytes=LOST))
    result = outcome(made(found_then_unreadable, severity=severity), unreadable)
    assert result.outcome is Outcome.FAILED
    assert result.findings == (Finding("90 °C", "The usual fix."),)
    assert result.blocks is (severity is Severity.ERROR)


def test_what_it_found_before_it_crashed_is_kept() -> None:
    result = outcome(made(found_then_broken, severity=Severity.WARNING))
    assert (result.outcome, result.reason) == (Outcome.CRASHED, "ZeroDivisionError: by zero")
    assert result.findings == (Finding("90 °C", "The usual fix."),)
    assert result.blocks


def test_readings_lost_for_one_reason_are_one_finding() -> None:
    again = Unknown(code=LOST.code, text=LOST.text)
    other = Unknown(code="denied", text=LOST.text)
    readings = {"a": LOST, "b": 1, "c": other, "d": again, "e": NotApplicable(why="none here"), "f": None}
    assert list(missing(readings, "Look.")) == [
        Finding("a, d could not be read (timeout): it did not answer", "Look.", ("a", "d")),
        Finding("c could not be read (denied): it did not answer", "Look.", ("c",)),
    ]


def test_nothing_is_missing_where_everything_was_read() -> None:
    assert list(missing({"a": 0, "b": NotApplicable(why="none here")})) == []


def test_an_owner_sees_the_unknown_itself() -> None:
    def incomplete(host: Host | Unknown) -> Iterator[Finding]:
        yield from missing({"host": host})

    owner = made(incomplete)
    assert owner.needs == {"host": True}
    [finding] = outcome(owner, replace(healthy.FACTS, host=LOST)).findings
    assert finding == Finding("host could not be read (timeout): it did not answer", "The usual fix.", ("host",))


def test_a_spared_family_is_not_even_asked() -> None:
    result = outcome(made(broken, "gpu"), replace(healthy.FACTS, profile=healthy.TINY))
    assert result.outcome is Outcome.NOT_NEEDED
    assert result.reason == "profile tiny uses no GPU"


def test_what_is_ignored_is_kept_with_its_reason_and_blocks_nothing() -> None:
    [result] = examine([made(too_hot)], healthy.FACTS, {"host-too-hot": "the window is open"})
    assert (result.outcome, result.reason, result.blocks) == (Outcome.IGNORED, "the window is open", False)
    assert len(result.findings) == 2


def test_a_check_that_finds_nothing_or_crashes_is_not_ignored() -> None:
    excuses = {"host-fine": "x", "host-broken": "x"}
    passed, crashed = examine([made(fine), made(broken)], healthy.FACTS, excuses)
    assert passed.outcome is Outcome.PASSED
    assert crashed.blocks


def test_a_broken_check_hides_no_other() -> None:
    results = examine([made(broken), made(too_hot), made(fine)], healthy.FACTS)
    assert [result.outcome for result in results] == [Outcome.CRASHED, Outcome.FAILED, Outcome.PASSED]


def test_a_check_can_ask_for_sections_only() -> None:
    def curious(weather: str) -> Iterator[Finding]:
        yield Finding(weather)

    with pytest.raises(TypeError, match=r"host-curious asks for \['weather'\]; the sections are profile, lock"):
        made(curious)


def test_need_gives_the_value_or_skips_with_the_reason() -> None:
    assert need(0) == 0
    with pytest.raises(Skipped, match="timeout: it did not answer"):
        need(LOST)
    with pytest.raises(Skipped, match="no driver"):
        need(NotApplicable(why="no driver"))


@pytest.mark.parametrize(
    ("severity", "found", "blocks"),
    [
        (Severity.ERROR, too_hot, True),
        (Severity.WARNING, too_hot, False),
        (Severity.WARNING, broken, True),
        (Severity.ERROR, fine, False),
    ],
)
def test_errors_and_crashes_block(severity: Severity, found: Callable[..., Iterator[Finding]], blocks: bool) -> None:
    assert outcome(made(found, severity=severity)).blocks is blocks


# ---- all checks: every reading that can be absent, made absent one at a time ----------------------------------------


def absences() -> Iterator[tuple[str, Facts]]:
    """Every place of the healthy facts where an Unknown may stand, by its dotted name, with one put there."""

    def walk(node: Any, where: str) -> Iterator[tuple[str, Facts]]:
        children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, value in list(children):
            name = f"{where}[{key}]" if isinstance(node, list) else f"{where}.{key}".lstrip(".")
            node[key] = codec.encode(LOST)
            with suppress(codec.DecodeError):  # no Unknown may stand here
                yield name, codec.decode(Facts, document)
            node[key] = value
            yield from walk(value, name)

    document = codec.encode(healthy.FACTS)
    return walk(document, "")


ABSENT = dict(absences())
OPTIONAL = {"host.memory_bytes"}
"""Readings that are shown, and that no launch needs."""
WARNED = {"environ.toolkit": "environ-cuda-home-other"}
"""Readings that no launch needs either, and whose absence is itself worth a warning."""


def report_without(name: str) -> Report:
    found = ABSENT[name]
    return Report(taken="2026-11-30T20:00:00Z", facts=found, results=examine(bundle.checks(), found))


def test_the_enumeration_misses_no_section_and_no_depth() -> None:
    assert set(READINGS) <= set(ABSENT)
    assert {"host.disks[0].free_bytes", "gpus.devices[7].uuid", "environ.preload_file", "cache.mode"} <= set(ABSENT)
    assert {"venv.interpreter", "venv.stdlib_sha256", "host.compiler", "environ.nccl_files"} <= set(ABSENT)
    assert set(ABSENT) >= OPTIONAL | {*WARNED}
    assert {"host.shm_free_bytes"} <= set(ABSENT)


@pytest.mark.parametrize("name", sorted(set(ABSENT) - OPTIONAL - {*WARNED}))
def test_a_required_unknown_is_one_finding_and_refuses(name: str) -> None:
    report = report_without(name)
    wrong = [result for result in report.results if result.outcome not in (Outcome.PASSED, Outcome.SKIPPED)]
    assert [(result.outcome, [finding.about for finding in result.findings]) for result in wrong] == [
        (Outcome.FAILED, [(name,)])
    ]
    assert report.exit_code == 1
    assert report.unexamined == ()


@pytest.mark.parametrize("name", sorted(OPTIONAL))
def test_an_optional_unknown_is_listed_and_refuses_nothing(name: str) -> None:
    report = report_without(name)
    assert {result.outcome for result in report.results} <= {Outcome.PASSED, Outcome.SKIPPED}
    assert report.exit_code == 0
    assert report.unexamined == ((name, LOST),)


@pytest.mark.parametrize(("name", "check"), WARNED.items())
def test_an_unknown_to_be_warned_of_is_one_finding_and_refuses_nothing(name: str, check: str) -> None:
    report = report_without(name)
    told = {each.check: [finding.about for finding in each.findings] for each in report.results if each.findings}
    assert told == {check: [(name,)]}
    assert report.exit_code == 0
    assert report.unexamined == ()


@pytest.mark.parametrize("section", READINGS)
def test_every_section_has_exactly_one_owner(section: str) -> None:
    owners = [one.id for one in bundle.checks() if one.needs.get(section)]
    assert len(owners) == 1, f"{section} is owned by {owners}"
    assert owners[0].endswith("-facts-incomplete")


@pytest.mark.parametrize("section", READINGS)
def test_whoever_needs_an_unknown_section_is_skipped(section: str) -> None:
    for result, one in zip(report_without(section).results, bundle.checks(), strict=True):
        wanted = {None: Outcome.PASSED, False: Outcome.SKIPPED, True: Outcome.FAILED}[one.needs.get(section)]
        assert (result.check, result.outcome) == (one.id, wanted)


def test_every_section_is_judged_by_some_check() -> None:
    assert {name for one in bundle.checks() for name in one.needs} == set(SECTIONS)
