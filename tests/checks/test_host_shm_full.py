"""host-shm-full: what a killed run left in /dev/shm leaves no room for the next one."""

from dataclasses import replace

import pytest

from checks.host.shm_full import shm_full
from dflash_env.check import Finding, Skipped
from dflash_env.facts import Reading, Unknown
from tests import healthy

STATED = healthy.MACHINE.host.shm_bytes
LOST = Unknown(code="failed", text="No such file or directory: /dev/shm")


def found(free: Reading[int], total: Reading[int] = STATED) -> list[Finding]:
    return shm_full(host=replace(healthy.HOST, shm_bytes=total, shm_free_bytes=free), machine=healthy.MACHINE)


def test_fires_with_what_is_free_and_what_is_stated() -> None:
    [finding] = found(6 * 2**20, 20 * 2**30)
    assert finding.message == "/dev/shm has 6 MiB of 20,480 MiB free; machine hgx-h100 states 16,384 MiB"


def test_fires_one_byte_below_half_of_what_is_stated() -> None:
    assert found(STATED // 2 - 1)
    assert found(0)


def test_quiet_on_the_healthy_machine() -> None:
    assert shm_full(host=healthy.HOST, machine=healthy.MACHINE) == []


def test_quiet_at_half_of_what_is_stated() -> None:
    assert found(STATED // 2) == []


def test_quiet_about_one_that_is_too_small_even_when_empty() -> None:
    assert found(64 * 2**20, 64 * 2**20) == []


def test_skipped_when_it_cannot_be_measured() -> None:
    for free, total in ((LOST, STATED), (STATED, LOST)):
        with pytest.raises(Skipped, match="/dev/shm"):
            found(free, total)
