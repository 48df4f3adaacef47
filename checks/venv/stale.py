"""A venv built from another lock than the committed one."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Lock, Venv


@check(
    title="The training venv was built from another lock",
    severity=Severity.ERROR,
    why="The lock changed since the venv was built. Versions may agree while an artifact's hash does not.",
    fix="Run `dflash-env rebuild`; the old venv stays until `gc`.",
)
def stale(venv: Venv, lock: Lock) -> Iterator[Finding]:
    seal = need(venv.seal)
    # Another Python is another lock too; venv-python-wrong says it more exactly.
    if seal.lock_digest != lock.digest and seal.python_minor == lock.python:
        yield Finding(f"built {seal.built} from {seal.lock} {seal.lock_digest[:12]}; the lock is {lock.digest[:12]}")
