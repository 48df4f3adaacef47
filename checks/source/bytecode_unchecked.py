"""Bytecode that Python runs whatever its source says."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check
from dflash_env.facts import Repo


@check(
    title="Bytecode would run without a look at its source",
    severity=Severity.ERROR,
    why="A .pyc marked unchecked-hash is loaded even when the .py beside it is another one (PEP 552): the source "
    "is HEAD's, and something else runs.",
    fix="Remove it, Python makes it again: `rm PATH`.",
)
def bytecode_unchecked(repo: Repo) -> Iterator[Finding]:
    for path in repo.bytecode:
        yield Finding(f"{path} is an unchecked-hash .pyc")
