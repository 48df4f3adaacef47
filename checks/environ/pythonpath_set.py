"""PYTHONPATH left over in the shell."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check
from dflash_env.facts import Environ


@check(
    title="PYTHONPATH or PYTHONHOME is set in this shell",
    severity=Severity.WARNING,
    why="Whatever lies there wins over the locked packages in every Python started from this shell. `run` "
    "drops both from the trainer's environment; a command typed by hand does not.",
    fix="Run `unset PYTHONPATH PYTHONHOME`, and remove them from your shell's start-up files.",
)
def pythonpath_set(environ: Environ) -> Iterator[Finding]:
    for name in ("PYTHONPATH", "PYTHONHOME"):
        if value := environ.value(name):
            yield Finding(f"{name}={value}")
