"""A venv whose interpreter or standard library is not the one it was sealed with."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import NotApplicable, Venv


@check(
    title="The venv's interpreter was replaced",
    severity=Severity.ERROR,
    why="A venv holds no Python of its own, only a link to one. When the system's Python is upgraded, removed or "
    "edited underneath, all that runs in the venv runs on something else.",
    fix="Run `dflash-env rebuild`: a venv is keyed by its interpreter, so that a new one is built with this Python.",
)
def interpreter_replaced(venv: Venv) -> Iterator[Finding]:
    need(venv.seal)
    if venv.replaced:
        yield Finding(venv.replaced)
    if not isinstance(venv.interpreter, NotApplicable):
        need(venv.interpreter)
    if not isinstance(venv.stdlib_sha256, NotApplicable):
        need(venv.stdlib_sha256)
