"""venv-hard-linked: an edit elsewhere is an edit here."""

from dataclasses import replace

import pytest

from checks.venv.hard_linked import hard_linked
from dflash_env.check import Skipped
from dflash_env.facts import Distribution
from tests import healthy


def test_fires_with_how_many_and_how_to_find_them() -> None:
    [finding] = hard_linked(venv=replace(healthy.VENV, hard_linked=24_971), lock=healthy.LOCK)
    assert finding.message == "24971 files have a second name outside of what was built"
    assert f"`find {healthy.VENV.path} -type f -links +1`" in finding.fix


def test_fires_for_one() -> None:
    [finding] = hard_linked(venv=replace(healthy.VENV, hard_linked=1), lock=healthy.LOCK)
    assert finding.message.startswith("1 file has")


def test_quiet_on_the_healthy_machine() -> None:
    assert hard_linked(venv=healthy.VENV, lock=healthy.LOCK) == []


def test_quiet_about_what_came_with_a_package_that_is_told_already() -> None:
    installed = (*healthy.VENV.distributions, Distribution(name="vllm", version="0.11.0"))
    venv = replace(healthy.VENV, distributions=installed, hard_linked=9)
    assert hard_linked(venv=venv, lock=healthy.LOCK) == []


def test_skipped_without_a_venv() -> None:
    with pytest.raises(Skipped, match="no venv was built"):
        hard_linked(venv=healthy.ABSENT_VENV, lock=healthy.LOCK)
