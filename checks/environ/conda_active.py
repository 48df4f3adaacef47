"""A conda environment that is active in the shell."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check
from dflash_env.facts import Environ


@check(
    title="A conda environment is active in this shell",
    severity=Severity.WARNING,
    why="Its Python, compiler and libraries come first on the PATH, so that what is typed or built here belongs "
    "to it. `run` drops it: the trainer gets a PATH of its own.",
    fix="Run `conda deactivate`, and `conda config --set auto_activate_base false` so that it stays off.",
)
def conda_active(environ: Environ) -> Iterator[Finding]:
    if prefix := environ.value("CONDA_PREFIX"):
        yield Finding(f"CONDA_PREFIX={prefix}")
