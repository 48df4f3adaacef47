"""source-index-differs: something is staged that neither HEAD nor the files hold."""

from dataclasses import replace

import pytest

from checks.source.index_differs import index_differs
from dflash_env.check import Skipped
from dflash_env.facts import NotApplicable, Unknown
from tests import healthy


def test_fires_for_each_path() -> None:
    checkout = replace(healthy.CHECKOUT, staged=("trainer/data.py", "trainer/loop.py"))
    findings = index_differs(repo=replace(healthy.REPO, checkout=checkout))
    assert [finding.message.split()[0] for finding in findings] == ["trainer/data.py", "trainer/loop.py"]


def test_quiet_on_the_healthy_machine() -> None:
    assert index_differs(repo=healthy.REPO) == []


def test_skipped_when_nobody_could_look() -> None:
    lost = Unknown(code="failed", text="git ended with 128")
    with pytest.raises(Skipped, match="ended with 128"):
        index_differs(repo=replace(healthy.REPO, checkout=lost))


def test_skipped_in_an_installed_wheel() -> None:
    with pytest.raises(Skipped, match="no clone"):
        index_differs(repo=replace(healthy.REPO, checkout=NotApplicable(why="an installed wheel is no clone")))
