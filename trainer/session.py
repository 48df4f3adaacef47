"""What belongs to one run in this process: its config, folder, event log, wish to stop, and what it has done so far."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from trainer.config import TrainConfig
from trainer.events import Events, Stop


@dataclass
class Totals:
    """Seconds by phase, and counts over the steps of this process after its first one."""

    seconds: dict[str, float] = field(default_factory=dict)
    step: int = 0
    tokens: int = 0
    supervised: int = 0
    anchors: int = 0
    steady_seconds: float = 0.0
    loss: float | None = None
    checkpoint: str | None = None

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the time spent inside to one phase, also when it ends early."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began

    def restart_rates(self) -> None:
        """Leave everything up to now out of the rates."""
        self.tokens = self.supervised = self.anchors = 0
        self.steady_seconds = 0.0


@dataclass(frozen=True)
class Session:
    """Passed to every phase of a run."""

    config: TrainConfig
    folder: Path
    events: Events
    stop: Stop
    totals: Totals = field(default_factory=Totals)
