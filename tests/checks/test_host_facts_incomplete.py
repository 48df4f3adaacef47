"""host-facts-incomplete: a host reading that nobody could take is reported once, here."""

from dataclasses import replace

from checks.host.facts_incomplete import facts_incomplete
from dflash_env.facts import Disk, Unknown
from dflash_env.facts.host import DOWNLOADS, ROOT, RUNS
from tests import healthy

DENIED = Unknown(code="denied", text="Permission denied: /dev/shm")


def test_fires_when_shared_memory_cannot_be_measured() -> None:
    [finding] = facts_incomplete(host=replace(healthy.HOST, shm_bytes=DENIED))
    assert finding.about == ("host.shm_bytes",)
    assert "Permission denied: /dev/shm" in finding.message


def test_fires_when_a_disk_cannot_be_measured() -> None:
    disk = replace(healthy.HOST.disks[0], free_bytes=DENIED)
    [finding] = facts_incomplete(host=replace(healthy.HOST, disks=(disk,)))
    assert finding.about == ("host.disks[0].free_bytes",)


def test_fires_for_exactly_the_disks_that_a_run_writes_to() -> None:
    lost = {"folder": "/data/.dflash", "free_bytes": DENIED}
    disks = tuple(Disk(purpose=purpose, **lost) for purpose in (DOWNLOADS, ROOT, RUNS))
    [finding] = facts_incomplete(host=replace(healthy.HOST, disks=disks))
    assert finding.about == ("host.disks[1].free_bytes", "host.disks[2].free_bytes")


def test_fires_once_when_shared_memory_is_not_there() -> None:
    [finding] = facts_incomplete(host=replace(healthy.HOST, shm_bytes=DENIED, shm_free_bytes=DENIED))
    assert finding.about == ("host.shm_bytes", "host.shm_free_bytes")


def test_fires_when_the_whole_section_is_unknown() -> None:
    [finding] = facts_incomplete(host=Unknown(code="crashed", text="ValueError: no cores"))
    assert finding.about == ("host",)


def test_quiet_on_the_healthy_machine() -> None:
    assert facts_incomplete(host=healthy.HOST) == []


def test_quiet_about_the_memory_that_no_check_needs() -> None:
    assert facts_incomplete(host=replace(healthy.HOST, memory_bytes=DENIED)) == []


def test_quiet_about_a_disk_that_no_check_judges() -> None:
    other = replace(healthy.HOST.disks[0], purpose=DOWNLOADS, free_bytes=DENIED)
    assert facts_incomplete(host=replace(healthy.HOST, disks=(*healthy.HOST.disks, other))) == []
