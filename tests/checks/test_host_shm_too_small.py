"""host-shm-too-small: NCCL would die with a bus error."""

from dataclasses import replace

import pytest

from checks.host.shm_too_small import shm_too_small
from dflash_env.check import Skipped
from dflash_env.facts import Unknown
from tests import healthy

NEEDED = healthy.MACHINE.host.shm_bytes


def test_fires_in_a_container_with_the_default_64_mib() -> None:
    [finding] = shm_too_small(host=replace(healthy.HOST, shm_bytes=64 * 2**20), machine=healthy.MACHINE)
    assert finding.message == "/dev/shm holds 64 MiB; machine hgx-h100 states 16,384 MiB"


def test_fires_one_byte_below_what_is_stated() -> None:
    assert shm_too_small(host=replace(healthy.HOST, shm_bytes=NEEDED - 1), machine=healthy.MACHINE)


def test_quiet_on_the_healthy_machine() -> None:
    assert shm_too_small(host=healthy.HOST, machine=healthy.MACHINE) == []


def test_quiet_at_exactly_what_is_stated() -> None:
    assert shm_too_small(host=replace(healthy.HOST, shm_bytes=NEEDED), machine=healthy.MACHINE) == []


def test_skipped_when_it_cannot_be_measured() -> None:
    unknown = Unknown(code="failed", text="No such file or directory: /dev/shm")
    with pytest.raises(Skipped, match="/dev/shm"):
        shm_too_small(host=replace(healthy.HOST, shm_bytes=unknown), machine=healthy.MACHINE)
