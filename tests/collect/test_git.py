"""Git as a reader: nothing in a repository or in our environment can redirect it, and nothing of it is executed."""

import hashlib
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from dflash_env.collect import git
from dflash_env.facts import Unknown
from tests.collect.conftest import Project

HOOKS = ("post-checkout", "post-index-change", "reference-transaction", "pre-commit", "fsmonitor-watchman")


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A program that leaves a mark when anybody starts it; the mark is `<trap>.sprung`."""
    script = tmp_path / "trap"
    script.write_text(f"#!/bin/sh\ntouch {script}.sprung\nexit 1\n")
    script.chmod(0o755)
    return script


def sprung(trap: Path) -> bool:
    return Path(f"{trap}.sprung").exists()


def test_head_is_the_commit(project: Project) -> None:
    assert git.head(project.root) == project.git("rev-parse", "HEAD")


def test_a_detached_head_is_the_commit_too(project: Project) -> None:
    first = project.git("rev-parse", "HEAD")
    project.commit()
    project.git("checkout", "--quiet", first)
    assert git.head(project.root) == first


def test_the_tree_lists_files_and_links_and_leaves_submodules_out(project: Project) -> None:
    (project.root / "trainer/link").symlink_to("loop.py")
    project.git("add", "--all")
    project.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},trainer/sub")
    project.git("commit", "--quiet", "--message", "a link and a submodule")
    entries = git.tree(project.root, project.git("rev-parse", "HEAD"), ["trainer"])
    assert not isinstance(entries, Unknown)
    assert {entry.path: (entry.is_link, entry.is_executable) for entry in entries} == {
        b"trainer/link": (True, False),
        b"trainer/loop.py": (False, False),
        b"trainer/run.sh": (False, True),
    }


@pytest.mark.parametrize("content", [b"", b"text\n", b"\0\xff binary \r\n"])
def test_a_blob_id_is_gits_own(project: Project, content: bytes) -> None:
    assert git.blob_id(content, 40) == project.git("hash-object", "--stdin", data=content)
    assert git.blob_id(content, 64) == hashlib.sha256(b"blob %d\0%s" % (len(content), content)).hexdigest()


def test_contents_come_from_the_object_database(project: Project) -> None:
    project.write("trainer/empty.py", "")
    project.write("trainer/blob.bin", b"\0\n\xff\n\n")
    commit = project.commit()
    project.write("trainer/blob.bin", b"edited")
    entries = git.tree(project.root, commit, ["trainer"])
    assert not isinstance(entries, Unknown)
    contents = git.blobs(project.root, entries)
    assert not isinstance(contents, Unknown)
    assert {entry.path: contents[entry.blob] for entry in entries} == {
        b"trainer/blob.bin": b"\0\n\xff\n\n",
        b"trainer/empty.py": b"",
        b"trainer/loop.py": b"print('loop')\n",
        b"trainer/run.sh": b"#!/bin/sh\n",
    }


def test_a_content_that_is_gone_is_unknown(project: Project) -> None:
    entries = git.tree(project.root, "HEAD", ["trainer"])
    assert not isinstance(entries, Unknown)
    found = git.blobs(project.root, [replace(entries[0], blob="1" * 40)])
    assert isinstance(found, Unknown)
    assert (found.code, "trainer/loop.py" in found.text) == ("damaged", True)


@pytest.mark.parametrize("damage", ["HEAD", "HEAD^{tree}"])
def test_a_damaged_object_is_unknown(project: Project, damage: str) -> None:
    wanted = project.git("rev-parse", damage)
    path = project.root / ".git/objects" / wanted[:2] / wanted[2:]
    path.chmod(0o644)
    path.write_bytes(b"no object")
    assert isinstance(project.collect(), Unknown)


def test_our_environment_cannot_redirect_git(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other"
    subprocess.run(["git", "clone", "--quiet", project.root, other], check=True)
    decoy = Project(root=other, repository=other)
    decoy.write("trainer/loop.py", "print('decoy')\n")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(other / ".git/objects"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.worktree")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(other))
    commit = decoy.commit()
    assert git.head(project.root) == project.found().commit != commit
    assert project.changes() == {}


def test_a_hostile_configuration_executes_nothing(project: Project, trap: Path, tmp_path: Path) -> None:
    project.write("trainer/.gitattributes", "*.py filter=evil diff=evil\n")
    project.commit()
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in HOOKS:
        (hooks / name).symlink_to(trap)
    for key, value in {
        "core.fsmonitor": trap,
        "core.hooksPath": hooks,
        "core.pager": trap,
        "core.alternateRefsCommand": trap,
        "diff.external": trap,
        "diff.evil.textconv": trap,
        "filter.evil.clean": trap,
        "filter.evil.smudge": trap,
        "filter.evil.process": trap,
        "filter.evil.required": "true",
        "alias.ls-tree": f"!{trap}",
    }.items():
        project.git("config", key, str(value))
    project.write("trainer/loop.py", "print('edited')\n")
    assert project.changes() == {"trainer/loop.py": "modified"}
    assert not sprung(trap)
    subprocess.run(["git", "-C", project.root, "status"], capture_output=True, check=False, env=project.env())
    assert sprung(trap), "the trap works: git's own status walked into it"


def test_a_hostile_partial_clone_fetches_nothing(project: Project, trap: Path) -> None:
    for key, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": str(project.root),
        "remote.origin.uploadPack": str(trap),
        "protocol.allow": "always",
    }.items():
        project.git("config", key, value)
    tree = project.git("rev-parse", "HEAD:trainer")
    (project.root / ".git/objects" / tree[:2] / tree[2:]).unlink()
    assert isinstance(project.collect(), Unknown)
    assert not sprung(trap)
    subprocess.run(["git", "-C", project.root, "ls-tree", "-r", "HEAD"], capture_output=True, check=False)
    assert sprung(trap), "the trap works: git's own ls-tree walked into it"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository away")
def test_a_repository_of_somebody_else_is_refused_with_gits_remedy(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))  # where no safe.directory is set
    os.chown(project.root, 12345, 12345)
    os.chown(project.root / ".git", 12345, 12345)
    found = git.head(project.root)
    assert isinstance(found, Unknown)
    assert "ownership" in found.text or "safe.directory" in found.text
