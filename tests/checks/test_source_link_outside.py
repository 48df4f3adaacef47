"""source-link-outside: a committed link leads out of the repository."""

from dataclasses import replace

from checks.source.link_outside import link_outside
from tests import healthy


def test_fires_for_each_link() -> None:
    [finding] = link_outside(repo=replace(healthy.REPO, links=("trainer/data → /mnt/data",)))
    assert finding.message == "trainer/data → /mnt/data is outside the repository"


def test_quiet_on_the_healthy_machine() -> None:
    assert link_outside(repo=healthy.REPO) == []
