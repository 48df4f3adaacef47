"""The training venv is built beside the one in use by real uv, from small wheels made here."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dflash_env import build, execute
from dflash_env.collect import programs
from dflash_env.errors import StepFailed
from dflash_env.facts import Lock, Locked
from dflash_env.state import State
from tests import wheels


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(tmp_path / "a state with spaces")


@pytest.fixture
def lockfile(tmp_path: Path) -> Path:
    return tmp_path / "small-cp311.txt"


@pytest.fixture
def lock(lockfile: Path, wheelhouse: Path) -> Lock:
    alpha = wheels.make(wheelhouse, "alpha", "1.0", requires=("beta",))
    return wheels.write_lock(lockfile, alpha.locked, wheels.make(wheelhouse, "beta", "2.0").locked)


def built_folders(state: State) -> list[str]:
    return sorted(each.name for each in state.venvs.iterdir() if each.is_dir() and each.name != "current")


def test_builds_seals_and_makes_current(state: State, lock: Lock, lockfile: Path) -> None:
    folder = build.provide(state, lock, lockfile)
    assert state.seal(folder).exists()
    assert state.current(lock.name).resolve() == folder
    said = subprocess.run(
        [folder / "bin" / "python", "-c", "import alpha, beta; print(beta.version)"], capture_output=True, check=True
    )
    assert said.stdout == b"2.0\n"


def test_files_are_private_to_the_venv(state: State, lock: Lock, lockfile: Path) -> None:
    folder = build.provide(state, lock, lockfile)
    shared = [path for path in folder.rglob("*.py") if path.stat().st_nlink != 1]
    assert not shared, "an edit here would reach uv's cache and every later build"


def test_a_whole_venv_is_kept(state: State, lock: Lock, lockfile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = build.provide(state, lock, lockfile)
    before = state.seal(first).read_text()
    assert build.provide(state, lock, lockfile) == first
    assert state.seal(first).read_text() == before
    assert "nothing to build" in capsys.readouterr().err


def test_a_drifted_venv_is_replaced_beside_and_kept(state: State, lock: Lock, lockfile: Path) -> None:
    first = build.provide(state, lock, lockfile)
    shutil.rmtree(next(first.rglob("beta-2.0.dist-info")))
    second = build.provide(state, lock, lockfile)
    assert second.name == f"{first.name}-2"
    assert first.is_dir(), "a running training may still use the old one"
    assert state.current(lock.name).resolve() == second


def test_a_venv_that_lost_its_seal_is_not_trusted(state: State, lock: Lock, lockfile: Path) -> None:
    first = build.provide(state, lock, lockfile)
    state.seal(first).unlink()
    assert build.provide(state, lock, lockfile) != first


def test_another_lock_is_another_venv(state: State, lock: Lock, lockfile: Path, wheelhouse: Path) -> None:
    first = build.provide(state, lock, lockfile)
    newer = wheels.make(wheelhouse, "beta", "2.1")
    changed = wheels.write_lock(lockfile, lock.packages[0], newer.locked)
    second = build.provide(state, changed, lockfile)
    assert first != second
    assert state.current(lock.name).resolve() == second


def test_what_an_interrupted_build_left_is_cleared(state: State, lock: Lock, lockfile: Path) -> None:
    leftover = state.venvs / build.BUILDING / "lib" / "half.py"
    leftover.parent.mkdir(parents=True)
    leftover.write_text("half")
    folder = build.provide(state, lock, lockfile)
    assert not list(folder.rglob("half.py"))
    assert built_folders(state) == [folder.name]


def test_a_wrong_hash_is_refused_and_nothing_is_left(state: State, lock: Lock, lockfile: Path) -> None:
    wrong = Locked(name="beta", version="2.0", sha256="0" * 64)
    bad = wheels.write_lock(lockfile, lock.packages[0], wrong)
    with pytest.raises(StepFailed) as failure:
        build.provide(state, bad, lockfile)
    assert "beta" in failure.value.message
    assert "not the locked one" in failure.value.fix
    assert built_folders(state) == []
    assert not state.current(lock.name).is_symlink()


def test_a_failed_build_leaves_the_old_venv_current(state: State, lock: Lock, lockfile: Path) -> None:
    first = build.provide(state, lock, lockfile)
    gone = wheels.write_lock(lockfile, *lock.packages, Locked(name="gamma", version="1.0", sha256="0" * 64))
    with pytest.raises(StepFailed, match="gamma"):
        build.provide(state, gone, lockfile)
    assert state.current(lock.name).resolve() == first
    assert built_folders(state) == [first.name]


def test_two_at_once_wait_for_each_other(state: State, lock: Lock, lockfile: Path) -> None:
    state.venvs.mkdir(parents=True)
    code = f"""
