"""Checksums that other tools can check."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from dflash_env import checksums
from dflash_env.errors import StepFailed
from tests.conftest import git
from tests.test_restore import SOURCE, new


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = new(tmp_path / "project")
    for name in ("with space.py", "new\nline.py", "back\\slash.py", os.fsdecode(b"caf\xe9.py")):
        (root / "trainer" / name).write_text(f"{name!r}\n")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "odd names")
    return root


def check(root: Path, tmp_path: Path) -> subprocess.CompletedProcess[bytes]:
    listed = tmp_path / "sums"
    listed.write_bytes(checksums.checkable(checksums.take(root, tuple(SOURCE))))
    (root / "trainer" / "loop.py").write_text("edited\n") if (tmp_path / "edit").exists() else None
    return subprocess.run(["sha256sum", "--check", listed], cwd=root, capture_output=True, check=False)


def test_sha256sum_accepts_the_file_and_sees_an_edit(root: Path, tmp_path: Path) -> None:
    done = check(root, tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == len(checksums.take(root, tuple(SOURCE)).files) == 8
    (tmp_path / "edit").touch()
    assert b"trainer/loop.py: FAILED" in check(root, tmp_path).stdout


def test_the_fuller_form_has_gits_blob_and_md5(root: Path) -> None:
    document = json.loads(checksums.document(checksums.take(root, tuple(SOURCE))))
    one = next(each for each in document["files"] if each["path"] == "trainer/loop.py")
    assert one["git_blob"] == git(root, "rev-parse", "HEAD:trainer/loop.py").strip()
    summed = subprocess.run(["md5sum", root / "trainer" / "loop.py"], capture_output=True, text=True, check=True)
    assert summed.stdout.startswith(one["md5"])
    assert document["commit"] == git(root, "rev-parse", "HEAD").strip()


def test_a_file_that_is_gone_is_named(root: Path) -> None:
    (root / "trainer" / "data.py").unlink()
    with pytest.raises(StepFailed, match="trainer/data"):
        checksums.take(root, tuple(SOURCE))


def test_outside_a_repository_nothing_vouches(tmp_path: Path) -> None:
    with pytest.raises(StepFailed, match="nothing vouches"):
        checksums.take(tmp_path, ("trainer",))
