"""What people read: every finding with its fix, no colour alone, and a verdict last. Whole reports: tests/machines."""

import os
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


def test_a_command_between_backticks_stays_on_one_line() -> None:
    command = "`sudo mount -o remount,size=16g /dev/shm --and --many more-words`"
    for before in range(0, 110, 7):
        said = made(failed(Finding("m", f"{'x' * before} then run {command}, or {command}; and look once more.")))
        assert sum(line.count(command) for line in said.splitlines()) == 2, said


def test_a_command_wider_than_the_terminal_is_not_broken_either() -> None:
    command = f"`run {' '.join(str(number) for number in range(100))}`"
    said = made(failed(Finding(f"see {command}", f"try {command} at once")))
    assert [command in line for line in said.splitlines()].count(True) == 2


def test_a_narrow_terminal_gets_narrow_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    said = made(failed(Finding("a word " * 40, "another word " * 40)))
    assert 50 < max(len(line) for line in said.splitlines() if "word" in line) <= 60


def test_everything_else_is_wrapped_at_the_width() -> None:
    said = made(failed(Finding("a word and `a command` " * 40, "a word and `a command` " * 40)))
    assert max(map(len, said.splitlines())) <= text.WIDEST
    assert " ".join(said.split()).count("a word and `a command`") == 80


@pytest.mark.parametrize(
    ("character", "shown"),
    [
        ("\x1b[2J", r"\x1b[2J"),
        ("\n", r"\n"),
        ("\r", r"\r"),
        ("\t", r"\t"),
        ("\b", r"\x08"),
        ("\x00", r"\x00"),
        ("\x7f", r"\x7f"),
        ("\x9b2J", r"\x9b2J"),
        ("\u202e", r"\u202e"),
        ("\u2028", r"\u2028"),
        (text.GLUE, r"\ue000"),
        ("\\", "\\"),
        ("é", "é"),
    ],
    ids=ascii,
)
def test_what_could_move_the_cursor_is_shown_as_an_escape(character: str, shown: str) -> None:
    said = made(failed(Finding(f"a{character}b", f"run `c{character}d`")))
    assert f"host-shm-too-small: a{shown}b\n" in said
    assert f"fix: run `c{shown}d`\n" in said


def test_an_escape_sequence_of_a_message_never_reaches_the_terminal() -> None:
    result = failed(Finding("PYTHONPATH=/a\x1b[2J\x1b]0;title\x07\nhost ok", "f"))
    styled = text.report(Report(taken="2026-11-30T20:00:00Z", facts=FACTS, results=(result,)), 0.1)
    assert "\x1b[2J" not in styled and "\x1b]" not in styled and "\x07" not in styled
    assert r"PYTHONPATH=/a\x1b[2J\x1b]0;title\x07\nhost ok" in click.unstyle(styled)


def test_a_byte_that_is_no_utf8_is_shown_as_it_is_in_the_json() -> None:
    said = made(failed(Finding(os.fsdecode(b"PYTHONPATH=/caf\xe9"), "f")))
    assert r"PYTHONPATH=/caf\xe9" in said


def test_an_escape_sequence_from_anywhere_else_never_reaches_the_terminal() -> None:
    odd = Unknown(code="denied", text="/mnt/\x1b[2J: Permission denied")
    facts = replace(FACTS, host=replace(HOST, memory_bytes=odd))
    skipped = replace(failed(), outcome=Outcome.SKIPPED, reason=f"denied: {odd.text}")
    unexamined = Report(taken="2026-11-30T20:00:00Z", facts=facts, results=(failed(Finding("m", "f")), skipped))
    assert "\x1b[2J" not in text.report(unexamined, 0.1, verbose=True)


def test_what_a_check_found_before_it_crashed_is_told() -> None:
    crashed = replace(failed(Finding("64 MiB found", "Remount it.")), outcome=Outcome.CRASHED, reason="KeyError: 'x'")
    said = made(crashed)
    assert "the check itself failed: KeyError: 'x'" in said
    assert "64 MiB found" in said and "fix: Remount it." in said


def test_what_is_ignored_is_shown_with_its_reason() -> None:
    said = made(replace(failed(Finding("64 MiB found", "Remount it.")), outcome=Outcome.IGNORED, reason="a small test"))
    assert "! host-shm-too-small: ignored: a small test" in said and "64 MiB found" in said
    assert said.splitlines()[-1].startswith("passed: 0 errors") and "1 ignored" in said.splitlines()[-1]


def test_without_unicode_there_are_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "_unicode", lambda: False)
    said = made(failed(Finding("m", "f")))
    assert "FAIL host-shm-too-small" in said and "✗" not in said


def test_a_step_can_be_typed_by_its_reader() -> None:
    step = Step(why="try", argv=("/a b/uv", "venv"), cwd="/", env={"X": "1 2"}, passes=("HOME",))
    assert text.step(step) == "# try\n#   passed on by name where set: HOME\nX='1 2' \\\n'/a b/uv' venv"
