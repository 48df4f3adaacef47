"""A pointer of git LFS where its content is expected."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check
from dflash_env.facts import Repo


@check(
    title="A file is only a pointer of git LFS",
    severity=Severity.ERROR,
    why="The file was checked out without git LFS and holds three lines of text about the content, not the "
    "content. Whatever reads it reads those lines.",
    fix="Fetch the content: `git lfs install && git lfs pull`.",
)
def lfs_pointer(repo: Repo) -> Iterator[Finding]:
    for change in repo.changes:
        if change.how == "pointer":
            yield Finding(f"{change.path} holds a pointer and not the content")
