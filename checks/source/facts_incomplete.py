"""The owner of a source state that nobody can vouch for."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, missing
from dflash_env.facts import Repo, Unknown

FIXES = {
    "no-repository": "Clone the project with git: an unpacked archive has no commit that vouches for its files.",
    "no-commit": "Commit the project: `git add -A && git commit`.",
    "missing": "Install git.",
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
    fix = FIXES.get(repo.code, "") if isinstance(repo, Unknown) else ""
    yield from missing({"repo": repo}, fix)
