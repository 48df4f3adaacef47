"""A locked distribution is not installed."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Lock, Venv


@check(
    title="A locked distribution is not installed",
    severity=Severity.ERROR,
    why="An import fails, or falls back to something slower without a word.",
    fix="Run `dflash-env rebuild`: a new venv is built beside this one, never repaired in place.",
)
def distribution_missing(venv: Venv, lock: Lock) -> Iterator[Finding]:
    need(venv.path)
    installed = {one.name for one in venv.distributions}
    for package in lock.packages:
        if package.name not in installed:
            yield Finding(f"{package.name} {package.version} is locked and not installed")
