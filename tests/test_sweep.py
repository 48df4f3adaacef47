"""`gc` removes only what nothing needs, and says how much."""

import subprocess
import sys
from pathlib import Path

import pytest

from dflash_env import build, execute, sweep
from dflash_env.state import State
from tests import wheels


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(tmp_path / "state")


@pytest.fixture
def four(state: State, tmp_path: Path, wheelhouse: Path) -> list[Path]:
    """Four venvs of one lock, the last of them current."""
    path, made = tmp_path / "small-cp311.txt", []
    for version in ("1.0", "1.1", "1.2", "1.3"):
        wheel = wheels.make(wheelhouse, "alpha", version)
        made.append(build.provide(state, wheels.write_lock(path, wheel.locked), path))
    return made


def names(items: tuple[sweep.Item, ...]) -> set[str]:
    return {item.path.name for item in items}


def test_the_current_and_the_way_back_stay(state: State, four: list[Path]) -> None:
    found = sweep.look(state, keep=1)
    assert names(found.stays) == {four[3].name, four[2].name}
    assert {four[0].name, four[1].name} <= names(found.goes)
    assert found.size_bytes > 0


def test_more_ways_back_may_stay(state: State, four: list[Path]) -> None:
    assert names(sweep.look(state, keep=3).stays) == {each.name for each in four}


def test_what_a_process_uses_stays_also_after_it_became_another(state: State, four: list[Path]) -> None:
    code = f"""
import sys
from pathlib import Path
from dflash_env import execute
from dflash_env.plan import Step
execute.lease(Path({str(state.lease(four[0]))!r}))
execute.hand_off(Step(why="w", argv=("/bin/sh", "-c", "echo ready; read line"), cwd="/"))
"""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe, text=True) as training:
        assert training.stdout and training.stdout.readline() == "ready\n"
        found = sweep.look(state, keep=0)
        assert four[0].name in names(found.stays)
        sweep.remove(state, sweep.Item(path=four[0], size_bytes=0, why="asked by mistake"))
        assert four[0].is_dir()
        training.communicate("\n")
    assert four[0].name in names(sweep.look(state, keep=0).goes)


def test_removing_takes_the_notes_along_and_leaves_the_rest(state: State, four: list[Path]) -> None:
    for item in sweep.look(state, keep=1).goes:
        sweep.remove(state, item)
    left = {path.name for path in state.venvs.iterdir()}
    assert left == {
        *(name for each in four[2:] for name in (each.name, f"{each.name}.seal.json", f"{each.name}.files.json")),
        *(".lock", "current", "history"),
    }
    assert (state.venvs / "current" / "small-cp311").resolve() == four[3]


def test_an_interrupted_build_and_orphaned_caches_go(state: State, four: list[Path]) -> None:
    (state.venvs / build.BUILDING).mkdir()
    execute.make_folder(state.compile_cache("gone"))
    assert {build.BUILDING, "gone"} <= names(sweep.look(state, keep=3).goes)
    assert four[3].name not in names(sweep.look(state, keep=3).goes), "the caches of a venv that stays"


def test_an_empty_state_has_nothing(state: State) -> None:
    found = sweep.look(state, keep=1)
    assert (found.goes, found.stays, found.size_bytes) == ((), (), 0)
