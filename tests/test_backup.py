"""A kept state is a commit like any other: git alone can read it. Keeping and bringing back: tests/test_restore.py."""

from pathlib import Path

import pytest

from dflash_env import backup
from dflash_env.errors import Failure
from tests.conftest import git
from tests.test_restore import edit, new, put_back, stage_and_edit


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return new(tmp_path / "project")


def test_git_alone_can_read_it(root: Path) -> None:
    stage_and_edit(root)
    kept = put_back(root)
    ref = f"{backup.REFS}{kept.id}"
    assert git(root, "show", f"{ref}:trainer/data.py") == "and edited on\n"
    assert git(root, "show", f"{ref}~1:trainer/data.py") == "staged\n", "the index's state"
    assert git(root, "rev-parse", f"{ref}~2") == git(root, "rev-parse", "HEAD")
    assert git(root, "branch", "--list").strip() == "* main"


def test_nothing_is_kept_by_a_look(root: Path) -> None:
    edit(root)
    assert backup.listed(root) == ()


def test_an_id_that_is_none_is_refused(root: Path) -> None:
    with pytest.raises(Failure, match="'20200101'") as failure:
        backup.read(root, "20200101")
    assert "restore --list" in failure.value.fix


def test_a_ref_of_somebody_else_is_no_kept_state(root: Path) -> None:
    git(root, "update-ref", f"{backup.REFS}mine", "HEAD")
    with pytest.raises(Failure, match="'mine'"):
        backup.read(root, "mine")
