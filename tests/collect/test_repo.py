"""Every tracked file by content against HEAD, in real repositories; nothing that git can be told hides an edit."""

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from dflash_env import bundle
from dflash_env.collect import repo
from dflash_env.facts import NotApplicable, Repo, Unknown
from tests import healthy
from tests.collect.conftest import Project


def test_a_fresh_commit_is_unchanged(project: Project) -> None:
    found = project.found()
    assert (found.vouched_by, found.commit, found.files) == ("git", project.git("rev-parse", "HEAD"), 4)
    assert (found.changes, found.strays) == ((), ())


# ---- tracked files --------------------------------------------------------------------------------------------------


def test_an_edit(project: Project) -> None:
    committed = project.git("rev-parse", "HEAD:trainer/loop.py")
    project.write("trainer/loop.py", "print('faster')\n")
    [change] = project.found().changes
    assert (change.path, change.how, change.expected) == ("trainer/loop.py", "modified", committed)


def test_an_edit_of_the_same_size_and_time(project: Project) -> None:
    path = project.root / "trainer/loop.py"
    before = path.stat()
    path.write_text("print('pool')\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert project.changes() == {"trainer/loop.py": "modified"}


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_an_edit_behind_a_flag_of_the_index(project: Project, flag: str) -> None:
    project.git("update-index", flag, "trainer/loop.py")
    project.write("trainer/loop.py", "print('hidden')\n")
    assert project.git("status", "--porcelain") == "", "git itself is blind to it"
    assert project.changes() == {"trainer/loop.py": "modified"}


def test_an_edit_that_was_staged(project: Project) -> None:
    project.write("trainer/loop.py", "print('staged')\n")
    project.git("add", "--all")
    assert project.changes() == {"trainer/loop.py": "modified"}


def test_an_edit_behind_a_replacement_of_the_commits_tree(project: Project) -> None:
    honest = project.git("rev-parse", "HEAD^{tree}")
    project.write("trainer/loop.py", "print('replaced')\n")
    project.git("add", "--all")
    project.git("replace", honest, project.git("write-tree"))
    assert project.changes() == {"trainer/loop.py": "modified"}


def test_line_endings_that_git_itself_converts(project: Project) -> None:
    project.git("config", "core.autocrlf", "true")
    project.write("trainer/loop.py", "print('loop')\r\n")
    project.git("add", "--all")
    assert project.git("status", "--porcelain") == ""
    assert project.changes() == {}


def test_a_deletion(project: Project) -> None:
    (project.root / "trainer/loop.py").unlink()
    assert project.changes() == {"trainer/loop.py": "deleted"}


def test_a_deleted_folder(project: Project) -> None:
    shutil.rmtree(project.root / "trainer")
    assert project.changes() == {"trainer/loop.py": "deleted", "trainer/run.sh": "deleted"}


def test_a_folder_that_became_a_file(project: Project) -> None:
    shutil.rmtree(project.root / "checks")
    project.write("checks", "no folder")
    assert project.changes() == {"checks/gpu/lost.py": "deleted"}


@pytest.mark.parametrize(("name", "mode"), [("trainer/run.sh", 0o644), ("trainer/loop.py", 0o755)])
def test_a_change_of_mode(project: Project, name: str, mode: int) -> None:
    project.git("config", "core.fileMode", "false")
    (project.root / name).chmod(mode)
    assert project.changes() == {name: "mode"}


def test_a_link_to_the_same_content(project: Project) -> None:
    path = project.root / "trainer/loop.py"
    path.rename(project.root / "loop.txt")
    path.symlink_to(project.root / "loop.txt")
    assert project.changes() == {"trainer/loop.py": "replaced"}


def test_a_folder_in_place_of_a_file(project: Project) -> None:
    (project.root / "trainer/loop.py").unlink()
    (project.root / "trainer/loop.py").mkdir()
    assert project.changes() == {"trainer/loop.py": "replaced"}


def test_a_pipe_in_place_of_a_file_is_not_opened(project: Project) -> None:
    (project.root / "trainer/loop.py").unlink()
    os.mkfifo(project.root / "trainer/loop.py")
    assert project.changes() == {"trainer/loop.py": "replaced"}


@pytest.mark.parametrize("folder", ["checks", "checks/gpu"])
def test_a_parent_folder_replaced_by_a_link_to_the_same_files(project: Project, folder: str) -> None:
    (project.root / folder).rename(project.root / "elsewhere")
    (project.root / folder).symlink_to(project.root / "elsewhere")
    assert project.changes() == {"checks/gpu/lost.py": "replaced"}


def test_a_project_reached_through_a_link_is_unchanged(project: Project, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(project.root)
    found = repo.collect(tmp_path / "link", ("trainer", "checks"), healthy.LOCK, ())
    assert isinstance(found, Repo)
    assert (found.changes, found.strays) == ((), ())


def test_a_committed_link_is_held_by_where_it_leads(project: Project) -> None:
    link = project.root / "trainer/latest"
    link.symlink_to("loop.py")
    project.commit()
    assert project.changes() == {}
    link.unlink()
    link.symlink_to("run.sh")
    assert project.changes() == {"trainer/latest": "modified"}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (b"trainer/two words.py", "trainer/two words.py"),
        (b"trainer/two\nlines.py", "trainer/two\nlines.py"),
        (b'trainer/"quoted"\t.py', 'trainer/"quoted"\t.py'),
        ("trainer/größe.py".encode(), "trainer/größe.py"),
        (b"trainer/\xff.py", "trainer/\\xff.py"),
    ],
    ids=["space", "newline", "quotes", "unicode", "not-utf8"],
)
def test_a_file_of_any_name(project: Project, name: bytes, shown: str) -> None:
    path = project.write(name)
    project.commit()
    assert project.changes() == {}
    path.write_text("edited\n")
    assert project.changes() == {shown: "modified"}
    json.dumps(shown).encode("utf-8")


