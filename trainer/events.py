"""events.jsonl, one JSON object a line, and the stop that a signal asks for."""

import json
import signal
import time
from pathlib import Path
from types import FrameType
from typing import Any


class Events:
    """Appends events to a run's log; each is on disk when the call returns."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", buffering=1)

    def emit(self, event: str, **values: Any) -> None:
        """Write `{"t": unix seconds, "event": event, ...}`."""
        self._file.write(json.dumps({"t": round(time.time(), 3), "event": event, **values}) + "\n")


class StoppedError(Exception):
    """A stop was asked for and the work so far is safe."""


class Stop:
    """Turns SIGTERM, SIGINT and SIGHUP into a wish that the loop grants at the next whole step."""

    def __init__(self) -> None:
        self.requested = False

    def listen(self) -> None:
        """Install the handlers; a second SIGINT ends the process at once."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._ask)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.requested and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.requested = True

    def check(self) -> None:
        """Raise StoppedError if a stop was asked for."""
        if self.requested:
            raise StoppedError
