"""Tracked files go back to HEAD and everything comes back again, in real repositories; git itself judges."""

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dflash_env import backup, restore
from dflash_env.collect import repo
from dflash_env.errors import Failure
from dflash_env.facts import Repo
from tests import healthy
from tests.conftest import git

SOURCE = ["trainer", "pyproject.toml"]
WHEN = "2026-11-30T20:00:00Z"


def new(root: Path) -> Path:
    """A small committed project."""
    root.mkdir(parents=True)
    git(root, "init", "--quiet", "--initial-branch=main")
    for name, content in {
        "trainer/loop.py": "loop\n",
        "trainer/data.py": "data\n",
        "pyproject.toml": "[tool]\n",
    }.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(content)
    (root / "trainer" / "run.sh").write_text("#!/bin/sh\n")
    (root / "trainer" / "run.sh").chmod(0o755)
    (root / "trainer" / "link.py").symlink_to("loop.py")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "base")
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return new(tmp_path / "project")


def look(root: Path, paths: list[str] = SOURCE) -> backup.Backup:
    found = repo.collect(root, paths, healthy.LOCK, ())
    assert isinstance(found, Repo), found
    return restore.look(root, found, paths, WHEN)


def put_back(root: Path) -> backup.Backup:
    kept = look(root)
    restore.apply(root, kept)
    return kept


def state(root: Path) -> dict[str, object]:
    """Every file with its content and permissions, and what git says of index and flags."""
    files: dict[str, object] = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if name.startswith(".git/") or name == ".git" or (path.is_dir() and not path.is_symlink()):
            continue
        content = str(path.readlink()) if path.is_symlink() else path.read_bytes()
        files[name] = (stat.filemode(path.lstat().st_mode), content)
    files["index"] = git(root, "ls-files", "-z", "-v", "--stage")
    return files


def clean(root: Path) -> bool:
    found = repo.collect(root, SOURCE, healthy.LOCK, ())
    assert isinstance(found, Repo)
    return not found.changes and not found.strays and git(root, "diff", "--cached", "--name-only") == ""


def edit(root: Path) -> None:
    (root / "trainer" / "loop.py").write_text("edited\n")


def delete(root: Path) -> None:
    (root / "trainer" / "data.py").unlink()


def stage(root: Path) -> None:
    (root / "trainer" / "data.py").write_text("staged\n")
    git(root, "add", "trainer/data.py")


def stage_and_edit(root: Path) -> None:
    stage(root)
    (root / "trainer" / "data.py").write_text("and edited on\n")


def stage_a_new_file(root: Path) -> None:
    (root / "trainer" / "fresh.py").write_text("fresh\n")
    git(root, "add", "trainer/fresh.py")


def remove_from_the_index(root: Path) -> None:
    git(root, "rm", "--quiet", "--cached", "trainer/data.py")


def stray(root: Path) -> None:
    (root / "trainer" / "random.py").write_text("stray\n")


def stray_in_a_folder(root: Path) -> None:
    (root / "trainer" / "deep" / "er").mkdir(parents=True, exist_ok=True)
    (root / "trainer" / "deep" / "er" / "x.py").write_text("deep\n")


def mode(root: Path) -> None:
    (root / "trainer" / "run.sh").chmod(0o644)


def odd_permissions(root: Path) -> None:
    path = root / "trainer" / "loop.py"
    path.write_text("private\n")
    path.chmod(0o600)


def replace_by_a_link(root: Path) -> None:
    path = root / "trainer" / "loop.py"
    path.unlink(missing_ok=True)
    path.symlink_to("/etc/hostname")


def change_a_link(root: Path) -> None:
    path = root / "trainer" / "link.py"
    path.unlink(missing_ok=True)
    path.symlink_to("data.py")


def hide(root: Path) -> None:
    git(root, "update-index", "--assume-unchanged", "trainer/loop.py")
    (root / "trainer" / "loop.py").unlink(missing_ok=True)
    (root / "trainer" / "loop.py").write_text("hidden\n")


def skip(root: Path) -> None:
    git(root, "update-index", "--skip-worktree", "pyproject.toml")
    (root / "pyproject.toml").write_text("[hidden]\n")


def empty(root: Path) -> None:
    (root / "pyproject.toml").write_bytes(b"")


ACTIONS = [
    edit,
    delete,
    stage,
    stage_and_edit,
    stage_a_new_file,
    remove_from_the_index,
    stray,
    stray_in_a_folder,
    mode,
    odd_permissions,
    replace_by_a_link,
    change_a_link,
    hide,
    skip,
    empty,
]


