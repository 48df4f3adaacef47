"""venv-not-built: there is no venv, or one whose build was not finished."""

from dataclasses import replace

from checks.venv.not_built import not_built
from dflash_env.facts import NotApplicable, Venv
from tests import healthy


def test_fires_once_where_nothing_was_built() -> None:
    none = NotApplicable(why="no venv was built for cu12-cp311")
    [finding] = not_built(venv=Venv(path=none, seal=none, distributions=()))
    assert finding.message == "no venv was built for cu12-cp311"


def test_fires_when_the_seal_is_missing() -> None:
    unsealed = NotApplicable(why="/data/x.seal.json does not exist: the build was not finished")
    [finding] = not_built(venv=replace(healthy.VENV, seal=unsealed))
    assert "the build was not finished" in finding.message


def test_quiet_on_the_healthy_machine() -> None:
    assert not_built(venv=healthy.VENV) == []
