"""A venv of another Python than the lock's."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Lock, Venv


@check(
    title="The training venv is of another Python than the lock",
    severity=Severity.ERROR,
    why="Every compiled package is built for one minor version of Python, and the lock names those of its own.",
    fix="Run `dflash-env rebuild`: it builds with the lock's Python, and says which to install where there is none.",
)
def python_wrong(venv: Venv, lock: Lock) -> Iterator[Finding]:
    seal = need(venv.seal)
    if seal.python_minor != lock.python:
        yield Finding(f"{seal.lock} was built with Python {seal.python}; {lock.name} is for Python {lock.python}")
