"""A venv folder without a seal."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import NotApplicable, Venv


@check(
    title="The training venv has no seal",
    severity=Severity.ERROR,
    why="The seal is written last. A venv without one was cut off while it was built, or somebody removed the "
    "seal; an installer takes half a venv for a whole one, so nothing vouches for what is in it.",
    fix="Run `dflash-env rebuild`: it never goes on with a half-built venv, it builds a new one.",
)
def unsealed(venv: Venv) -> Iterator[Finding]:
    need(venv.path)
    if isinstance(venv.seal, NotApplicable):
        yield Finding(venv.seal.why)
