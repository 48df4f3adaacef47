"""A distribution has another version than the lock."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Lock, Venv


@check(
    title="A distribution has another version than the lock",
    severity=Severity.ERROR,
    why="The kernels, the compile cache and the numerics belong to the locked versions; another torch is "
    "another machine.",
    fix="Run `dflash-env rebuild`: a new venv is built beside this one, never repaired in place.",
)
def distribution_version(venv: Venv, lock: Lock) -> Iterator[Finding]:
    need(venv.path)
    locked = lock.versions
    for one in venv.distributions:
        if one.name in locked and one.version != locked[one.name]:
            yield Finding(f"{one.name} {one.version} is installed; the lock has {locked[one.name]}")
