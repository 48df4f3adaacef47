"""A committed link that leads out of the repository."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check
from dflash_env.facts import Repo


@check(
    title="A link leads out of the repository",
    severity=Severity.ERROR,
    why="HEAD vouches for where the link leads, and nothing for what stands there: it can change without a trace.",
    fix="Commit the file itself in place of the link.",
)
def link_outside(repo: Repo) -> Iterator[Finding]:
    for each in repo.links:
        yield Finding(f"{each} is outside the repository")
