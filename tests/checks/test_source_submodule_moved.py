"""source-submodule-moved: a submodule is off its commit."""

from dataclasses import replace

import pytest

from checks.source.submodule_moved import submodule_moved
from dflash_env.check import Skipped
from dflash_env.facts import NotApplicable, Repo, Submodule, Unknown
from tests import healthy

SUBMODULE = Submodule(path="trainer/sub", expected="1" * 40, found="1" * 40)


def with_submodule(found: str) -> Repo:
    checkout = replace(healthy.CHECKOUT, submodules=(replace(SUBMODULE, found=found),))
    return replace(healthy.REPO, checkout=checkout)


def test_fires_with_both_commits() -> None:
    [finding] = submodule_moved(repo=with_submodule("2" * 40))
    assert finding.message == "trainer/sub is at 222222222222; HEAD has 111111111111"


def test_fires_for_an_empty_folder() -> None:
    [finding] = submodule_moved(repo=with_submodule(""))
    assert finding.message == "trainer/sub is not checked out; HEAD has 111111111111"


def test_quiet_on_its_commit() -> None:
    assert submodule_moved(repo=with_submodule("1" * 40)) == []


def test_quiet_on_the_healthy_machine() -> None:
    assert submodule_moved(repo=healthy.REPO) == []


def test_skipped_when_nobody_could_look() -> None:
    lost = Unknown(code="failed", text="git ended with 128")
    with pytest.raises(Skipped, match="ended with 128"):
        submodule_moved(repo=replace(healthy.REPO, checkout=lost))


def test_skipped_in_an_installed_wheel() -> None:
    with pytest.raises(Skipped, match="no clone"):
        submodule_moved(repo=replace(healthy.REPO, checkout=NotApplicable(why="an installed wheel is no clone")))
