"""How long work shows that it goes on: one line that is redrawn on a terminal, plain lines elsewhere."""

import sys
import threading
import time
from collections.abc import Callable
from typing import TextIO

PLAIN_EVERY_S = 10.0
WIDTH = 24


class Meter:
    """A bar with sizes and rate for work whose progress is bytes on a disk; each phase has its own rate."""

    def __init__(self, stream: TextIO | None = None, now: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._now = stream or sys.stderr, now
        self._live = self._stream.isatty()
        self._phase = ""
        self._began = self._printed = now()
        self._first = 0

    def show(self, phase: str, done_bytes: int, total_bytes: int) -> None:
        """Draw the state; away from a terminal at most every ten seconds."""
        now = self._now()
        if phase != self._phase:
            self._phase, self._began, self._first = phase, now, done_bytes
        if self._live:
            self._write(f"\r\033[K{self._line(done_bytes, total_bytes, now)}")
        elif now - self._printed >= PLAIN_EVERY_S:
            self._printed = now
            self._write(f"{self._line(done_bytes, total_bytes, now)}\n")

    def close(self) -> None:
        """Leave the line clean for what is printed next."""
        if self._live and self._phase:
            self._write("\r\033[K")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()

    def _line(self, done: int, total: int, now: float) -> str:
        elapsed = now - self._began
        rate = f"  {(done - self._first) / elapsed / 1e6:,.0f} MB/s" if elapsed > 0 else ""
        if not total:
            return f"  {self._phase}  {done / 1e9:.1f} GB{rate}"
        filled = round(min(1.0, done / total) * WIDTH)
        full, empty = ("━", "─") if self._unicode() else ("#", "-")
        bar = full * filled + empty * (WIDTH - filled)
        return f"  {self._phase}  {bar}  {done / 1e9:.1f} of {total / 1e9:.1f} GB{rate}"

    def _unicode(self) -> bool:
        return (self._stream.encoding or "").lower().replace("-", "") == "utf8"


class Tally:
    """Adds up what several threads have done, and shows it now and then."""

    STEP_BYTES = 64 << 20

    def __init__(self, meter: Meter, phase: str, total_bytes: int) -> None:
        self._meter, self._phase, self._total = meter, phase, total_bytes
        self._lock = threading.Lock()
        self._done = self._shown = 0

    def add(self, more_bytes: int) -> None:
        """Called from any thread."""
        with self._lock:
            self._done += more_bytes
            if self._done - self._shown >= self.STEP_BYTES:
                self._shown = self._done
                self._meter.show(self._phase, self._done, self._total)

    def close(self) -> None:
        """The work is done."""
        self._meter.close()
