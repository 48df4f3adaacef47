"""What a person sees: one line that updates itself on a terminal, plain lines elsewhere, and the closing table."""

import os
import shutil
import sys
import time
from collections.abc import Sequence

PLAIN_EVERY_S = 10.0
TERMINAL_EVERY_S = 0.1


def say(text: str) -> None:
    """Write to the standard output at once. A reader that has gone away silences it, and does not end the run."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError:
        # The interpreter flushes again when it ends, and would answer a broken pipe with an exit code of its own.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Progress:
    """A stage of work with a known total. On a terminal a bar; elsewhere a line now and then, and one at the end."""

    def __init__(self, label: str, total: int, done: int = 0) -> None:
        """`done` of the total stands already, as in a resumed run, and does not count for the estimate."""
        self._label, self._total, self._start_done = label, total, done
        self._first = time.monotonic()
        self._shown = -1e9
        self._terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"

    def update(self, done: int, text: str = "") -> None:
        """Show `done` of the total with `text` beside it, unless the last showing is too fresh."""
        now = time.monotonic()
        last = done >= self._total
        if not last and now - self._shown < (TERMINAL_EVERY_S if self._terminal else PLAIN_EVERY_S):
            return
        self._shown = now
        spent = now - self._first
        left = spent / max(1, done - self._start_done) * (self._total - done)
        clock = f"{clock_text(spent)} spent" if last else f"{clock_text(left)} left"
        counts = f"{done:>{len(str(self._total))}}/{self._total}"
        line = "  ".join(part for part in (f"{self._label:<11}", counts, text, clock) if part)
        if self._terminal:
            width = shutil.get_terminal_size().columns - 1
            line = f"{self._label:<11}  {self._bar(done, min(24, width - len(line) - 2))}{line[11:]}"[:width]
            say(f"\r\x1b[K{line}" + ("\n" if last else ""))
        else:
            say(line + "\n")

    def leave(self) -> None:
        """End an unfinished line, so that the next text begins on its own."""
        if self._terminal:
            say("\n")

    def _bar(self, done: int, width: int) -> str:
        width = max(0, width)
        filled = round(width * min(1.0, done / self._total))
        return "━" * filled + "╌" * (width - filled)


def clock_text(seconds: float) -> str:
    """Seconds as m:ss, or h:mm:ss from an hour on."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def table(title: str, rows: Sequence[tuple[str, str]]) -> str:
    """A titled two-column table; the title is bold on a terminal that shows colour."""
    left = max(len(name) for name, _ in rows)
    width = left + 3 + max(len(value) for _, value in rows)
    bold = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    head = f"\x1b[1m{title}\x1b[0m" if bold else title
    body = "\n".join(f"  {name:<{left}}   {value}" if name or value else "" for name, value in rows)
    return f"\n  {head}\n  {'─' * width}\n{body}\n"
