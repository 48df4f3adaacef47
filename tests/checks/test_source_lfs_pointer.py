"""source-lfs-pointer: a pointer of git LFS stands where its content is expected."""

from dataclasses import replace

from checks.source.lfs_pointer import lfs_pointer
from dflash_env.facts import Change
from tests import healthy

CHANGE = Change(path="trainer/loop.py", how="pointer", expected="5fe2a30c" * 5)


def test_fires_for_the_file() -> None:
    [finding] = lfs_pointer(repo=replace(healthy.REPO, changes=(CHANGE,)))
    assert finding.message == "trainer/loop.py holds a pointer and not the content"


def test_quiet_about_an_edit() -> None:
    assert lfs_pointer(repo=replace(healthy.REPO, changes=(replace(CHANGE, how="modified"),))) == []


def test_quiet_on_the_healthy_machine() -> None:
    assert lfs_pointer(repo=healthy.REPO) == []
