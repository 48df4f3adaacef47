"""cache-facts-incomplete: a cache that cannot be examined is reported once, here."""

from dataclasses import replace

from checks.cache.facts_incomplete import facts_incomplete
from dflash_env.facts import Unknown
from tests import healthy

DENIED = Unknown(code="denied", text="/data/.dflash/caches: Permission denied")


def test_fires_once_for_a_folder_that_cannot_be_looked_at() -> None:
    [finding] = facts_incomplete(cache=replace(healthy.CACHE, kind=DENIED, owner_uid=DENIED, mode=DENIED))
    assert finding.about == ("cache.kind", "cache.owner_uid", "cache.mode")
    assert "/data/.dflash/caches: Permission denied" in finding.message


def test_fires_for_each_reason() -> None:
    stale = Unknown(code="failed", text="Stale file handle")
    findings = facts_incomplete(cache=replace(healthy.CACHE, kind=DENIED, owner_uid=stale, mode=DENIED))
    assert [finding.about for finding in findings] == [("cache.kind", "cache.mode"), ("cache.owner_uid",)]


def test_fires_when_only_the_owner_is_unknown() -> None:
    [finding] = facts_incomplete(cache=replace(healthy.CACHE, owner_uid=DENIED))
    assert finding.about == ("cache.owner_uid",)


def test_fires_when_the_whole_section_is_unknown() -> None:
    [finding] = facts_incomplete(cache=DENIED)
    assert finding.about == ("cache",)


def test_quiet_on_the_healthy_machine() -> None:
    assert facts_incomplete(cache=healthy.CACHE) == []
