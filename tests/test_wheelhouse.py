"""A folder of wheels is filled once and held against the hashes."""

from pathlib import Path

import pytest

from dflash_env import build, config, locking
from dflash_env import lock as locks
from dflash_env.errors import StepFailed
from dflash_env.state import State
from tests import wheels


@pytest.fixture
def project(tmp_path: Path, wheelhouse: Path) -> config.Config:
    wheels.make(wheelhouse, "alpha", "1.0", requires=("beta",))
    wheels.make(wheelhouse, "beta", "2.0")
    folder = tmp_path / "project"
    (folder / "lockfiles").mkdir(parents=True)
    (folder / "pyproject.toml").write_text("[tool.dflash-env]\n")
    (folder / "lockfiles" / "small.in").write_text("alpha\n")
    return config.load(folder)


@pytest.fixture
def collected(project: config.Config, tmp_path: Path) -> Path:
    locking.write(project, ("small-cp311",), "2026-11-30", tmp_path / "collected")
    return tmp_path / "collected"


def test_every_wheel_is_there_and_nothing_else(collected: Path) -> None:
    assert {path.name for path in collected.iterdir()} == {"alpha-1.0-py3-none-any.whl", "beta-2.0-py3-none-any.whl"}


def test_a_node_without_network_builds_from_it(
    project: config.Config, collected: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another cache"))
    monkeypatch.delenv("UV_FIND_LINKS")
    path = project.project / "lockfiles" / "small-cp311.txt"
    lock, state = locks.read(path), State(tmp_path / "another state")
    folder = build.provide(state, lock, path, build.Supply(offline=True, find_links=str(collected)))
    assert not build.complaint(state, lock, folder)


def test_the_cache_alone_will_do(project: config.Config, collected: Path, tmp_path: Path) -> None:
    path = project.project / "lockfiles" / "small-cp311.txt"
    lock, state = locks.read(path), State(tmp_path / "another state")
    assert build.provide(state, lock, path, build.Supply(offline=True)).is_dir()


def test_a_wheel_that_was_swapped_is_refused(
    project: config.Config, collected: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another cache"))
    wheels.make(collected, "beta", "2.0", body="swapped = True\n")
    path = project.project / "lockfiles" / "small-cp311.txt"
    with pytest.raises(StepFailed, match="beta") as failure:
        build.provide(
            State(tmp_path / "another state"), locks.read(path), path, build.Supply(find_links=str(collected))
        )
    assert "not the locked one" in failure.value.fix


def test_a_wheel_that_is_damaged_is_brought_again(project: config.Config, collected: Path) -> None:
    wheel = collected / "beta-2.0-py3-none-any.whl"
    whole = wheel.read_bytes()
    wheel.write_bytes(whole[:10])
    locking.write(project, ("small-cp311",), "2026-11-30", collected)
    assert wheel.read_bytes() == whole
