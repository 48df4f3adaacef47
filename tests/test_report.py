"""The verdict: which outcomes refuse a launch, and what is never hidden."""

from dataclasses import replace

import pytest

from dflash_env import bundle
from dflash_env.check import Check, Finding, Outcome, Result, Severity, examine
from dflash_env.errors import Exit
from dflash_env.facts import Facts, NotApplicable, Unknown, Variable
from dflash_env.report import Report
from tests import healthy

HUNG = Unknown(code="timeout", text="python did not answer within 20 s")


def report(found: Facts = healthy.FACTS, checks: tuple[Check[...], ...] | None = None) -> Report:
    results = examine(bundle.checks() if checks is None else checks, found)
    return Report(taken="2026-11-30T20:00:00Z", facts=found, results=results)


def ended(outcome: Outcome, severity: Severity = Severity.ERROR) -> Report:
    findings = (Finding("wrong"),) if outcome is Outcome.FAILED else ()
    result = Result(check="a-b", family="host", title="A title", severity=severity, outcome=outcome, findings=findings)
    return Report(taken="2026-11-30T20:00:00Z", facts=healthy.FACTS, results=(result,))


@pytest.mark.parametrize(
    ("outcome", "severity", "code"),
    [
        (Outcome.PASSED, Severity.ERROR, Exit.OK),
        (Outcome.NOT_NEEDED, Severity.ERROR, Exit.OK),
        (Outcome.SKIPPED, Severity.ERROR, Exit.OK),
        (Outcome.FAILED, Severity.WARNING, Exit.OK),
        (Outcome.FAILED, Severity.ERROR, Exit.FINDINGS),
        (Outcome.CRASHED, Severity.ERROR, Exit.FINDINGS),
        (Outcome.CRASHED, Severity.WARNING, Exit.FINDINGS),
    ],
)
def test_the_exit_code_follows_from_the_outcomes(outcome: Outcome, severity: Severity, code: Exit) -> None:
    assert ended(outcome, severity).exit_code is code


def test_the_healthy_machine_passes_every_check() -> None:
    healthy_report = report()
    assert healthy_report.exit_code is Exit.OK
    assert healthy_report.count(Outcome.PASSED) == len(bundle.checks())


def test_warnings_are_counted_and_allowed() -> None:
    leftover = replace(healthy.ENVIRON, variables=(Variable(name="PYTHONPATH", value="/opt"),))
    warned = report(replace(healthy.FACTS, environ=leftover))
    assert warned.exit_code is Exit.OK
    assert warned.count(Outcome.FAILED, Severity.WARNING) == 1
    assert warned.count(Outcome.FAILED, Severity.ERROR) == 0


def test_one_broken_check_crashes_alone_and_refuses() -> None:
    def find(host: object) -> None:
        raise RuntimeError("a bug")

    first, *others = bundle.checks()
    broken = replace(first, find=find)
    crashed = report(checks=(broken, *others))
    assert crashed.count(Outcome.CRASHED) == 1
    assert crashed.count(Outcome.PASSED) == len(others)
    assert crashed.exit_code is Exit.FINDINGS


def test_an_unknown_that_somebody_reports_is_not_listed_again() -> None:
    judged = report(replace(healthy.FACTS, gpus=HUNG))
    assert judged.exit_code is Exit.FINDINGS
    assert judged.unexamined == ()


def test_a_lost_gpu_is_one_finding_and_nothing_of_it_is_listed_again() -> None:
    lost = replace(healthy.GPUS.devices[3], uuid=HUNG, name=HUNG, memory_bytes=HUNG)
    devices = (*healthy.GPUS.devices[:3], lost, *healthy.GPUS.devices[4:])
    judged = report(replace(healthy.FACTS, gpus=replace(healthy.GPUS, devices=devices)))
    [result] = [result for result in judged.results if result.findings]
    assert (result.check, len(result.findings)) == ("gpu-facts-incomplete", 1)
    assert judged.unexamined == ()


def test_what_one_finding_is_about_hides_nothing_else() -> None:
    disk = replace(healthy.HOST.disks[0], folder="/tmp", purpose="downloaded packages", free_bytes=HUNG)
    host = replace(healthy.HOST, shm_bytes=HUNG, memory_bytes=HUNG, disks=(*healthy.HOST.disks, disk))
    judged = report(replace(healthy.FACTS, host=host))
    assert judged.exit_code is Exit.FINDINGS
    assert judged.unexamined == (("host.memory_bytes", HUNG), ("host.disks[1].free_bytes", HUNG))


def test_an_unknown_that_nobody_needs_is_listed() -> None:
    tiny = replace(healthy.FACTS, profile=healthy.TINY, gpus=HUNG)
    assert report(tiny).exit_code is Exit.OK
    assert report(tiny).unexamined == (("gpus", HUNG),)


def test_a_machine_without_a_driver_is_one_cause_and_one_finding() -> None:
    none = replace(healthy.GPUS, driver=NotApplicable(why="no driver"), devices=())
    judged = report(replace(healthy.FACTS, gpus=none))
    assert [result.check for result in judged.results if result.findings] == ["gpu-driver-missing"]
    assert judged.count(Outcome.SKIPPED) == 1
