"""No training venv."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check
from dflash_env.facts import NotApplicable, Venv


@check(
    title="The training venv was not built",
    severity=Severity.ERROR,
    why="Training runs only in a venv that this tool built from the lock and sealed when it was complete.",
    fix="Run `dflash-env rebuild`.",
)
def not_built(venv: Venv) -> Iterator[Finding]:
    if isinstance(venv.path, NotApplicable):
        yield Finding(venv.path.why)
