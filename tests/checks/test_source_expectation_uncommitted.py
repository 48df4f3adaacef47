"""source-expectation-uncommitted: what the gate judges by must itself be committed."""

from dataclasses import replace

from checks.source.expectation_uncommitted import expectation_uncommitted
from tests import healthy

MINE = "/p/lockfiles/mine.txt is in no commit"


def test_fires_with_the_file_and_the_reason() -> None:
    [finding] = expectation_uncommitted(repo=replace(healthy.REPO, uncommitted=(MINE,)))
    assert finding.message == MINE


def test_fires_for_each_file() -> None:
    edited = "/p/lockfiles/machines/mine.toml is modified against HEAD of its repository"
    findings = expectation_uncommitted(repo=replace(healthy.REPO, uncommitted=(MINE, edited)))
    assert [finding.message for finding in findings] == [MINE, edited]


def test_fires_in_an_installed_wheel_too() -> None:
    [finding] = expectation_uncommitted(repo=replace(healthy.REPO, vouched_by="manifest", uncommitted=(MINE,)))
    assert finding.message == MINE


def test_quiet_on_the_healthy_machine() -> None:
    assert expectation_uncommitted(repo=healthy.REPO) == []
