"""Something staged that neither HEAD nor the files hold."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Repo


@check(
    title="The index holds what HEAD does not",
    severity=Severity.WARNING,
    why="The files are HEAD's, and something else is staged: the next commit records a state that was never run.",
    fix="Commit it, or take it out of the index: `git restore --staged PATH`.",
)
def index_differs(repo: Repo) -> Iterator[Finding]:
    for path in need(repo.checkout).staged:
        yield Finding(f"{path} is staged otherwise than HEAD has it")
