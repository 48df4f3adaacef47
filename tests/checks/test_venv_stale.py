"""venv-stale: the lock changed after the venv was built."""

from dataclasses import replace

import pytest

from checks.venv.stale import stale
from dflash_env.check import Skipped
from dflash_env.facts import NotApplicable
from tests import healthy


def test_fires_when_the_lock_moved_on() -> None:
    [finding] = stale(venv=healthy.VENV, lock=replace(healthy.LOCK, digest="e" * 64))
    assert finding.message == ("built 2026-11-30T20:00:00Z from cu12-cp311 dddddddddddd; the lock is eeeeeeeeeeee")


def test_quiet_on_the_healthy_machine() -> None:
    assert stale(venv=healthy.VENV, lock=healthy.LOCK) == []


def test_quiet_about_another_python_which_is_told_elsewhere() -> None:
    assert stale(venv=healthy.VENV, lock=replace(healthy.LOCK, digest="e" * 64, python="3.12")) == []


def test_skipped_without_a_seal() -> None:
    unsealed = replace(healthy.VENV, seal=NotApplicable(why="the build was not finished"))
    with pytest.raises(Skipped, match="not finished"):
        stale(venv=unsealed, lock=healthy.LOCK)
