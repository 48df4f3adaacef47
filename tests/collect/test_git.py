"""Git as a reader: nothing in a repository or in our environment can redirect it, and nothing of it is executed."""

import hashlib
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from dflash_env.collect import git
from dflash_env.facts import Checkout, Unknown
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
    project.write("trainer/.gitattributes", "*.py filter=evil diff=evil merge=evil\n")
    project.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},trainer/sub")
    project.write(".gitmodules", f'[submodule "sub"]\n\tpath = trainer/sub\n\turl = x\n\tupdate = !{trap}\n')
    project.git("add", "--all", "--force", ".gitmodules", "trainer/.gitattributes")
    project.git("commit", "--quiet", "--message", "hostile")
    (project.root / "trainer/sub").mkdir(exist_ok=True)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in HOOKS:
        (hooks / name).symlink_to(trap)
    for key, value in hostile(trap, hooks).items():
        project.git("config", "--file", str(tmp_path / "included"), key, value)
    project.git("config", "include.path", str(tmp_path / "included"))
    project.write("trainer/loop.py", "print('edited')\n")
    assert project.changes() == {"trainer/loop.py": "filtered"}
    assert not sprung(trap)
    subprocess.run(["git", "-C", project.root, "status"], capture_output=True, check=False, env=project.env())
    assert sprung(trap), "the trap works: git's own status walked into it"


def hostile(trap: Path, hooks: Path) -> dict[str, str]:
    """Every setting that makes git start a program."""
    programs = (
        *(f"core.{name}" for name in ("fsmonitor", "pager", "sshCommand", "gitProxy", "askPass", "editor")),
        *(f"filter.evil.{name}" for name in ("clean", "smudge", "process")),
        *("core.alternateRefsCommand", "diff.external", "diff.evil.textconv", "diff.evil.command", "merge.evil.driver"),
        *("credential.helper", "gpg.program", "pager.ls-tree", "pager.config", "sequence.editor"),
    )
    aliases = ("ls-tree", "ls-files", "cat-file", "rev-parse", "check-attr", "for-each-ref", "config", "version")
    return (
        {key: str(trap) for key in programs}
        | {f"alias.{name}": f"!{trap}" for name in aliases}
        | {"core.hooksPath": str(hooks), "filter.evil.required": "true", "submodule.sub.update": f"!{trap}"}
    )


def test_a_hostile_submodule_executes_nothing(project: Project, trap: Path) -> None:
    inner = Project(root=project.root / "trainer/sub", repository=project.root / "trainer/sub")
    inner.write("data.txt")
    inner.git("init", "--quiet")
    commit = inner.commit()
    project.commit()
    for key, value in hostile(trap, trap.parent).items():
        inner.git("config", key, value)
    found = project.found().checkout
    assert isinstance(found, Checkout)
    assert [each.found for each in found.submodules] == [commit]
    assert not sprung(trap)


@pytest.mark.parametrize("url", [".", "ssh://nowhere.invalid/x"])
def test_a_hostile_partial_clone_fetches_nothing(project: Project, trap: Path, url: str) -> None:
    for key, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": url,
        "core.sshCommand": str(trap),
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
    assert found.code == "ownership"
    assert f"`git config --global --add safe.directory {project.root}`" in found.text
    argv = ["git", "config", "--global", "--add", "safe.directory", str(project.root)]
    subprocess.run(argv, check=True, env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
    assert isinstance(git.head(project.root), str), "the remedy helps"


OLD = """#!/bin/sh
for word; do
    case "$word" in
        version) echo "git version $VERSION"; exit 0;;
        --is-shallow-repository) echo "$word"; exit 0;;
    esac
done
[ "$VERSION" = 1.7.1 ] && { echo "Unknown option: -C" >&2; exit 129; }
echo /somewhere
"""


@pytest.mark.parametrize("version", ["1.7.1", "2.14.3"])
def test_a_git_that_is_too_old(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").write_text(OLD.replace("$VERSION", version))
    (tmp_path / "bin/git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    found = git.place(project.root)
    assert isinstance(found, Unknown)
    assert (found.code, version.rpartition(".")[0] in found.text) == ("too-old", True)


def test_a_place_with_a_newline_in_its_name(tmp_path: Path, project: Project) -> None:
    project.root.rename(tmp_path / "two\nlines")
    found = git.place(tmp_path / "two\nlines")
    assert isinstance(found, git.Place)
    assert (found.top, found.folder) == (tmp_path / "two\nlines", tmp_path / "two\nlines" / ".git")
