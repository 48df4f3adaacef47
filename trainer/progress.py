"""What a person sees: one line that updates itself on a terminal, plain lines elsewhere, and the closing table."""

import os
import shutil
import sys
import textwrap
import time
from collections.abc import Sequence

from trainer.errors import MendableError

PLAIN_EVERY_S = 10.0
TERMINAL_EVERY_S = 0.1
LABEL, SHORTEST_BAR, LONGEST_BAR = 11, 4, 24
"""Columns."""


def say(text: str) -> None:
    """Write to the standard output at once. A reader that has gone away silences it, and does not end the run."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError:
        # The interpreter flushes again when it ends, and would answer a broken pipe with an exit code of its own.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(error: MendableError) -> None:
    """Print both lines to standard error, below a progress line that may stand unfinished."""
    if sys.stdout.isatty():
        say("\n")
    colour = sys.stderr.isatty() and "NO_COLOR" not in os.environ
    heads = ("\x1b[1;31merror:\x1b[0m ", "\x1b[32mfix:\x1b[0m   ") if colour else ("error: ", "fix:   ")
    print(f"{heads[0]}{error}\n{heads[1]}{error.fix}", file=sys.stderr, flush=True)


class Progress:
    """A stage of work with a known total. On a terminal a bar; elsewhere a line now and then, and one at the end."""

    def __init__(self, label: str, total: int, done: int = 0) -> None:
        """`done` of the total stands already, as in a resumed run, and does not count for the estimate."""
        self._label, self._total, self._start_done = label, total, done
        self._first = time.monotonic()
        self._shown = -1e9
        self._terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"

    def update(self, done: int, *parts: str) -> None:
        """Show `done` of the total, unless the last showing is too fresh.

        The parts stand beside it, the most telling first; where a terminal has no room, the last are left out.
        """
        now = time.monotonic()
        last = done >= self._total
        if not last and now - self._shown < (TERMINAL_EVERY_S if self._terminal else PLAIN_EVERY_S):
            return
        self._shown = now
        spent = now - self._first
        left = spent / max(1, done - self._start_done) * (self._total - done)
        clock = f"{clock_text(spent)} spent" if last else f"{clock_text(left)} left"
        counts = f"{done:>{len(str(self._total))}}/{self._total}"
        words = [f"{self._label:<{LABEL}}", counts, *parts, clock]
        if self._terminal:
            line = fitted(words, done / self._total, shutil.get_terminal_size().columns - 1)
            say(f"\r\x1b[K{line}" + ("\n" if last else ""))
        else:
            say("  ".join(words) + "\n")

    def leave(self) -> None:
        """End an unfinished line, so that the next text begins on its own."""
        if self._terminal:
            say("\n")


def fitted(words: Sequence[str], share: float, width: int) -> str:
    """A progress line of at most `width` columns, with a bar behind its first word where there is room for one.

    The last word, the clock, outlives all others; what stands before it goes from its end, then the label.
    """
    *kept, clock = words
    while kept and len("  ".join([*kept, clock])) > width:
        kept.pop(-1 if len(kept) > 2 else 0)
    room = min(LONGEST_BAR, width - len("  ".join([*kept, clock])) - 2)
    if room >= SHORTEST_BAR and len(kept) > 1:
        kept.insert(1, _bar(share, room))
    return "  ".join([*kept, clock])


def _bar(share: float, width: int) -> str:
    filled = round(width * min(1.0, share))
    return "━" * filled + "╌" * (width - filled)


def clock_text(seconds: float) -> str:
    """Seconds as m:ss, or h:mm:ss from an hour on."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def table(title: str, rows: Sequence[tuple[str, str]]) -> str:
    """A titled two-column table no wider than the terminal; the title is bold on one that shows colour."""
    left = max(len(name) for name, _ in rows)
    room = max(16, shutil.get_terminal_size().columns - left - 6)
    lines = [
        ("" if more else name, part)
        for name, value in rows
        for more, part in enumerate(textwrap.wrap(value, room) or [""])
    ]
    width = left + 3 + max(len(value) for _, value in lines)
    bold = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    head = f"\x1b[1m{title}\x1b[0m" if bold else title
    body = "\n".join(f"  {name:<{left}}   {value}".rstrip() for name, value in lines)
    return f"\n  {head}\n  {'─' * width}\n{body}\n"
