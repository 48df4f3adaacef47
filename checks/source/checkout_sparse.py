"""A tracked file that a sparse checkout leaves out."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check
from dflash_env.facts import Repo


@check(
    title="A sparse checkout leaves a source file out",
    severity=Severity.ERROR,
    why="The commit holds the file, and this folder does not: what is checked and run here is only a part of it.",
    fix="Check everything out: `git sparse-checkout disable`.",
)
def checkout_sparse(repo: Repo) -> Iterator[Finding]:
    for change in repo.changes:
        if change.how == "sparse":
            yield Finding(f"{change.path} is not checked out")
