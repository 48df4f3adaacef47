"""venv-unsealed: half a venv, or one that lost what vouches for it."""

from dataclasses import replace

import pytest

from checks.venv.unsealed import unsealed
from dflash_env.check import Skipped
from dflash_env.facts import NotApplicable
from tests import healthy


def test_fires_when_the_seal_is_missing() -> None:
    gone = NotApplicable(why="/data/x.seal.json does not exist: the build was not finished")
    [finding] = unsealed(venv=replace(healthy.VENV, seal=gone))
    assert finding.message == gone.why


def test_quiet_on_the_healthy_machine() -> None:
    assert unsealed(venv=healthy.VENV) == []


def test_skipped_without_a_venv() -> None:
    with pytest.raises(Skipped, match="no venv was built"):
        unsealed(venv=healthy.ABSENT_VENV)
