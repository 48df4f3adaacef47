"""The state of a clone around its files, made with real git and held against git's own answers."""

import subprocess
from pathlib import Path

import pytest

from dflash_env.facts import Checkout, Hidden, Submodule, Unknown
from tests.collect.conftest import Project


def around(project: Project) -> Checkout:
    found = project.found().checkout
    assert isinstance(found, Checkout), found
    return found


def conflict(project: Project, *arguments: str) -> None:
    """Two branches that edit one line, and a command that cannot bring them together."""
    project.git("switch", "--quiet", "--create", "other")
    project.write("trainer/loop.py", "theirs\n")
    project.commit()
    project.git("switch", "--quiet", "main")
    project.write("trainer/loop.py", "ours\n")
    project.commit()
    with pytest.raises(subprocess.CalledProcessError):
        project.git(*arguments)


def test_a_fresh_commit_is_on_its_branch_and_nothing_else(project: Project) -> None:
    assert around(project) == Checkout(branch="main", operation="", shallow=False)


def test_another_branch_at_the_same_commit(project: Project) -> None:
    project.git("branch", "aaa")
    project.git("switch", "--quiet", "--create", "größe/x")
    assert around(project).branch == "größe/x"


def test_a_detached_head(project: Project) -> None:
    project.git("checkout", "--quiet", "--detach")
    assert project.git("branch", "--show-current") == around(project).branch == ""


@pytest.mark.parametrize(
    ("command", "operation"),
    [
        (("merge", "other"), "merge"),
        (("cherry-pick", "other"), "cherry-pick"),
        (("rebase", "other"), "rebase"),
        (("rebase", "--apply", "other"), "rebase"),
    ],
)
def test_an_operation_that_stopped_at_a_conflict(project: Project, command: tuple[str, ...], operation: str) -> None:
    conflict(project, *command)
    assert project.git("diff", "--name-only", "--diff-filter=U") == "trainer/loop.py"
    found = around(project)
    assert (found.operation, found.unmerged, found.staged) == (operation, ("trainer/loop.py",), ())
    assert project.changes() == {"trainer/loop.py": "unmerged"}


def test_a_revert_a_bisect_and_a_mailed_patch(project: Project) -> None:
    project.write("trainer/loop.py", "two\n")
    project.commit()
    project.git("revert", "--no-commit", "HEAD")
    assert around(project).operation == "revert"
    project.git("revert", "--abort")
    project.git("bisect", "start")
    assert around(project).operation == "bisect"
    project.git("bisect", "reset")
    mailed = project.git("format-patch", "--stdout", "-1").encode() + b"\n"
    project.write("trainer/loop.py", "three\n")
    project.commit()
    with pytest.raises(subprocess.CalledProcessError):
        project.git("am", "--quiet", data=mailed)
    assert around(project).operation == "am"


def test_an_unmerged_path_whose_file_is_heads(project: Project) -> None:
    conflict(project, "merge", "other")
    project.write("trainer/loop.py", "ours\n")
    assert around(project).unmerged == ("trainer/loop.py",)
    assert project.changes() == {}


# ---- the index ------------------------------------------------------------------------------------------------------


def test_what_is_only_staged(project: Project) -> None:
    project.write("trainer/loop.py", "staged\n")
    project.git("add", "--all")
    project.write("trainer/loop.py", "print('loop')\n")
    assert project.git("diff", "--cached", "--name-only") == "trainer/loop.py"
    assert (around(project).staged, project.changes()) == (("trainer/loop.py",), {})


def test_what_is_staged_and_told_of_elsewhere(project: Project) -> None:
    project.write("trainer/loop.py", "staged\n")
    project.write("trainer/stray.py")
    project.git("add", "--all")
    assert around(project).staged == ()


