"""source-file-changed: a tracked file is not the committed one."""

from dataclasses import replace

from checks.source.file_changed import file_changed
from dflash_env.facts import Change
from tests import healthy

EDIT = Change(path="trainer/loop.py", how="modified", expected="0123456789abcdef" * 2)


def test_fires_for_an_edit() -> None:
    [finding] = file_changed(repo=replace(healthy.REPO, changes=(EDIT,)))
    assert finding.message == "trainer/loop.py is modified; git 1a2b3c4d5e6f has 0123456789ab"


def test_fires_for_each_file() -> None:
    gone = replace(EDIT, path="trainer/data.py", how="deleted")
    findings = file_changed(repo=replace(healthy.REPO, changes=(EDIT, gone)))
    assert [finding.message.split(";")[0] for finding in findings] == [
        "trainer/loop.py is modified",
        "trainer/data.py is deleted",
    ]


def test_fires_in_an_installed_wheel_with_another_remedy() -> None:
    [finding] = file_changed(repo=replace(healthy.REPO, vouched_by="manifest", changes=(EDIT,)))
    assert finding.fix.startswith("Reinstall")


def test_quiet_about_what_other_checks_tell() -> None:
    ways = ("unmerged", "sparse", "pointer", "filtered")
    assert file_changed(repo=replace(healthy.REPO, changes=tuple(replace(EDIT, how=how) for how in ways))) == []


def test_quiet_on_the_healthy_machine() -> None:
    assert file_changed(repo=healthy.REPO) == []
