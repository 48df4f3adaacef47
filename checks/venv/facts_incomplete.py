"""The owner of every venv reading that could not be taken."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, missing
from dflash_env.facts import Unknown, Venv


@check(
    title="What the training venv holds could not be read",
    severity=Severity.ERROR,
    why="A venv whose seal, files or interpreter cannot be read is not known to be the locked one.",
    fix="Run `dflash-env rebuild`: it builds a new venv beside this one.",
)
def facts_incomplete(venv: Venv | Unknown) -> Iterator[Finding]:
    if isinstance(venv, Unknown):
        yield from missing({"venv": venv})
        return
    yield from missing(
        {
            "venv.tree_digest": venv.tree_digest,
            "venv.interpreter": venv.interpreter,
            "venv.header": venv.header,
            "venv.stdlib_sha256": venv.stdlib_sha256,
        }
    )