@pytest.mark.parametrize("action", ACTIONS)
def test_each_way_to_differ_goes_back_and_comes_again(root: Path, action: Callable[[Path], None]) -> None:
    action(root)
    before = state(root)
    kept = put_back(root)
    assert clean(root)
    restore.undo(root, backup.read(root, kept.id))
    assert state(root) == before


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(st.lists(st.sampled_from(ACTIONS), min_size=1, max_size=6))
def test_any_sequence_goes_back_and_comes_again(actions: list[Callable[[Path], None]]) -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        root = new(folder / "project")
        for action in actions:
            try:
                action(root)
            except (subprocess.CalledProcessError, FileNotFoundError):
                continue  # git refuses some orders, such as staging a hidden path
        before = state(root)
        head, stash, reflog = (git(root, *what) for what in (["rev-parse", "HEAD"], ["stash", "list"], ["reflog"]))
        kept = look(root)
        if kept.losses:
            restore.apply(root, kept)
        assert clean(root)
        assert git(root, "fsck", "--strict", "--no-dangling") == ""
        if kept.losses:
            restore.undo(root, backup.read(root, kept.id))
        assert state(root) == before
        assert (head, stash, reflog) == tuple(
            git(root, *what) for what in (["rev-parse", "HEAD"], ["stash", "list"], ["reflog"])
        )
    finally:
        shutil.rmtree(folder)


@pytest.mark.parametrize("name", ["with space.py", "new\nline.py", 'qu"ote.py', "ünï.py", os.fsdecode(b"caf\xe9.py")])
def test_any_name(root: Path, name: str) -> None:
    path = root / "trainer" / name
    path.write_text("committed\n")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "odd")
    path.write_text("edited\n")
    kept = put_back(root)
    assert path.read_text() == "committed\n"
    restore.undo(root, backup.read(root, kept.id))
    assert path.read_text() == "edited\n"


def test_a_folder_behind_a_link_comes_back_and_the_link_too(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root / "trainer", tmp_path / "elsewhere", symlinks=True)
    shutil.rmtree(root / "trainer")
    (root / "trainer").symlink_to(tmp_path / "elsewhere")
    before = state(root)
    kept = put_back(root)
    assert clean(root) and not (root / "trainer").is_symlink()
    assert (tmp_path / "elsewhere" / "loop.py").read_text() == "loop\n", "what the link led to is not ours"
    restore.undo(root, backup.read(root, kept.id))
    assert state(root) == before


def test_a_large_file(root: Path) -> None:
    path = root / "trainer" / "weights.py"
    path.write_bytes(b"")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "empty")
    content = os.urandom(1 << 20) * 50
    path.write_bytes(content)
    kept = put_back(root)
    assert path.read_bytes() == b""
    restore.undo(root, backup.read(root, kept.id))
    assert path.read_bytes() == content


def test_the_kept_state_survives_a_garbage_collection(root: Path) -> None:
    edit(root)
    kept = put_back(root)
    git(root, "reflog", "expire", "--expire=now", "--all")
    git(root, "gc", "--quiet", "--prune=now")
    restore.undo(root, backup.read(root, kept.id))
    assert (root / "trainer" / "loop.py").read_text() == "edited\n"


def test_two_in_one_second_are_two(root: Path) -> None:
    edit(root)
    first = put_back(root)
    edit(root)
    second = put_back(root)
    assert [each.id for each in backup.listed(root)] == [first.id, second.id]


def test_in_the_middle_of_a_merge_it_is_refused(root: Path) -> None:
    git(root, "switch", "--quiet", "--create", "other")
    edit(root)
    git(root, "commit", "--quiet", "--all", "--message", "theirs")
    git(root, "switch", "--quiet", "main")
    (root / "trainer" / "loop.py").write_text("ours\n")
    git(root, "commit", "--quiet", "--all", "--message", "ours")
    with pytest.raises(subprocess.CalledProcessError):
        git(root, "merge", "other")
    before = state(root)
    with pytest.raises(Failure, match="a merge is in progress"):
        look(root)
    assert state(root) == before


def test_a_path_of_nobody_is_refused(root: Path) -> None:
    with pytest.raises(Failure, match="trainer/none"):
        look(root, ["trainer/none.py"])


def test_a_folder_in_the_place_of_a_file_is_named_and_nothing_is_touched(root: Path) -> None:
    (root / "pyproject.toml").unlink()
    (root / "pyproject.toml").mkdir()
    (root / "pyproject.toml" / "notes").write_text("mine")
    with pytest.raises(Failure, match="is a folder where HEAD holds a file"):
        look(root)
    assert (root / "pyproject.toml" / "notes").read_text() == "mine"


def test_only_the_named_paths_go_back(root: Path) -> None:
    edit(root)
    delete(root)
    restore.apply(root, look(root, ["trainer/data.py"]))
    assert (root / "trainer" / "data.py").read_text() == "data\n"
    assert (root / "trainer" / "loop.py").read_text() == "edited\n"
