"""source-facts-incomplete: nothing vouches for the source."""

from checks.source.facts_incomplete import facts_incomplete
from dflash_env.facts import Unknown
from tests import healthy


def test_fires_outside_a_repository() -> None:
    [finding] = facts_incomplete(repo=Unknown(code="failed", text="git ended with 128: fatal: not a git repository"))
    assert finding.about == ("repo",)
    assert "not a git repository" in finding.message


def test_fires_with_the_remedy_for_a_repository_without_a_commit() -> None:
    [finding] = facts_incomplete(repo=Unknown(code="no-commit", text="the repository /p has no commit yet"))
    assert "git commit" in finding.fix


def test_fires_with_the_remedy_where_git_is_not_installed() -> None:
    [finding] = facts_incomplete(repo=Unknown(code="missing", text="git cannot be started"))
    assert finding.fix == "Install git."


def test_quiet_on_the_healthy_machine() -> None:
    assert facts_incomplete(repo=healthy.REPO) == []
