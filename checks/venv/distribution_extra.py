"""A distribution is installed that the lock does not name."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Lock, Venv


@check(
    title="A distribution is installed that the lock does not name",
    severity=Severity.ERROR,
    why="Serving packages installed into a training venv bring their own torch, NCCL or plug-ins; being "
    "installed is enough to change what runs (entry points are loaded at import).",
    fix="Run `dflash-env rebuild`: a new venv is built beside this one, never repaired in place. Keep serving "
    "packages in a venv of their own.",
)
def distribution_extra(venv: Venv, lock: Lock) -> Iterator[Finding]:
    need(venv.path)
    locked = lock.versions
    for one in venv.distributions:
        if one.name not in locked:
            how = "installed" if one.origin == "index" else f"installed ({one.origin})"
            yield Finding(f"{one.name} {one.version} is {how} and not locked")
