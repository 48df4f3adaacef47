"""A link in the venv that leads to nothing."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Venv


@check(
    title="A link in the training venv leads to nothing",
    severity=Severity.ERROR,
    why="The package is installed and its library cannot be loaded: the import fails, or a copy of the system's "
    "is found instead.",
    fix="Run `dflash-env rebuild`.",
)
def library_dangling(venv: Venv) -> Iterator[Finding]:
    need(venv.seal)
    for path in venv.dangling:
        # The interpreter's own links are told by venv-interpreter-replaced.
        if not (venv.replaced and path.startswith("bin/python")):
            yield Finding(f"{path} leads to nothing")
