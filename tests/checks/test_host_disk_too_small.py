"""host-disk-too-small: a checkpoint would not fit."""

from dataclasses import replace

import pytest

from checks.host.disk_too_small import disk_too_small
from dflash_env.check import Skipped
from dflash_env.facts import Disk, Host, Reading, Unknown
from dflash_env.facts.host import DOWNLOADS, ROOT, RUNS
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


def test_fires_for_the_runs_on_a_disk_of_their_own() -> None:
    runs = Disk(folder="/data/.dflash/runs", purpose=RUNS, free_bytes=8_000_000)
    root = replace(healthy.HOST.disks[0], purpose=ROOT)
    [finding] = disk_too_small(host=replace(healthy.HOST, disks=(root, runs)), machine=healthy.MACHINE)
    assert finding.message == "/data/.dflash/runs (runs) has 0.0 GB free; machine hgx-h100 states 200.0 GB"


def test_quiet_at_exactly_what_is_stated() -> None:
    assert disk_too_small(host=with_free(NEEDED), machine=healthy.MACHINE) == []


def test_quiet_about_the_disk_of_the_download_cache() -> None:
    downloads = Disk(folder="/home/ada/.cache", purpose=DOWNLOADS, free_bytes=1)
    host = replace(healthy.HOST, disks=(downloads, *healthy.HOST.disks))
    assert disk_too_small(host=host, machine=healthy.MACHINE) == []


def test_skipped_when_it_cannot_be_measured() -> None:
    with pytest.raises(Skipped, match="Stale file handle"):
        disk_too_small(host=with_free(Unknown(code="failed", text="Stale file handle")), machine=healthy.MACHINE)
