"""venv-distribution-extra: somebody installed into the training venv."""

from dataclasses import replace

import pytest

from checks.venv.distribution_extra import distribution_extra
from dflash_env.check import Skipped
from dflash_env.facts import Distribution
from tests import healthy


def test_fires_for_a_serving_package() -> None:
    installed = (*healthy.VENV.distributions, Distribution(name="vllm", version="0.11.0"))
    [finding] = distribution_extra(venv=replace(healthy.VENV, distributions=installed), lock=healthy.LOCK)
    assert finding.message == "vllm 0.11.0 is installed and not locked"
    assert "packages in a venv of their own" in distribution_extra.fix


def test_fires_for_a_working_copy() -> None:
    installed = (*healthy.VENV.distributions, Distribution(name="mine", version="0.1", origin="editable"))
    [finding] = distribution_extra(venv=replace(healthy.VENV, distributions=installed), lock=healthy.LOCK)
    assert finding.message == "mine 0.1 is installed (editable) and not locked"


def test_fires_for_a_folder_without_a_version() -> None:
    installed = (*healthy.VENV.distributions, Distribution(name="mine", version="(none)"))
    [finding] = distribution_extra(venv=replace(healthy.VENV, distributions=installed), lock=healthy.LOCK)
    assert finding.message == "mine (none) is installed and not locked"


def test_quiet_on_the_healthy_machine() -> None:
    assert distribution_extra(venv=healthy.VENV, lock=healthy.LOCK) == []


def test_skipped_without_a_venv() -> None:
    with pytest.raises(Skipped, match="no venv was built"):
        distribution_extra(venv=healthy.ABSENT_VENV, lock=healthy.LOCK)
