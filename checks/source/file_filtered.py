"""A file behind a filter program, which this tool never starts."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check
from dflash_env.facts import Repo


@check(
    title="A filter program stands between a file and HEAD",
    severity=Severity.ERROR,
    why="Git would compare the file by what the filter makes of it, and a filter can make anything of anything. "
    "It is never started here, so nothing says that the file is the committed one.",
    fix="Take `filter=` away from the path (`git check-attr filter PATH` and `.gitattributes`, "
    "`.git/info/attributes`), and compare again.",
)
def file_filtered(repo: Repo) -> Iterator[Finding]:
    for change in repo.changes:
        if change.how == "filtered":
            yield Finding(f"{change.path} is not the committed content before the filter {change.filter!r}")
