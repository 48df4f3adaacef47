"""What people read: every finding with its fix, no colour alone, and a verdict last. Whole reports: tests/machines."""

from dataclasses import replace

import click
import pytest

from dflash_env import bundle
from dflash_env.check import Finding, Outcome, Result, Severity, examine
from dflash_env.facts import Unknown
from dflash_env.plan import Step
from dflash_env.render import text
from dflash_env.report import Report
from tests.healthy import FACTS, HOST


def made(*results: Result, facts=FACTS) -> str:
    return click.unstyle(text.report(Report(taken="2026-11-30T20:00:00Z", facts=facts, results=results), 0.1))


def failed(*findings: Finding, severity: Severity = Severity.ERROR) -> Result:
    return Result(
        check="host-shm-too-small",
        family="host",
        title="t",
        severity=severity,
        outcome=Outcome.FAILED,
        findings=findings,
    )


def test_a_finding_says_what_and_how_to_mend_it() -> None:
    said = made(failed(Finding("64 MiB found, 16 GiB stated", "Remount it.")))
    assert "✗ host-shm-too-small: 64 MiB found, 16 GiB stated" in said
    assert "fix: Remount it." in said
    assert said.splitlines()[-1].startswith("refused: 1 error, 0 warnings")


def test_a_fix_that_several_findings_share_is_said_once() -> None:
    said = made(failed(*(Finding(f"finding {number}", "Remount it.") for number in range(3))))
    assert said.count("Remount it.") == 1


def test_many_findings_are_counted_not_poured_out() -> None:
    said = made(failed(*(Finding(f"finding {number}", "Remount it.") for number in range(40))))
    assert "finding 4" in said and "finding 5" not in said
    assert "and 35 more" in said


def test_a_warning_does_not_refuse() -> None:
    said = made(failed(Finding("m", "f"), severity=Severity.WARNING))
    assert said.splitlines()[-1].startswith("passed: 0 errors, 1 warning,")


def test_a_crashed_check_is_told_and_refuses() -> None:
    crashed = Result(
        check="host-x", family="host", title="t", severity=Severity.WARNING, outcome=Outcome.CRASHED, reason="KeyError"
    )
    said = made(crashed)
    assert "the check itself failed: KeyError" in said and "refused: 1 error" in said


def test_what_nobody_examined_is_never_hidden() -> None:
    facts = replace(FACTS, host=replace(HOST, memory_bytes=Unknown(code="denied", text="/proc is hidden")))
    said = made(*examine(bundle.checks(), facts), facts=facts)
    assert "not examined: host.memory_bytes (denied: /proc is hidden)" in said


def test_without_unicode_there_are_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "_unicode", lambda: False)
    said = made(failed(Finding("m", "f")))
    assert "FAIL host-shm-too-small" in said and "✗" not in said


def test_a_step_can_be_typed_by_its_reader() -> None:
    step = Step(why="try", argv=("/a b/uv", "venv"), cwd="/", env={"X": "1 2"}, passes=("HOME",))
    assert text.step(step) == "# try\n#   passed on by name where set: HOME\nX='1 2' \\\n'/a b/uv' venv"
