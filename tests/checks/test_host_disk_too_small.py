"""host-disk-too-small: a checkpoint would not fit."""

from dataclasses import replace

import pytest

from checks.host.disk_too_small import disk_too_small
from dflash_env.check import Skipped
from dflash_env.facts import Disk, Host, Reading, Unknown
from tests import healthy

NEEDED = healthy.MACHINE.host.disk_bytes


def with_free(free_bytes: Reading[int]) -> Host:
    return replace(healthy.HOST, disks=(replace(healthy.HOST.disks[0], free_bytes=free_bytes),))


def test_fires_when_the_disk_is_nearly_full() -> None:
    [finding] = disk_too_small(host=with_free(3_400_000_000), machine=healthy.MACHINE)
    assert finding.message == (
        "/data/.dflash (venvs, caches and runs) has 3.4 GB free; machine hgx-h100 states 200.0 GB"
    )


def test_fires_one_byte_below_what_is_stated() -> None:
    assert disk_too_small(host=with_free(NEEDED - 1), machine=healthy.MACHINE)


def test_quiet_on_the_healthy_machine() -> None:
    assert disk_too_small(host=healthy.HOST, machine=healthy.MACHINE) == []


def test_quiet_at_exactly_what_is_stated() -> None:
    assert disk_too_small(host=with_free(NEEDED), machine=healthy.MACHINE) == []


def test_quiet_about_the_disk_of_the_download_cache() -> None:
    downloads = Disk(folder="/home/ada/.cache", purpose="downloaded packages", free_bytes=1)
    host = replace(healthy.HOST, disks=(*healthy.HOST.disks, downloads))
    assert disk_too_small(host=host, machine=healthy.MACHINE) == []


def test_skipped_when_it_cannot_be_measured() -> None:
    with pytest.raises(Skipped, match="Stale file handle"):
        disk_too_small(host=with_free(Unknown(code="failed", text="Stale file handle")), machine=healthy.MACHINE)
