"""All sections together, on this machine: everything is read, nothing secret, and no exception leaves."""

import json
from pathlib import Path

import pytest

from dflash_env import bundle, codec, config
from dflash_env.collect import collect, environ
from dflash_env.facts import Environ, Facts, Host, Lock, Unknown


def taken(state: Path) -> Facts:
    settings = config.load(bundle.root())
    return collect(config.Config(project=settings.project, state=state, table=settings.table), settings.profile("tiny"))


def test_this_machine_is_read_and_its_secrets_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hunter2")
    monkeypatch.setenv("PYTHONPATH", "/opt/left-over")
    found = taken(tmp_path)
    text = codec.document(found)
    assert isinstance(found.host, Host)
    assert "/opt/left-over" in text
    assert "hunter2" not in text
    assert codec.decode(Facts, codec.open_document(json.loads(text))) == found


def test_collecting_makes_nothing(tmp_path: Path) -> None:
    taken(tmp_path / "state")
    assert list(tmp_path.iterdir()) == []


def test_a_collector_that_breaks_is_an_unknown_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(lock: Lock) -> Environ:
        raise RuntimeError("a bug")

    monkeypatch.setattr(environ, "collect", broken)
    found = taken(tmp_path)
    assert found.environ == Unknown(code="crashed", text="RuntimeError: a bug")
    assert isinstance(found.host, Host)
