"""venv-file-changed: an edit in site-packages, however it is hidden."""

from dataclasses import replace

import pytest

from checks.venv.file_changed import file_changed
from dflash_env import bundle
from dflash_env.check import Outcome, Skipped, examine
from dflash_env.facts import Collision, Distribution, Drift, Interpreter, Venv
from tests import healthy

SITE = "lib/python3.11/site-packages"
EDIT = Drift(path=f"{SITE}/torch/_inductor/config.py", how="changed", owner="torch")


def drifted(*drift: Drift) -> Venv:
    return replace(healthy.VENV, drift=drift, tree_digest="0" * 64)


def test_fires_for_an_edit() -> None:
    [finding] = file_changed(venv=drifted(EDIT), lock=healthy.LOCK)
    assert finding.message == f"{SITE}/torch/_inductor/config.py (torch) is not what was sealed"


def test_fires_for_a_file_of_no_package() -> None:
    setting = Drift(path="pyvenv.cfg", how="changed", owner="")
    [finding] = file_changed(venv=drifted(setting), lock=healthy.LOCK)
    assert finding.message == "pyvenv.cfg (of no package) is not what was sealed"


def test_fires_with_what_an_opened_venv_lets_in() -> None:
    setting = Drift(path="pyvenv.cfg", how="changed", owner="")
    opened = replace(drifted(setting, EDIT), system_packages=True)
    changed, edited = file_changed(venv=opened, lock=healthy.LOCK)
    assert changed.message.endswith("not what was sealed; it lets the system's and the user's own packages in")
    assert edited.message.endswith("not what was sealed")


def test_fires_where_one_of_its_owners_is_as_locked() -> None:
    shared = replace(EDIT, owner="torch, gone")
    assert len(file_changed(venv=drifted(shared), lock=healthy.LOCK)) == 1


def test_fires_for_a_link_to_the_same_interpreter() -> None:
    moved = Drift(path="bin/python", how="changed", owner="")
    assert len(file_changed(venv=drifted(moved), lock=healthy.LOCK)) == 1


def test_fires_for_files_of_a_package_that_seems_installed_twice() -> None:
    double = (*healthy.VENV.distributions, Distribution(name="torch", version="2.9.0"))
    assert len(file_changed(venv=replace(drifted(EDIT), distributions=double), lock=healthy.LOCK)) == 1


def test_an_edit_is_one_finding() -> None:
    results = examine(bundle.checks(), replace(healthy.FACTS, venv=drifted(EDIT)))
    assert [result.check for result in results if result.outcome is not Outcome.PASSED] == ["venv-file-changed"]


def test_quiet_on_the_healthy_machine() -> None:
    assert file_changed(venv=healthy.VENV, lock=healthy.LOCK) == []


def test_quiet_about_other_drift() -> None:
    others = (replace(EDIT, how="missing"), replace(EDIT, how="unowned"))
    assert file_changed(venv=drifted(*others), lock=healthy.LOCK) == []


def test_quiet_about_a_package_of_another_version() -> None:
    swapped = (replace(healthy.VENV.distributions[0], version="2.11.0"), healthy.VENV.distributions[1])
    assert file_changed(venv=replace(drifted(EDIT), distributions=swapped), lock=healthy.LOCK) == []


def test_quiet_about_a_working_copy_in_its_place() -> None:
    working = (replace(healthy.VENV.distributions[0], origin="editable"), healthy.VENV.distributions[1])
    assert file_changed(venv=replace(drifted(EDIT), distributions=working), lock=healthy.LOCK) == []


def test_quiet_about_a_contested_path() -> None:
    both = Collision(path=EDIT.path, owners=("torch", "vllm"), on_disk="vllm")
    assert file_changed(venv=replace(drifted(EDIT), collisions=(both,)), lock=healthy.LOCK) == []


def test_quiet_about_a_link_that_leads_to_nothing() -> None:
    assert file_changed(venv=replace(drifted(EDIT), dangling=(EDIT.path,)), lock=healthy.LOCK) == []


def test_quiet_about_the_links_to_a_replaced_interpreter() -> None:
    other = Interpreter(path="/opt/python", version="3.11.7", sha256="0" * 64)
    moved = Drift(path="bin/python", how="changed", owner="")
    assert file_changed(venv=replace(drifted(moved), interpreter=other), lock=healthy.LOCK) == []


def test_skipped_without_a_venv() -> None:
    with pytest.raises(Skipped, match="no venv was built"):
        file_changed(venv=healthy.ABSENT_VENV, lock=healthy.LOCK)
