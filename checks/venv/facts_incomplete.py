"""The owner of every venv reading that could not be taken."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, missing
from dflash_env.facts import Unknown, Venv


@check(
    title="What the training venv holds could not be read",
    severity=Severity.ERROR,
    why="A venv whose seal or metadata cannot be read is not known to be the locked one.",
    fix="Run `dflash-env rebuild`: it builds a new venv beside this one.",
)
def facts_incomplete(venv: Venv | Unknown) -> Iterator[Finding]:
    yield from missing({"venv": venv})
