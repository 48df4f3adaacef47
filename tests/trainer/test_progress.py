"""The progress line and the closing table in few columns."""

import io
import sys

import pytest

from trainer.errors import ConfigError
from trainer.progress import Progress, complain, fitted, table

WORDS = ["training   ", "  17/1200", "loss 0.311", "accepted 5.19 simulated", "12.3 ktok/s", "1:23 left"]


def test_a_line_fits_and_ends_with_its_clock_at_every_width() -> None:
    for width in range(9, 140):
        line = fitted(WORDS, 0.5, width)
        assert len(line) <= width and line.endswith("1:23 left")


def test_parts_go_in_order_of_worth() -> None:
    there = [[word for word in WORDS if word in fitted(WORDS, 0.5, width)] for width in (120, 79, 60, 40, 20, 10)]
    assert [len(words) for words in there] == [6, 5, 4, 3, 2, 1]
    assert "ktok" not in fitted(WORDS, 0.5, 79) and "━" in fitted(WORDS, 0.5, 79)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_terminals_width_is_what_a_bar_has(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    Progress("training", 100_000).update(100_000, *WORDS[2:5])
    line = screen.getvalue().removeprefix("\r\x1b[K").rstrip("\n")
    assert len(line) < 80 and line.endswith("0:00 spent")


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_a_table_is_no_wider_than_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    text = table("Title", [("exactness", "prompt 3 token 17 gap 1.0e-05, " * 6), ("", ""), ("evaluation", "0:10")])
    lines = text.splitlines()
    assert max(map(len, lines)) <= columns and "" in lines[2:]
    assert max(map(len, lines)) == max(len(line) for line in lines if "─" in line)


def test_a_complaint_is_two_lines(capsys: pytest.CaptureFixture[str]) -> None:
    complain(ConfigError("what, where", "how"))
    assert capsys.readouterr() == ("", "error: what, where\nfix:   how\n")
