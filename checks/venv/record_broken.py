"""A distribution whose RECORD is gone or garbage."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Lock, Venv


@check(
    title="The RECORD of a distribution cannot be read",
    severity=Severity.ERROR,
    why="RECORD lists the files of a distribution. An installer that was cut off leaves none, and with none "
    "nobody can tell its files from strays, or uninstall it.",
    fix="Run `dflash-env rebuild`: a new venv is built beside this one, never repaired in place.",
)
def record_broken(venv: Venv, lock: Lock) -> Iterator[Finding]:
    need(venv.seal)
    foreign = venv.foreign(lock)
    for name in venv.broken_records:
        if name not in foreign:
            yield Finding(f"the RECORD of {name} is missing or is none")
