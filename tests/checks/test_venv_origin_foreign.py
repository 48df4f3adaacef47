"""venv-origin-foreign: the locked name and version, from somewhere else."""

from dataclasses import replace

import pytest

from checks.venv.origin_foreign import origin_foreign
from dflash_env.check import Skipped
from dflash_env.facts import Distribution, Venv
from tests import healthy


def with_first(**changed: str) -> Venv:
    torch, *others = healthy.VENV.distributions
    return replace(healthy.VENV, distributions=(replace(torch, **changed), *others))


def test_fires_for_a_working_copy() -> None:
    [finding] = origin_foreign(venv=with_first(origin="editable"), lock=healthy.LOCK)
    assert finding.message.startswith("torch 2.10.0 is an editable install")


def test_fires_for_a_url() -> None:
    [finding] = origin_foreign(venv=with_first(origin="url"), lock=healthy.LOCK)
    assert finding.message == "torch 2.10.0 was installed from a URL or a file, not from the lock"


def test_quiet_on_the_healthy_machine() -> None:
    assert origin_foreign(venv=healthy.VENV, lock=healthy.LOCK) == []


def test_quiet_about_what_is_told_as_extra_or_of_another_version() -> None:
    extra = Distribution(name="mine", version="1.0", origin="editable")
    venv = with_first(origin="editable", version="2.11.0")
    assert origin_foreign(venv=replace(venv, distributions=(*venv.distributions, extra)), lock=healthy.LOCK) == []


def test_skipped_without_a_venv() -> None:
    with pytest.raises(Skipped, match="no venv was built"):
        origin_foreign(venv=healthy.ABSENT_VENV, lock=healthy.LOCK)
