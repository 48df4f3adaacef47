"""source-path-hidden: git was told not to see edits of a path."""

from dataclasses import replace

import pytest

from checks.source.path_hidden import path_hidden
from dflash_env.check import Skipped
from dflash_env.facts import Hidden, NotApplicable, Unknown
from tests import healthy


def test_fires_with_the_line_that_takes_the_flag_away() -> None:
    checkout = replace(healthy.CHECKOUT, hidden=(Hidden(path="trainer/loop.py", flag="assume-unchanged"),))
    [finding] = path_hidden(repo=replace(healthy.REPO, checkout=checkout))
    assert finding.message == "trainer/loop.py is assume-unchanged"
    assert finding.fix == "`git update-index --no-assume-unchanged -- trainer/loop.py`."


def test_fires_with_a_path_that_a_shell_takes_as_one_word() -> None:
    checkout = replace(healthy.CHECKOUT, hidden=(Hidden(path="trainer/it's a.py", flag="skip-worktree"),))
    [finding] = path_hidden(repo=replace(healthy.REPO, checkout=checkout))
    assert finding.fix == "`git update-index --no-skip-worktree -- 'trainer/it'\\''s a.py'`."


def test_quiet_on_the_healthy_machine() -> None:
    assert path_hidden(repo=healthy.REPO) == []


def test_skipped_when_nobody_could_look() -> None:
    lost = Unknown(code="failed", text="git ended with 128")
    with pytest.raises(Skipped, match="ended with 128"):
        path_hidden(repo=replace(healthy.REPO, checkout=lost))


def test_skipped_in_an_installed_wheel() -> None:
    with pytest.raises(Skipped, match="no clone"):
        path_hidden(repo=replace(healthy.REPO, checkout=NotApplicable(why="an installed wheel is no clone")))
