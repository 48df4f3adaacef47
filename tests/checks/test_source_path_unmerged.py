"""source-path-unmerged: a path has more than one version in the index."""

from dataclasses import replace

import pytest

from checks.source.path_unmerged import path_unmerged
from dflash_env.check import Skipped
from dflash_env.facts import NotApplicable, Unknown
from tests import healthy


def test_fires_for_each_path() -> None:
    checkout = replace(healthy.CHECKOUT, unmerged=("trainer/data.py", "trainer/loop.py"))
    findings = path_unmerged(repo=replace(healthy.REPO, checkout=checkout))
    assert [finding.message for finding in findings] == ["trainer/data.py is unmerged", "trainer/loop.py is unmerged"]


def test_quiet_on_the_healthy_machine() -> None:
    assert path_unmerged(repo=healthy.REPO) == []


def test_skipped_when_nobody_could_look() -> None:
    lost = Unknown(code="failed", text="git ended with 128")
    with pytest.raises(Skipped, match="ended with 128"):
        path_unmerged(repo=replace(healthy.REPO, checkout=lost))


def test_skipped_in_an_installed_wheel() -> None:
    with pytest.raises(Skipped, match="no clone"):
        path_unmerged(repo=replace(healthy.REPO, checkout=NotApplicable(why="an installed wheel is no clone")))
