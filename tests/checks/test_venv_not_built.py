"""venv-not-built: there is no venv."""

from dataclasses import replace

from checks.venv.not_built import not_built
from dflash_env import bundle
from dflash_env.check import Outcome, examine
from dflash_env.facts import NotApplicable
from tests import healthy

NONE = NotApplicable(why="no venv was built for cu12-cp311")


def test_fires_where_nothing_was_built() -> None:
    [finding] = not_built(venv=healthy.ABSENT_VENV)
    assert finding.message == NONE.why


def test_quiet_on_the_healthy_machine() -> None:
    assert not_built(venv=healthy.VENV) == []


def test_quiet_about_a_venv_without_a_seal() -> None:
    # venv-unsealed tells that.
    unsealed = NotApplicable(why="/data/x.seal.json does not exist: the build was not finished")
    assert not_built(venv=replace(healthy.VENV, seal=unsealed)) == []


def test_where_nothing_was_built_no_other_check_of_the_venv_speaks() -> None:
    results = examine(bundle.checks(), replace(healthy.FACTS, venv=healthy.ABSENT_VENV))
    outcomes = {result.check: result.outcome for result in results if result.family == "venv"}
    assert outcomes.pop("venv-not-built") is Outcome.FAILED
    assert outcomes.pop("venv-facts-incomplete") is Outcome.PASSED
    assert set(outcomes.values()) == {Outcome.SKIPPED}
