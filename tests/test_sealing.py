"""A build is held against the lock's digests file by file; what uv's cache got wrong is fetched again once."""

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from dflash_env import build, locking, sealing
from dflash_env import config as configs
from dflash_env import lock as locks
from dflash_env.collect import venv as venvs
from dflash_env.errors import StepFailed
from dflash_env.facts import Lock, Seal, Venv
from dflash_env.state import State
from tests import wheels


@pytest.fixture
def project(tmp_path: Path, wheelhouse: Path) -> configs.Config:
    """A project whose lock states what two small wheels unpack to."""
    wheels.make(wheelhouse, "alpha", "1.0", requires=("beta",))
    wheels.make(wheelhouse, "beta", "2.0", body="secret = 1\n")
    folder = tmp_path / "project"
    (folder / "lockfiles").mkdir(parents=True)
    (folder / "pyproject.toml").write_text("[tool.dflash-env]\n")
    (folder / "lockfiles" / "small.in").write_text("alpha\n")
    settings = configs.load(folder)
    locking.write(settings, ("small-cp311",), "2026-11-30")
    return settings


@pytest.fixture
def path(project: configs.Config) -> Path:
    return project.project / "lockfiles" / "small-cp311.txt"


@pytest.fixture
def lock(path: Path) -> Lock:
    return locks.read(path)


@pytest.fixture
def state(tmp_path: Path) -> State:
    """Another state folder than the one the lock was made in."""
    return State(tmp_path / "elsewhere")


def cached(tmp_path: Path, name: str) -> list[Path]:
    """The unpacked copies of a module in the tool's uv cache."""
    return list((tmp_path / "cache").rglob(f"{name}/__init__.py"))


def found(state: State, folder: Path) -> Venv:
    section = venvs.read(state, folder, "3.11", deep=True)
    assert isinstance(section, Venv), section
    return section


def test_two_builds_in_two_folders_have_the_digest_that_the_lock_states(state: State, lock: Lock, path: Path) -> None:
    folder = build.provide(state, lock, path)
    assert found(state, folder).tree_digest == lock.tree_digest != sealing.PENDING
    assert {one.name: one.tree for one in lock.packages}.items() <= found(state, folder).packages.items()


def test_a_sealed_venv_is_write_protected(state: State, lock: Lock, path: Path) -> None:
    folder = build.provide(state, lock, path)
    open_ones = [
        each
        for each in folder.rglob("*")
        if not each.is_symlink() and each.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)
    ]
    assert open_ones == []


def zeroed(file: Path) -> None:
    file.write_bytes(b"\0" * file.stat().st_size)


def deleted(file: Path) -> None:
    file.unlink()


def edited(file: Path) -> None:
    file.write_text("secret = 2\n")


@pytest.mark.parametrize("damage", [zeroed, deleted, edited])
def test_a_damaged_cache_is_noticed_named_and_mended(
    state: State,
    lock: Lock,
    path: Path,
    tmp_path: Path,
    damage: Callable[[Path], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    copies = cached(tmp_path, "beta")
    assert copies
    for each in copies:
        damage(each)
    folder = build.provide(state, lock, path)
    assert found(state, folder).tree_digest == lock.tree_digest
    said = capsys.readouterr().err
    assert "the cache was damaged" in said and "beta/__init__.py" in said
    assert [each.read_text() for each in cached(tmp_path, "beta")] == ["secret = 1\n"]


def test_an_edit_in_a_hard_linked_venv_does_not_reach_the_next_build(
    state: State, lock: Lock, path: Path, tmp_path: Path
) -> None:
    (linked,) = cached(tmp_path, "beta")[:1]
    outside = tmp_path / "somebody's venv.py"
    os.link(linked, outside)
    outside.write_text("secret = 3\n")
    folder = build.provide(state, lock, path)
    (installed,) = folder.rglob("beta/__init__.py")
    assert installed.read_text() == "secret = 1\n"
    assert installed.stat().st_nlink == 1


def test_a_lock_that_states_other_files_blames_no_cache(state: State, lock: Lock, path: Path) -> None:
    beta = next(one for one in lock.packages if one.name == "beta")
    text = path.read_text()
    path.write_text(text.replace(beta.tree, "0" * 64).replace(lock.tree_digest, "1" * 64))
    with pytest.raises(StepFailed) as failure:
        build.provide(state, locks.read(path), path)
    assert "beta" in failure.value.message and "even fresh from the index" in failure.value.message
    assert "it is not the cache" in failure.value.fix
    assert [each for each in state.venvs.iterdir() if each.is_dir()] == []


def test_a_truncated_wheel_is_refused(state: State, lock: Lock, path: Path, wheelhouse: Path, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "cache")
    wheel = next(wheelhouse.glob("beta-*.whl"))
    wheel.write_bytes(wheel.read_bytes()[:-100])
    with pytest.raises(StepFailed, match="beta"):
        build.provide(state, lock, path)
    assert not state.current(lock.name).is_symlink()


def test_the_seal_says_what_the_venv_was_made_from(state: State, lock: Lock, path: Path) -> None:
    sealed = found(state, build.provide(state, lock, path)).seal
    assert isinstance(sealed, Seal)
    assert (sealed.lock, sealed.lock_digest) == (lock.name, lock.digest)
    assert sealed.platform.startswith("linux-") and sealed.libc


@pytest.mark.parametrize(
    ("plant", "said"),
    [
        (lambda site: (site / "evil.pth").write_text("import os\n"), "files that no package owns"),
        (lambda site: (site / "beta-2.0.dist-info" / "RECORD").unlink(), "without a readable RECORD"),
        (lambda site: os.link(site / "beta" / "__init__.py", site.parent / "other"), "share their content"),
    ],
)
def test_a_build_that_is_no_clean_install_is_not_sealed(
    state: State, lock: Lock, path: Path, plant: Callable[[Path], object], said: str
) -> None:
    folder = build.provide(state, lock, path)
    copy = state.root / "copy"
    shutil.copytree(folder, copy, symlinks=True)
    site = venvs.site_packages(copy, "3.11")
    for each in [copy, *copy.rglob("*")]:
        if not each.is_symlink():
            each.chmod(each.stat().st_mode | stat.S_IWUSR)
    plant(site)
    with pytest.raises(StepFailed, match=said):
        sealing.take_stock(copy, lock, lambda _: None)
