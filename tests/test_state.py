"""Where the tool keeps things."""

from pathlib import Path

import pytest

from dflash_env.state import State, uv_cache


def test_a_seal_stands_beside_its_venv() -> None:
    state = State(Path("/s"))
    assert state.seal(state.venv("abc")) == Path("/s/venvs/abc.seal.json")


def test_the_uv_cache_is_our_own_and_shared_by_clones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    assert uv_cache() == Path("/elsewhere/dflash-env/uv")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative paths are to be ignored, says the specification")
    monkeypatch.setenv("HOME", "/home/ada")
    assert uv_cache() == Path("/home/ada/.cache/dflash-env/uv")
