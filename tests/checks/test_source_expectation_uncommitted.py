"""`source-expectation-uncommitted`: what the gate judges by must itself be committed."""

from dataclasses import replace

from checks.source.expectation_uncommitted import expectation_uncommitted
from tests.healthy import REPO


def test_fires_with_the_file_and_the_reason() -> None:
    [finding] = expectation_uncommitted(replace(REPO, uncommitted=("/p/lockfiles/mine.txt is in no commit",)))
    assert "/p/lockfiles/mine.txt is in no commit" in finding.message


def test_quiet_when_every_expectation_is_committed() -> None:
    assert not expectation_uncommitted(REPO)
