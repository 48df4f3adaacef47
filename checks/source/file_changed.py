"""A tracked file that is not the committed one."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check
from dflash_env.facts import Repo


@check(
    title="A tracked file differs from HEAD",
    severity=Severity.ERROR,
    why="A run must be accounted for by one commit. An edit in the trainer, a check or a lock changes what "
    "runs and is in no commit; content is compared, so flags such as assume-unchanged hide nothing.",
    fix="Commit the change, or put the committed file back: `git checkout HEAD -- PATH` (save your edit first).",
)
def file_changed(repo: Repo) -> Iterator[Finding]:
    for change in repo.changes:
        yield Finding(
            f"{change.path} is {change.how}; {repo.vouched_by} {repo.commit[:12]} has {change.expected[:12]}",
            "Reinstall dflash-env: its bundled files were edited." if repo.vouched_by == "manifest" else "",
        )