from pathlib import Path
from dflash_env import build, lock
from dflash_env.state import State
path = Path({str(lockfile)!r})
build.provide(State(Path({str(state.root)!r})), lock.read(path), path)
"""
    with execute.exclusive(state.venvs / ".lock", "a rebuild", 1):
        second = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
        assert second.stderr
        assert f"waiting for another rebuild (process {os.getpid()}" in second.stderr.readline()
        assert not (state.venvs / build.BUILDING).exists()
    assert second.wait() == 0, second.stderr.read()
    second.stderr.close()
    assert state.current(lock.name).exists()


def test_a_read_only_state_folder_is_named(lock: Lock, lockfile: Path) -> None:
    with pytest.raises(StepFailed) as failure:
        build.provide(State(Path("/proc/nowhere")), lock, lockfile)
    assert "/proc/nowhere" in failure.value.message
    assert "state = PATH" in failure.value.fix


def test_the_plan_is_exactly_what_runs(state: State, lock: Lock, lockfile: Path) -> None:
    planned = build.planned(state, lock, lockfile, programs.find_python("3.11"))
    make, fill = planned.steps
    assert make.argv[1] == "venv" and "--relocatable" in make.argv
    assert fill.argv[1:3] == ("pip", "sync") and "--require-hashes" in fill.argv and str(lockfile) in fill.argv
    assert fill.argv[fill.argv.index("--link-mode") + 1] == "copy"


def test_a_wait_that_lasts_too_long_is_given_up_and_names_the_holder(state: State, lock: Lock, lockfile: Path) -> None:
    state.venvs.mkdir(parents=True)
    with execute.exclusive(state.venvs / ".lock", "a rebuild", 1), pytest.raises(StepFailed) as failure:
        build.provide(state, lock, lockfile, build.Supply(wait_s=0))
    assert f"process {os.getpid()}" in failure.value.message


def test_a_full_disk_is_seen_before_anything_is_written(
    state: State, lock: Lock, lockfile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    huge = replace(lock, unpacked_bytes=10**18)
    with pytest.raises(StepFailed, match=r"takes 1000000000\.0 GB") as failure:
        build.provide(state, huge, lockfile)
    assert "dflash-env gc" in failure.value.fix
    assert built_folders(state) == []


def test_a_disk_that_fills_up_meanwhile_leaves_the_old_venv(
    state: State, lock: Lock, lockfile: Path, wheelhouse: Path
) -> None:
    first = build.provide(state, lock, lockfile)
    large = wheels.make(wheelhouse, "gamma", "1.0", body=f"data = '{'x' * 400_000}'\n")
    wheels.write_lock(lockfile, *lock.packages, large.locked)
    # A limit on the size of a file stands for a full disk: the write fails in the middle.
    code = f"""
import resource, signal
from dataclasses import replace
from pathlib import Path
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
from dflash_env import build, lock
from dflash_env.errors import StepFailed
from dflash_env.state import State
path = Path({str(lockfile)!r})
try:
    build.provide(State(Path({str(state.root)!r})), lock.read(path), path)
except StepFailed as failure:
    print(failure.message)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "could not install" in done.stdout, done.stdout + done.stderr
    assert state.current(lock.name).resolve() == first
    assert built_folders(state) == [first.name]


@pytest.mark.parametrize("moment", ["run", "take_stock", "close", "rename", "switch"])
def test_killed_at_any_step_the_old_venv_stays_current(
    state: State, lock: Lock, lockfile: Path, wheelhouse: Path, moment: str
) -> None:
    first = build.provide(state, lock, lockfile)
    newer = wheels.write_lock(lockfile, lock.packages[0], wheels.make(wheelhouse, "beta", "2.1").locked)
    code = f"""
import os, signal
from dataclasses import replace
from pathlib import Path
from dflash_env import build, execute, lock, sealing
from dflash_env.state import State
def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
moment = {moment!r}
if moment == "run":
    real = execute.run
    execute.run = lambda step, **more: die() if "sync" in step.argv else real(step, **more)
elif moment == "rename":
    Path.rename = die
elif moment == "switch":
    build.switch = die
else:
    setattr(sealing, moment, die)
path = Path({str(lockfile)!r})
build.provide(State(Path({str(state.root)!r})), lock.read(path), path)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == -9, done.stderr
    assert state.current(lock.name).resolve() == first
    second = build.provide(state, newer, lockfile)
    assert not build.complaint(state, newer, second)
    assert not (state.venvs / build.BUILDING).exists()


def test_the_way_back(state: State, lock: Lock, lockfile: Path, wheelhouse: Path) -> None:
    first = build.provide(state, lock, lockfile)
    newer = wheels.write_lock(lockfile, lock.packages[0], wheels.make(wheelhouse, "beta", "2.1").locked)
    second = build.provide(state, newer, lockfile)
    assert build.roll_back(state, newer, 1) == first
    assert build.roll_back(state, newer, 1) == second, "and forth again"


def test_no_way_back_to_a_venv_that_was_changed(state: State, lock: Lock, lockfile: Path, wheelhouse: Path) -> None:
    first = build.provide(state, lock, lockfile)
    newer = wheels.write_lock(lockfile, lock.packages[0], wheels.make(wheelhouse, "beta", "2.1").locked)
    second = build.provide(state, newer, lockfile)
    (module,) = first.rglob("beta/__init__.py")
    module.chmod(0o644)
    module.write_text("version = 'x.x'\n")
    with pytest.raises(StepFailed, match=r"beta/__init__\.py is changed"):
        build.roll_back(state, newer, 1)
    assert state.current(lock.name).resolve() == second


def test_without_an_earlier_venv_there_is_no_way_back(state: State, lock: Lock, lockfile: Path) -> None:
    build.provide(state, lock, lockfile)
    with pytest.raises(StepFailed, match="no earlier venv"):
        build.roll_back(state, lock, 1)


def test_files_are_cloned_only_where_the_file_system_can(
    state: State, lock: Lock, lockfile: Path, tmp_path: Path
) -> None:
    planned = build.planned(state, lock, lockfile, programs.find_python("3.11"))
    mode = planned.steps[1].argv[planned.steps[1].argv.index("--link-mode") + 1]
    assert mode == ("clone" if execute.reflinks(tmp_path, state.root) else "copy")