def test_files_outside_the_source_paths_are_nobodys_business(project: Project) -> None:
    project.write("notes.txt", "one")
    project.commit()
    project.write("notes.txt", "two")
    assert project.changes() == {}


# ---- untracked files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["trainer/random.py", "checks/gpu/new.py", "trainer/fast.so", "trainer/old.pyc"])
def test_a_stray_module_in_a_source_folder(project: Project, name: str) -> None:
    project.write(name)
    assert project.found().strays == (name,)


def test_a_stray_module_that_git_ignores(project: Project) -> None:
    project.write(".gitignore", "*.py\n")
    project.write("trainer/random.py")
    assert project.git("status", "--porcelain", "trainer") == "", "git itself is silent"
    assert project.found().strays == ("trainer/random.py",)


def test_a_stray_link_to_a_folder_of_modules(project: Project, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/__init__.py").write_text("pass\n")
    (project.root / "trainer/torch").symlink_to(tmp_path / "elsewhere")
    assert project.found().strays == ("trainer/torch",)


def test_strays_that_cannot_be_imported_are_left_alone(project: Project) -> None:
    project.write("trainer/notes.md")
    project.write("trainer/__pycache__/loop.cpython-311.pyc")
    assert project.found().strays == ()


@pytest.mark.parametrize(
    ("name", "stray"),
    [
        ("torch/__init__.py", "torch"),
        ("transformers.py", "transformers.py"),
        ("random.py", "random.py"),
        ("torch.cpython-311-x86_64-linux-gnu.so", "torch.cpython-311-x86_64-linux-gnu.so"),
    ],
)
def test_a_module_beside_the_project_that_would_win(project: Project, name: str, stray: str) -> None:
    project.write(name)
    assert project.found().strays == (stray,)


@pytest.mark.parametrize("name", ["mine.py", "mine/__init__.py", "torch/README.md", "random.txt"])
def test_other_files_beside_the_project_are_left_alone(project: Project, name: str) -> None:
    project.write(name)
    assert project.found().strays == ()


# ---- the repository -------------------------------------------------------------------------------------------------


def test_a_project_in_a_subfolder_of_a_larger_repository(project: Project) -> None:
    project.write("inner/trainer/loop.py", "print('inner')\n")
    project.write("inner/pyproject.toml")
    project.commit()
    inner = project.below("inner")
    assert (inner.found().files, inner.changes()) == (2, {})
    project.write("trainer/loop.py", "an edit of the outer project\n")
    assert inner.changes() == {}
    inner.write("trainer/loop.py", "an edit of this one\n")
    assert inner.changes() == {"trainer/loop.py": "modified"}


def test_a_repository_of_sha256_objects(project: Project) -> None:
    shutil.rmtree(project.root / ".git")
    try:
        project.git("init", "--quiet", "--object-format=sha256")
    except subprocess.CalledProcessError:
        pytest.skip("this git has no SHA-256 repositories")
    project.commit()
    assert (len(project.found().commit), project.changes()) == (64, {})
    project.write("trainer/loop.py", "print('edited')\n")
    assert project.changes() == {"trainer/loop.py": "modified"}


def test_a_linked_work_tree(project: Project, tmp_path: Path) -> None:
    project.git("worktree", "add", "--quiet", str(tmp_path / "second"))
    second = Project(root=tmp_path / "second", repository=tmp_path / "second")
    second.write("trainer/loop.py", "print('edited')\n")
    assert second.changes() == {"trainer/loop.py": "modified"}
    assert project.changes() == {}


def test_a_repository_without_a_commit(empty: Project) -> None:
    found = empty.collect()
    assert isinstance(found, Unknown)
    assert (found.code, str(empty.root) in found.text) == ("no-commit", True)


def test_no_repository(tmp_path: Path) -> None:
    found = repo.collect(tmp_path, ("trainer",), healthy.LOCK, ())
    assert isinstance(found, Unknown)
    assert "no git repository" in found.text


def test_git_is_not_installed(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    found = project.collect()
    assert isinstance(found, Unknown)
    assert (found.code, "git" in found.text) == ("missing", True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_cannot_be_read(project: Project) -> None:
    (project.root / "trainer/loop.py").chmod(0)
    found = project.collect()
    assert isinstance(found, Unknown)
    assert (found.code, "loop.py" in found.text) == ("denied", True)


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """A git on the PATH that notes what it is asked; the notes since the last call."""
    real, notes = shutil.which("git"), tmp_path / "notes"
    (tmp_path / "bin").mkdir()
    wrapper = tmp_path / "bin" / "git"
    wrapper.write_text(f'#!/bin/sh\necho "$*" >> {notes}\nexec {real} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")

    def since() -> list[str]:
        lines = notes.read_text().splitlines()
        notes.unlink()
        return lines

    return since


def test_the_processes_are_as_many_for_two_thousand_files_as_for_four(
    project: Project, started: Callable[[], list[str]]
) -> None:
    project.found()
    few = len(started())
    for number in range(2000):
        project.write(f"trainer/part{number % 40}/m{number}.py", f"x = {number}\n")
    project.commit()
    started()
    assert project.found().files == 2004
    assert len(started()) == few <= 8
    for number in range(2000):
        project.write(f"trainer/part{number % 40}/m{number}.py", f"x = {number}\r\n")
    assert len(project.found().changes) == 2000
    assert len(started()) <= few + 3


def test_the_committed_sources_are_scanned_for_patches_and_not_the_edited_ones(project: Project) -> None:
    project.write("trainer/loop.py", "import torch\ntorch.compile = None\n")
    assert project.found().patches == ()
    project.commit()
    project.write("trainer/loop.py", "import torch\n")
    [patch] = project.found().patches
    assert (patch.path, patch.line, patch.what) == ("trainer/loop.py", 2, "sets torch.compile")


# ---- what is handed to a run ----------------------------------------------------------------------------------------


def test_the_committed_files_are_head_whatever_the_work_tree_says(project: Project) -> None:
    (project.root / "trainer/run.sh").unlink()
    project.write("trainer/loop.py", "print('edited')\n")
    assert repo.committed(project.root, project.found(), "trainer") == {
        "trainer/loop.py": (b"print('loop')\n", False),
        "trainer/run.sh": (b"#!/bin/sh\n", True),
    }


# ---- what the gate judges by ----------------------------------------------------------------------------------------


def test_an_expectation_is_committed_where_it_stands(project: Project) -> None:
    lock = project.write("lockfiles/mine.txt", "torch\n")
    [why] = project.found(lock).uncommitted
    assert why == f"{lock} is in no commit"
    project.commit()
    assert project.found(lock).uncommitted == ()
    project.write("lockfiles/mine.txt", "other\n")
    [why] = project.found(lock).uncommitted
    assert "is modified against HEAD" in why


def test_an_expectation_of_another_repository_is_vouched_for_by_that_one(project: Project, tmp_path: Path) -> None:
    theirs = Project(root=tmp_path / "theirs", repository=tmp_path / "theirs")
    lock = theirs.write("lockfiles/mine.txt", "torch\n")
    [why] = project.found(lock).uncommitted
    assert "no git repository" in why
    theirs.git("init", "--quiet")
    theirs.commit()
    assert project.found(lock).uncommitted == ()


def test_a_manifest_dropped_into_a_clone_vouches_for_nothing(project: Project) -> None:
    project.write("trainer/loop.py", "print('edited')\n")
    project.write(bundle.MANIFEST, json.dumps({"commit": "1", "files": {}}))
    assert project.found().vouched_by == "git"
    assert project.changes() == {"trainer/loop.py": "modified"}


def test_a_committed_module_at_the_top_is_no_stray(project: Project) -> None:
    project.write("random.py")
    assert project.found().strays == ("random.py",)
    project.commit()
    assert project.found().strays == ()


# ---- an installed wheel ---------------------------------------------------------------------------------------------


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The bundled folder of a wheel: one file and the manifest that vouches for it."""
    monkeypatch.setattr(bundle, "installed", lambda: True)
    (tmp_path / "trainer").mkdir()
    (tmp_path / "trainer/loop.py").write_text("print('loop')\n")
    files = {"trainer/loop.py": hashlib.sha256(b"print('loop')\n").hexdigest()}
    (tmp_path / bundle.MANIFEST).write_text(json.dumps({"schema": 1, "commit": "1a2b3c", "files": files}))
    return tmp_path


def by_manifest(root: Path) -> Repo:
    found = repo.collect(root, ("trainer",), healthy.LOCK, ())
    assert isinstance(found, Repo), found
    return found


def test_an_installed_wheel_is_vouched_for_by_its_manifest(installed: Path) -> None:
    found = by_manifest(installed)
    assert (found.vouched_by, found.commit, found.files) == ("manifest", "1a2b3c", 1)
    assert (found.changes, found.strays, found.patches) == ((), (), ())
    assert isinstance(found.checkout, NotApplicable)
    assert repo.committed(installed, found, "trainer") == {"trainer/loop.py": (b"print('loop')\n", False)}


def test_an_edited_a_deleted_and_a_stray_file_of_a_wheel(installed: Path) -> None:
    (installed / "trainer/random.py").write_text("pass\n")
    (installed / "trainer/loop.py").write_text("print('edited')\n")
    found = by_manifest(installed)
    assert ([change.how for change in found.changes], found.strays) == (["modified"], ("trainer/random.py",))
    (installed / "trainer/loop.py").unlink()
    assert [change.how for change in by_manifest(installed).changes] == ["deleted"]


def test_a_patch_and_bytecode_of_a_wheel(installed: Path) -> None:
    (installed / "trainer/loop.py").write_text("import torch\ntorch.compile = None\n")
    path = installed / "trainer/__pycache__/loop.cpython-311.pyc"
    path.parent.mkdir()
    path.write_bytes(b"\xa7\r\r\n\x01\0\0\0")
    found = by_manifest(installed)
    assert ([each.line for each in found.patches], len(found.bytecode)) == ([2], 1)


@pytest.mark.parametrize("manifest", ["", "[]", "{}", '{"commit": "1", "files": []}', '{"commit": "1", "files": 3}'])
def test_a_damaged_manifest_vouches_for_nothing(installed: Path, manifest: str) -> None:
    (installed / bundle.MANIFEST).write_text(manifest)
    found = repo.collect(installed, ("trainer",), healthy.LOCK, ())
    assert isinstance(found, Unknown)
    assert found.code == "malformed"


def test_a_committed_link_to_an_uncommitted_expectation_is_told(project: Project, tmp_path: Path) -> None:
    (tmp_path / "outside.txt").write_text("changed without a trace")
    (project.root / "lockfiles").mkdir()
    link = project.root / "lockfiles" / "mine.txt"
    link.symlink_to(tmp_path / "outside.txt")
    project.commit()
    assert project.found(link).uncommitted != ()
