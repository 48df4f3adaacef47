"""venv-digest-wrong: sealed as it is, and not what the lock was made from."""

from dataclasses import replace

import pytest

from checks.venv.digest_wrong import digest_wrong
from dflash_env.check import Skipped
from dflash_env.facts import Drift
from tests import healthy

POISONED = replace(healthy.VENV, tree_digest="0" * 64, packages={"torch": "9" * 64, "transformers": "2" * 64})


def test_fires_with_the_packages_that_differ() -> None:
    [finding] = digest_wrong(venv=POISONED, lock=healthy.LOCK)
    assert finding.message == "torch: the tree is 000000000000; the lock states ffffffffffff"


def test_fires_for_a_package_without_files() -> None:
    [finding] = digest_wrong(venv=replace(POISONED, packages={}), lock=healthy.LOCK)
    assert finding.message.startswith("torch, transformers: ")


def test_fires_for_files_of_no_package() -> None:
    [finding] = digest_wrong(venv=replace(healthy.VENV, tree_digest="0" * 64), lock=healthy.LOCK)
    assert finding.message.startswith("files of no package: ")


def test_quiet_on_the_healthy_machine() -> None:
    assert digest_wrong(venv=healthy.VENV, lock=healthy.LOCK) == []


def test_quiet_while_the_lock_states_none() -> None:
    assert digest_wrong(venv=POISONED, lock=replace(healthy.LOCK, tree_digest="pending")) == []


def test_quiet_about_what_drifted_since_the_seal() -> None:
    drift = (Drift(path="a", how="changed", owner="torch"),)
    assert digest_wrong(venv=replace(POISONED, drift=drift), lock=healthy.LOCK) == []


def test_quiet_about_a_venv_of_another_lock() -> None:
    assert digest_wrong(venv=POISONED, lock=replace(healthy.LOCK, digest="e" * 64)) == []


def test_skipped_without_a_venv() -> None:
    with pytest.raises(Skipped, match="no venv was built"):
        digest_wrong(venv=healthy.ABSENT_VENV, lock=healthy.LOCK)
