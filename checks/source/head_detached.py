"""HEAD on no branch."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Repo


@check(
    title="HEAD is on no branch",
    severity=Severity.WARNING,
    why="The commit accounts for what runs, but nothing keeps it: the next checkout leaves it behind, git removes "
    "it some weeks later, and the run can no longer be made again.",
    fix="Give it a branch: `git switch -c NAME`.",
)
def head_detached(repo: Repo) -> Iterator[Finding]:
    checkout = need(repo.checkout)
    # A rebase or a bisect detaches HEAD by itself; it is told of once.
    if not checkout.branch and not checkout.operation:
        yield Finding(f"HEAD is detached at {repo.commit[:12]}")
