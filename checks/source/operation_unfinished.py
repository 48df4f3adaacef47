"""A merge, rebase or bisect that is under way."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Repo


@check(
    title="A git operation is unfinished",
    severity=Severity.WARNING,
    why="In the middle of a merge, a rebase or a bisect HEAD is a commit on the way to somewhere else, and git "
    "moves it again when the operation goes on.",
    fix="Finish it, or give it up: `git status` names both commands.",
)
def operation_unfinished(repo: Repo) -> Iterator[Finding]:
    operation = need(repo.checkout).operation
    if operation:
        way_back = "reset" if operation == "bisect" else "--abort"
        yield Finding(f"{operation} is in progress", f"Finish it, or give it up: `git {operation} {way_back}`.")
