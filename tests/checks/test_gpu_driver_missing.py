"""gpu-driver-missing: the profile needs GPUs, and no driver is there."""

from dataclasses import replace

import pytest

from checks.gpu.driver_missing import driver_missing
from dflash_env.check import Skipped
from dflash_env.facts import Gpus, NotApplicable, Unknown
from tests import healthy

NONE = Gpus(driver=NotApplicable(why="NVML Shared Library Not Found"), devices=())


def test_fires_without_a_driver() -> None:
    [finding] = driver_missing(gpus=NONE, profile=healthy.PROFILE)
    assert "profile node8 needs 8 GPUs" in finding.message
    assert "NVML Shared Library Not Found" in finding.message


def test_quiet_on_the_healthy_machine() -> None:
    assert driver_missing(gpus=healthy.GPUS, profile=healthy.PROFILE) == []


def test_skipped_when_nobody_knows_the_driver() -> None:
    with pytest.raises(Skipped, match="it timed out"):
        driver_missing(
            gpus=replace(healthy.GPUS, driver=Unknown(code="timeout", text="it timed out")), profile=healthy.PROFILE
        )
