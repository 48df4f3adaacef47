"""cache-not-ours: somebody else could put code into the cache."""

from dataclasses import replace

import pytest

from checks.cache.not_ours import not_ours
from dflash_env.check import Skipped
from dflash_env.facts import NotApplicable
from tests import healthy

PATH = healthy.CACHE.path


def test_fires_for_a_link() -> None:
    [finding] = not_ours(cache=replace(healthy.CACHE, kind="link", mode=0o777))
    assert finding.message == f"{PATH} is a link, not a folder"


def test_fires_for_a_folder_of_another_user() -> None:
    [finding] = not_ours(cache=replace(healthy.CACHE, owner_uid=0))
    assert finding.message == f"{PATH} belongs to uid 0; this process is uid 1000"


def test_fires_when_the_group_may_write() -> None:
    [finding] = not_ours(cache=replace(healthy.CACHE, mode=0o720))
    assert "mode 0720: others may write to it" in finding.message
    assert f"chmod 700 {PATH}" in finding.fix


def test_fires_when_everybody_may_write() -> None:
    [finding] = not_ours(cache=replace(healthy.CACHE, mode=0o1777))
    assert "mode 1777" in finding.message


def test_quiet_on_the_healthy_machine() -> None:
    assert not_ours(cache=healthy.CACHE) == []


def test_quiet_when_others_may_only_read() -> None:
    assert not_ours(cache=replace(healthy.CACHE, mode=0o755)) == []


def test_skipped_when_there_is_no_folder() -> None:
    gone = NotApplicable(why="it does not exist")
    with pytest.raises(Skipped, match="does not exist"):
        not_ours(cache=replace(healthy.CACHE, kind=gone, owner_uid=gone, mode=gone))
