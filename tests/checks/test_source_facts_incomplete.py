"""source-facts-incomplete: nothing vouches for the source."""

from dataclasses import replace

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


def test_fires_with_gits_own_remedy_for_the_folder_of_somebody_else() -> None:
    text = "git refuses /p, which belongs to another user; `git config --global --add safe.directory '/p q'`"
    [finding] = facts_incomplete(repo=Unknown(code="ownership", text=text))
    assert finding.fix == "If you trust its files: `git config --global --add safe.directory '/p q'`."


def test_fires_with_the_remedy_for_an_old_git() -> None:
    [finding] = facts_incomplete(repo=Unknown(code="too-old", text="git 1.8 is older than 2.15"))
    assert finding.fix == "Install a newer git."


def test_fires_where_only_the_state_around_the_files_is_unknown() -> None:
    lost = Unknown(code="failed", text="git ended with 128: index file corrupt")
    [finding] = facts_incomplete(repo=replace(healthy.REPO, checkout=lost))
    assert finding.about == ("repo.checkout",)


def test_quiet_on_the_healthy_machine() -> None:
    assert facts_incomplete(repo=healthy.REPO) == []
