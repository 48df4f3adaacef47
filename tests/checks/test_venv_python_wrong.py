"""venv-python-wrong: the venv is of another Python than the lock."""

from dataclasses import replace

import pytest

from checks.venv.python_wrong import python_wrong
from dflash_env.check import Skipped
from tests import healthy


def test_fires_for_another_minor() -> None:
    twelve = replace(healthy.VENV, seal=replace(healthy.SEAL, python="3.12.3", lock="cu12-cp312"))
    [finding] = python_wrong(venv=twelve, lock=healthy.LOCK)
    assert finding.message == "cu12-cp312 was built with Python 3.12.3; cu12-cp311 is for Python 3.11"


def test_fires_for_a_minor_that_begins_alike() -> None:
    one = replace(healthy.VENV, seal=replace(healthy.SEAL, python="3.1.4"))
    assert len(python_wrong(venv=one, lock=healthy.LOCK)) == 1


def test_quiet_on_the_healthy_machine() -> None:
    assert python_wrong(venv=healthy.VENV, lock=healthy.LOCK) == []


def test_quiet_about_another_patch_release() -> None:
    patched = replace(healthy.VENV, seal=replace(healthy.SEAL, python="3.11.14"))
    assert python_wrong(venv=patched, lock=healthy.LOCK) == []


def test_skipped_without_a_venv() -> None:
    with pytest.raises(Skipped, match="no venv was built"):
        python_wrong(venv=healthy.ABSENT_VENV, lock=healthy.LOCK)
