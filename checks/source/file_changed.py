"""A tracked file that is not the committed one."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check
from dflash_env.facts import Repo

ELSEWHERE = ("unmerged", "sparse", "pointer", "filtered")
"""The ways to differ that have checks of their own."""


@check(
    title="A tracked file differs from HEAD",
    severity=Severity.ERROR,
    why="A run must be accounted for by one commit. An edit in the trainer, a check or a lock changes what "
    "runs and is in no commit; content is compared, so flags such as assume-unchanged hide nothing.",
    fix="Commit the change, or put the committed file back: `dflash-env restore PATH` keeps your edit.",
)
def file_changed(repo: Repo) -> Iterator[Finding]:
    for change in repo.changes:
        if change.how not in ELSEWHERE:
            yield Finding(
                f"{change.path} is {change.how}; {repo.vouched_by} {repo.commit[:12]} has {change.expected[:12]}",
                "Reinstall dflash-env: its bundled files were edited." if repo.vouched_by == "manifest" else "",
            )
