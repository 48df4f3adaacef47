"""gpu-count-wrong: another number of GPUs than the machine has, or than the profile needs."""

from dataclasses import replace

import pytest

from checks.gpu.count_wrong import count_wrong
from dflash_env.check import Skipped
from dflash_env.facts import Gpus, MachineGpus, NotApplicable
from tests import healthy


def having(count: int) -> Gpus:
    return replace(healthy.GPUS, devices=healthy.GPUS.devices[:count])


def test_fires_when_a_gpu_fell_off_the_bus() -> None:
    [finding] = count_wrong(gpus=having(7), machine=healthy.MACHINE, profile=healthy.PROFILE)
    assert finding.message == "NVML lists 7 GPUs; machine hgx-h100 has 8"


def test_fires_when_a_driver_lists_no_gpu_at_all() -> None:
    [finding] = count_wrong(gpus=having(0), machine=healthy.MACHINE, profile=healthy.PROFILE)
    assert "lists 0 GPUs" in finding.message


def test_fires_on_another_and_larger_machine() -> None:
    four = replace(healthy.MACHINE, name="quad", gpus=MachineGpus(count=4))
    profile = replace(healthy.PROFILE, name="node4", gpus=4)
    [finding] = count_wrong(gpus=healthy.GPUS, machine=four, profile=profile)
    assert finding.message == "NVML lists 8 GPUs; machine quad has 4"


def test_fires_when_the_profile_asks_for_more_than_its_machine_has() -> None:
    four = replace(healthy.MACHINE, name="quad", gpus=MachineGpus(count=4))
    [finding] = count_wrong(gpus=having(4), machine=four, profile=healthy.PROFILE)
    assert finding.message == "profile node8 needs 8 GPUs; machine quad has 4"
    assert "larger machine" in finding.fix


def test_quiet_on_the_healthy_machine() -> None:
    assert count_wrong(gpus=healthy.GPUS, machine=healthy.MACHINE, profile=healthy.PROFILE) == []


def test_skipped_without_a_driver() -> None:
    none = Gpus(driver=NotApplicable(why="there is no driver"), devices=())
    with pytest.raises(Skipped, match="there is no driver"):
        count_wrong(gpus=none, machine=healthy.MACHINE, profile=healthy.PROFILE)
