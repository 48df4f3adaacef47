"""A verdict: the facts, what every check said of them, and the exit code that follows."""

from dataclasses import dataclass

from dflash_env import __version__
from dflash_env.check import Outcome, Result, Severity
from dflash_env.errors import Exit
from dflash_env.facts import Facts, Unknown


@dataclass(frozen=True, kw_only=True)
class Report:
    """One document that holds all it rests on, so that it can be judged again elsewhere (`doctor --replay`)."""

    tool: str = __version__
    taken: str
    """When the facts were read: UTC, ISO 8601."""
    facts: Facts
    results: tuple[Result, ...]

    @property
    def exit_code(self) -> Exit:
        """0 where nothing blocks, warnings included; 1 otherwise."""
        return Exit.FINDINGS if any(result.blocks for result in self.results) else Exit.OK

    def count(self, outcome: Outcome, severity: Severity | None = None) -> int:
        """How many checks ended so."""
        return sum(result.outcome is outcome and severity in (None, result.severity) for result in self.results)

    @property
    def unexamined(self) -> tuple[tuple[str, Unknown], ...]:
        """Readings nobody could take and nobody required: they change no exit code, but are never hidden."""
        reported = {name for result in self.results for finding in result.findings for name in finding.about}
        return tuple((name, unknown) for name, unknown in self.facts.unknowns() if name not in reported)
