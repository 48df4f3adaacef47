"""source-head-detached: HEAD is on no branch."""

from dataclasses import replace

import pytest

from checks.source.head_detached import head_detached
from dflash_env.check import Skipped
from dflash_env.facts import NotApplicable, Unknown
from tests import healthy

DETACHED = replace(healthy.CHECKOUT, branch="")


def test_fires_with_the_commit() -> None:
    [finding] = head_detached(repo=replace(healthy.REPO, checkout=DETACHED))
    assert finding.message == "HEAD is detached at 1a2b3c4d5e6f"


def test_quiet_in_a_rebase_which_detaches_it_itself() -> None:
    assert head_detached(repo=replace(healthy.REPO, checkout=replace(DETACHED, operation="rebase"))) == []


def test_quiet_on_the_healthy_machine() -> None:
    assert head_detached(repo=healthy.REPO) == []


def test_skipped_when_nobody_could_look() -> None:
    lost = Unknown(code="failed", text="git ended with 128")
    with pytest.raises(Skipped, match="ended with 128"):
        head_detached(repo=replace(healthy.REPO, checkout=lost))


def test_skipped_in_an_installed_wheel() -> None:
    with pytest.raises(Skipped, match="no clone"):
        head_detached(repo=replace(healthy.REPO, checkout=NotApplicable(why="an installed wheel is no clone")))
