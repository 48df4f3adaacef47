"""source-operation-unfinished: a merge, rebase or bisect is under way."""

from dataclasses import replace

import pytest

from checks.source.operation_unfinished import operation_unfinished
from dflash_env.check import Skipped
from dflash_env.facts import NotApplicable, Unknown
from tests import healthy


def test_fires_with_the_way_back() -> None:
    [finding] = operation_unfinished(
        repo=replace(healthy.REPO, checkout=replace(healthy.CHECKOUT, operation="cherry-pick"))
    )
    assert finding.message == "cherry-pick is in progress"
    assert "`git cherry-pick --abort`" in finding.fix


def test_fires_with_the_way_back_of_a_bisect_which_has_another_word() -> None:
    [finding] = operation_unfinished(repo=replace(healthy.REPO, checkout=replace(healthy.CHECKOUT, operation="bisect")))
    assert "`git bisect reset`" in finding.fix


def test_quiet_on_the_healthy_machine() -> None:
    assert operation_unfinished(repo=healthy.REPO) == []


def test_skipped_when_nobody_could_look() -> None:
    lost = Unknown(code="failed", text="git ended with 128")
    with pytest.raises(Skipped, match="ended with 128"):
        operation_unfinished(repo=replace(healthy.REPO, checkout=lost))


def test_skipped_in_an_installed_wheel() -> None:
    with pytest.raises(Skipped, match="no clone"):
        operation_unfinished(repo=replace(healthy.REPO, checkout=NotApplicable(why="an installed wheel is no clone")))
