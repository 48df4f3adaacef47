"""source-file-filtered: a filter program stands between a file and HEAD."""

from dataclasses import replace

from checks.source.file_filtered import file_filtered
from dflash_env.facts import Change
from tests import healthy

CHANGE = Change(path="trainer/loop.py", how="filtered", expected="5fe2a30c" * 5, filter="crypt")


def test_fires_for_the_file() -> None:
    [finding] = file_filtered(repo=replace(healthy.REPO, changes=(CHANGE,)))
    assert finding.message == "trainer/loop.py is not the committed content before the filter 'crypt'"


def test_quiet_about_an_edit() -> None:
    assert file_filtered(repo=replace(healthy.REPO, changes=(replace(CHANGE, how="modified"),))) == []


def test_quiet_on_the_healthy_machine() -> None:
    assert file_filtered(repo=healthy.REPO) == []
