"""venv-distribution-version: torch was swapped for another one."""

from dataclasses import replace

import pytest

from checks.venv.distribution_version import distribution_version
from dflash_env.check import Skipped
from dflash_env.facts import Distribution
from tests import healthy

CUDA_13 = Distribution(name="torch", version="2.10.0+cu130")


def test_fires_for_a_torch_of_another_cuda() -> None:
    swapped = replace(healthy.VENV, distributions=(CUDA_13, healthy.VENV.distributions[1]))
    [finding] = distribution_version(venv=swapped, lock=healthy.LOCK)
    assert finding.message == "torch 2.10.0+cu130 is installed; the lock has 2.10.0"


def test_fires_for_the_second_metadata_folder_of_one_package() -> None:
    doubled = replace(healthy.VENV, distributions=(*healthy.VENV.distributions, CUDA_13))
    [finding] = distribution_version(venv=doubled, lock=healthy.LOCK)
    assert "2.10.0+cu130" in finding.message


def test_quiet_on_the_healthy_machine() -> None:
    assert distribution_version(venv=healthy.VENV, lock=healthy.LOCK) == []


def test_quiet_about_packages_that_are_not_locked() -> None:
    installed = (*healthy.VENV.distributions, Distribution(name="vllm", version="0.11.0"))
    assert distribution_version(venv=replace(healthy.VENV, distributions=installed), lock=healthy.LOCK) == []


def test_skipped_without_a_venv() -> None:
    with pytest.raises(Skipped, match="no venv was built"):
        distribution_version(venv=healthy.ABSENT_VENV, lock=healthy.LOCK)
