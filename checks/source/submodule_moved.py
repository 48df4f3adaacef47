"""A submodule that is off its commit."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Repo


@check(
    title="A submodule is off its commit",
    severity=Severity.ERROR,
    why="HEAD names one commit of the submodule. Another one, or an empty folder, is other code than the one that "
    "HEAD accounts for.",
    fix="Check the named commit out: `git submodule update --init PATH`.",
)
def submodule_moved(repo: Repo) -> Iterator[Finding]:
    for each in need(repo.checkout).submodules:
        if each.found != each.expected:
            found = f"is at {each.found[:12]}" if each.found else "is not checked out"
            yield Finding(f"{each.path} {found}; HEAD has {each.expected[:12]}")
