"""No compile-cache folder."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Cache, NotApplicable


@check(
    title="The compile cache's folder is missing",
    severity=Severity.ERROR,
    why="With a cold cache every rank compiles at once at the first step, which is how a run that worked for "
    "days broke when its cache was deleted.",
    fix="Run `dflash-env rebuild`: it makes the folder that belongs to the venv.",
)
def folder_missing(cache: Cache) -> Iterator[Finding]:
    if isinstance(cache.kind, NotApplicable):
        yield Finding(cache.kind.why)
    else:
        need(cache.kind)
