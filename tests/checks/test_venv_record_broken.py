"""venv-record-broken: nobody can tell which files are a distribution's."""

from dataclasses import replace

import pytest

from checks.venv.record_broken import record_broken
from dflash_env import bundle
from dflash_env.check import Outcome, Skipped, examine
from dflash_env.facts import Distribution, Drift
from tests import healthy

BROKEN = replace(healthy.VENV, broken_records=("torch",))


def test_fires_for_a_locked_distribution() -> None:
    [finding] = record_broken(venv=BROKEN, lock=healthy.LOCK)
    assert finding.message == "the RECORD of torch is missing or is none"


def test_quiet_on_the_healthy_machine() -> None:
    assert record_broken(venv=healthy.VENV, lock=healthy.LOCK) == []


def test_quiet_about_an_extra_distribution() -> None:
    extra = (*healthy.VENV.distributions, Distribution(name="vllm", version="0.11.0"))
    venv = replace(healthy.VENV, distributions=extra, broken_records=("vllm",))
    assert record_broken(venv=venv, lock=healthy.LOCK) == []


@pytest.mark.parametrize("how", ["missing", "changed"])
def test_one_record_is_one_finding(how: str) -> None:
    record = Drift(path="lib/python3.11/site-packages/torch-2.10.0.dist-info/RECORD", how=how, owner="torch")
    results = examine(bundle.checks(), replace(healthy.FACTS, venv=replace(BROKEN, drift=(record,))))
    assert [result.check for result in results if result.outcome is Outcome.FAILED] == ["venv-record-broken"]


def test_skipped_without_a_venv() -> None:
    with pytest.raises(Skipped, match="no venv was built"):
        record_broken(venv=healthy.ABSENT_VENV, lock=healthy.LOCK)
