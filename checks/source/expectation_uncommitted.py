"""A lock or machine file that no commit vouches for."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check
from dflash_env.facts import Repo


@check(
    title="The lock or the machine file is in no commit",
    severity=Severity.ERROR,
    why="They say what the venv and the machine must be. A file that only this working tree holds can be "
    "changed without a trace, and then the gate judges by whatever was found.",
    fix="Commit it: `git add lockfiles && git commit`.",
)
def expectation_uncommitted(repo: Repo) -> Iterator[Finding]:
    for each in repo.uncommitted:
        yield Finding(each)
