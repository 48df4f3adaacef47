"""A path with more than one version in the index."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Repo


@check(
    title="A path is unmerged",
    severity=Severity.ERROR,
    why="A merge left several versions of the file, and nobody has said yet which one it is to be. What stands "
    "there may hold both between conflict marks.",
    fix="Resolve it and `git add PATH`, or give the merge up: `git merge --abort`.",
)
def path_unmerged(repo: Repo) -> Iterator[Finding]:
    for path in need(repo.checkout).unmerged:
        yield Finding(f"{path} is unmerged")