def test_a_new_a_removed_and_a_chmodded_entry(project: Project) -> None:
    project.write("trainer/notes.md")
    project.git("add", "--all")
    project.git("rm", "--quiet", "--cached", "trainer/loop.py")
    project.git("update-index", "--chmod=-x", "trainer/run.sh")
    found = around(project).staged
    assert "\n".join(found) == project.git("diff", "--cached", "--name-only")
    assert len(found) == 3


@pytest.mark.parametrize("flag", ["assume-unchanged", "skip-worktree"])
def test_a_path_that_git_was_told_not_to_see(project: Project, flag: str) -> None:
    project.git("update-index", f"--{flag}", "trainer/loop.py")
    assert around(project).hidden == (Hidden(path="trainer/loop.py", flag=flag),)
    project.git("update-index", f"--no-{flag}", "trainer/loop.py")
    assert around(project).hidden == ()


def test_both_flags_are_two(project: Project) -> None:
    project.git("update-index", "--assume-unchanged", "trainer/loop.py")
    project.git("update-index", "--skip-worktree", "trainer/loop.py")
    assert {each.flag for each in around(project).hidden} == {"assume-unchanged", "skip-worktree"}


def test_a_sparse_checkout(project: Project) -> None:
    project.git("sparse-checkout", "set", "checks")
    assert not (project.root / "trainer/loop.py").exists()
    assert project.changes() == {"trainer/loop.py": "sparse", "trainer/run.sh": "sparse"}
    assert around(project).hidden == ()
    project.git("sparse-checkout", "disable")
    assert project.changes() == {}


def test_a_file_that_was_deleted_behind_a_flag_without_a_sparse_checkout(project: Project) -> None:
    project.git("update-index", "--skip-worktree", "trainer/loop.py")
    (project.root / "trainer/loop.py").unlink()
    assert project.changes() == {"trainer/loop.py": "deleted"}
    assert [each.path for each in around(project).hidden] == ["trainer/loop.py"]


def test_an_index_that_is_damaged_is_unknown_and_the_files_are_compared_all_the_same(project: Project) -> None:
    project.write("trainer/loop.py", "edited\n")
    (project.root / ".git/index").write_bytes(b"no index")
    assert isinstance(project.found().checkout, Unknown)
    assert project.changes() == {"trainer/loop.py": "modified"}


# ---- other repositories ---------------------------------------------------------------------------------------------


def test_a_shallow_clone(project: Project, tmp_path: Path) -> None:
    project.commit()
    subprocess.run(["git", "clone", "--quiet", "--depth=1", f"file://{project.root}", tmp_path / "thin"], check=True)
    thin = Project(root=tmp_path / "thin", repository=tmp_path / "thin")
    assert (around(thin).shallow, thin.changes()) == (True, {})


def test_a_linked_work_tree_has_a_state_of_its_own(project: Project, tmp_path: Path) -> None:
    project.git("worktree", "add", "--quiet", str(tmp_path / "second"))
    conflict(project, "merge", "other")
    second = Project(root=tmp_path / "second", repository=tmp_path / "second")
    assert around(second) == Checkout(branch="second", operation="", shallow=False)


def test_a_submodule(project: Project, tmp_path: Path) -> None:
    theirs = Project(root=tmp_path / "theirs", repository=tmp_path / "theirs")
    theirs.write("data.txt")
    theirs.git("init", "--quiet")
    first = theirs.commit()
    add = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(theirs.root), "trainer/sub")
    project.git(*add)
    project.commit()
    assert around(project).submodules == (Submodule(path="trainer/sub", expected=first, found=first),)
    ours = Project(root=project.root / "trainer/sub", repository=project.root / "trainer/sub")
    second = ours.commit()
    project.git("config", "diff.ignoreSubmodules", "all")
    assert project.git("status", "--porcelain") == "", "git itself was told to be silent"
    assert [each.found for each in around(project).submodules] == [second]
    project.git("submodule", "--quiet", "deinit", "--force", "trainer/sub")
    assert [each.found for each in around(project).submodules] == [""]
