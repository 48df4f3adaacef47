"""A path whose edits git was told not to see."""

import re
from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Repo


@check(
    title="Git was told not to see edits of a path",
    severity=Severity.WARNING,
    why="With assume-unchanged or skip-worktree set, `git status` and `git diff` stay silent about the file and a "
    "checkout may leave an edit standing. This gate compares the content all the same.",
    fix="Take the flag away: `git update-index --no-assume-unchanged --no-skip-worktree PATH`.",
)
def path_hidden(repo: Repo) -> Iterator[Finding]:
    for each in need(repo.checkout).hidden:
        word = each.path if re.fullmatch(r"[\w./-]+", each.path) else "'" + each.path.replace("'", "'\\''") + "'"
        yield Finding(f"{each.path} is {each.flag}", f"`git update-index --no-{each.flag} -- {word}`.")
