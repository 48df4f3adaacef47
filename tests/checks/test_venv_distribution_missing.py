"""venv-distribution-missing: a locked package is gone."""

from dataclasses import replace

import pytest

from checks.venv.distribution_missing import distribution_missing
from dflash_env.check import Skipped
from tests import healthy


def test_fires_when_transformers_was_uninstalled() -> None:
    only_torch = replace(healthy.VENV, distributions=healthy.VENV.distributions[:1])
    [finding] = distribution_missing(venv=only_torch, lock=healthy.LOCK)
    assert finding.message == "transformers 5.24.0 is locked and not installed"


def test_quiet_on_the_healthy_machine() -> None:
    assert distribution_missing(venv=healthy.VENV, lock=healthy.LOCK) == []


def test_skipped_without_a_venv() -> None:
    with pytest.raises(Skipped, match="no venv was built"):
        distribution_missing(venv=healthy.ABSENT_VENV, lock=healthy.LOCK)
