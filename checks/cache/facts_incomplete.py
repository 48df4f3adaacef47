"""The owner of every compile-cache reading that could not be taken."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, missing
from dflash_env.facts import Cache, Unknown


@check(
    title="The compile cache could not be examined",
    severity=Severity.ERROR,
    why="A cache that cannot be read is a cold cache at best.",
    fix="Make the folder readable for this user, or remove it and run `dflash-env rebuild`.",
)
def facts_incomplete(cache: Cache | Unknown) -> Iterator[Finding]:
    if isinstance(cache, Unknown):
        yield from missing({"cache": cache})
        return
    yield from missing({"cache.kind": cache.kind, "cache.owner_uid": cache.owner_uid, "cache.mode": cache.mode})
