"""The owner of a source state that nobody can vouch for."""

import re
from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, missing
from dflash_env.facts import Repo, Unknown

FIXES = {
    "no-repository": "Clone the project with git: an unpacked archive has no commit that vouches for its files.",
    "no-commit": "Commit the project: `git add -A && git commit`.",
    "missing": "Install git.",
    "too-old": "Install a newer git.",
}


@check(
    title="Nothing vouches for the source",
    severity=Severity.ERROR,
    why="A launch runs the committed code and no other. Where git cannot say what is committed, any file may "
    "have been edited.",
    fix="Work in a git clone of the project; if git refuses the folder, its message names the `git config` "
    "line that helps.",
)
def facts_incomplete(repo: Repo | Unknown) -> Iterator[Finding]:
    if isinstance(repo, Unknown):
        yield from missing({"repo": repo}, _fix(repo))
    else:
        yield from missing({"repo.checkout": repo.checkout})


def _fix(reason: Unknown) -> str:
    # Git itself names the command, with the path as it wants to have it.
    command = re.search(r"`(git config .*)`", reason.text, re.DOTALL)
    if reason.code == "ownership" and command:
        return f"If you trust its files: `{command[1]}`."
    return FIXES.get(reason.code, "")
