"""venv-requirement-unmet: the lock agrees with what is installed, and a package lacks what it needs."""

from dataclasses import replace

import pytest

from checks.venv.requirement_unmet import requirement_unmet
from dflash_env.check import Skipped
from dflash_env.facts import Distribution, Unmet, Venv
from tests import healthy


def without(requirement: str, found: str = "", distribution: str = "transformers") -> Venv:
    lack = Unmet(distribution=distribution, requirement=requirement, found=found)
    return replace(healthy.VENV, unmet=(lack,))


def test_fires_for_a_package_that_the_lock_forgot() -> None:
    [finding] = requirement_unmet(venv=without("Safe_Tensors>=0.4"), lock=healthy.LOCK)
    assert finding.message == "transformers requires Safe_Tensors>=0.4; nothing installed is that"


def test_fires_for_a_version_that_the_lock_forced() -> None:
    [finding] = requirement_unmet(venv=without("torch>=2.11", "2.10.0"), lock=healthy.LOCK)
    assert finding.message == "transformers requires torch>=2.11; version 2.10.0 is installed"


def test_quiet_on_the_healthy_machine() -> None:
    assert requirement_unmet(venv=healthy.VENV, lock=healthy.LOCK) == []


def test_quiet_about_what_is_missing_against_the_lock() -> None:
    # venv-distribution-missing and -version tell that.
    lacking = replace(without("Torch>=2.10"), distributions=healthy.VENV.distributions[1:])
    assert requirement_unmet(venv=lacking, lock=healthy.LOCK) == []


def test_quiet_about_the_needs_of_an_extra_package() -> None:
    extra = Distribution(name="vllm", version="0.11.0")
    venv = replace(without("ray", distribution="vllm"), distributions=(*healthy.VENV.distributions, extra))
    assert requirement_unmet(venv=venv, lock=healthy.LOCK) == []


def test_skipped_without_a_venv() -> None:
    with pytest.raises(Skipped, match="no venv was built"):
        requirement_unmet(venv=healthy.ABSENT_VENV, lock=healthy.LOCK)
