"""venv-distribution-extra: somebody installed into the training venv."""

from dataclasses import replace

import pytest

from checks.venv.distribution_extra import distribution_extra
from dflash_env.check import Skipped
from dflash_env.facts import Distribution, NotApplicable, Venv
from tests import healthy


def test_fires_for_a_serving_package() -> None:
    installed = (*healthy.VENV.distributions, Distribution(name="vllm", version="0.11.0"))
    [finding] = distribution_extra(venv=replace(healthy.VENV, distributions=installed), lock=healthy.LOCK)
    assert finding.message == "vllm 0.11.0 is installed and not locked"


def test_fires_for_a_folder_without_a_name() -> None:
    installed = (*healthy.VENV.distributions, Distribution(name="(nameless)", version="(none)"))
    [finding] = distribution_extra(venv=replace(healthy.VENV, distributions=installed), lock=healthy.LOCK)
    assert "(nameless)" in finding.message


def test_quiet_on_the_healthy_machine() -> None:
    assert distribution_extra(venv=healthy.VENV, lock=healthy.LOCK) == []


def test_skipped_without_a_venv() -> None:
    none = NotApplicable(why="no venv was built")
    with pytest.raises(Skipped, match="no venv was built"):
        distribution_extra(venv=Venv(path=none, seal=none, distributions=()), lock=healthy.LOCK)
