"""cache-folder-missing: the first step would compile everything again."""

from dataclasses import replace

import pytest

from checks.cache.folder_missing import folder_missing
from dflash_env.check import Skipped
from dflash_env.facts import NotApplicable, Unknown
from tests import healthy


def test_fires_when_somebody_deleted_the_folder() -> None:
    gone = NotApplicable(why="/data/.dflash/caches/compile/37d4 does not exist")
    [finding] = folder_missing(cache=replace(healthy.CACHE, kind=gone, owner_uid=gone, mode=gone))
    assert finding.message == "/data/.dflash/caches/compile/37d4 does not exist"


def test_quiet_on_the_healthy_machine() -> None:
    assert folder_missing(cache=healthy.CACHE) == []


def test_skipped_when_nobody_could_look() -> None:
    with pytest.raises(Skipped, match="Permission denied"):
        folder_missing(cache=replace(healthy.CACHE, kind=Unknown(code="denied", text="Permission denied")))
