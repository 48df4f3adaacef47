"""Files that differ from HEAD byte by byte: git's own conversions are accounted for, and no filter is started."""

import hashlib
from pathlib import Path

import pytest

from tests.collect.conftest import Project
from tests.collect.test_git import sprung, trap

__all__ = ["trap"]

CONTENT = b"weights\n" * 100


def pointer(content: bytes) -> str:
    digest = hashlib.sha256(content).hexdigest()
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(content)}\n"


def attributes(project: Project, line: str) -> None:
    project.write(".gitattributes", f"{line}\n")
    project.git("add", ".gitattributes")
    project.git("commit", "--quiet", "--message", "attributes")


def status(project: Project) -> str:
    project.git("add", "--renormalize", ".")
    return project.git("status", "--porcelain", "trainer")


@pytest.mark.parametrize("line", ["*.py text", "*.py text=auto", "*.py eol=crlf"])
def test_line_endings_that_git_converts(project: Project, line: str) -> None:
    attributes(project, line)
    project.write("trainer/loop.py", "print('loop')\r\n")
    assert status(project) == ""
    assert project.changes() == {}


def test_line_endings_that_git_keeps(project: Project) -> None:
    attributes(project, "*.py -text")
    project.write("trainer/loop.py", "print('loop')\r\n")
    assert project.changes() == {"trainer/loop.py": "modified"}


def test_an_edit_beside_a_conversion(project: Project) -> None:
    attributes(project, "*.py text")
    project.write("trainer/loop.py", "print('edited')\r\n")
    assert project.changes() == {"trainer/loop.py": "modified"}


def test_an_identity_that_git_expanded(project: Project) -> None:
    project.write("trainer/loop.py", "# $Id$\n")
    project.write(".gitattributes", "*.py ident\n")
    project.commit()
    (project.root / "trainer/loop.py").unlink()
    project.git("checkout", "trainer/loop.py")
    assert (project.root / "trainer/loop.py").read_text() != "# $Id$\n"
    assert project.changes() == {}
    project.write("trainer/loop.py", "# $Id: anything $\n")
    assert status(project) == "", "git itself is blind to it"
    assert project.changes() == {"trainer/loop.py": "modified"}


def test_an_encoding_that_git_converts(project: Project) -> None:
    project.write(".gitattributes", "loop.py working-tree-encoding=UTF-16\n")
    project.write("trainer/loop.py", "größe\n".encode("utf-16"))
    project.commit()
    assert project.changes() == {}
    project.write("trainer/loop.py", "größer\n".encode("utf-16"))
    assert project.changes() == {"trainer/loop.py": "modified"}


def test_a_mode_behind_a_conversion(project: Project) -> None:
    attributes(project, "*.py text")
    project.write("trainer/loop.py", "print('loop')\r\n").chmod(0o755)
    assert project.changes() == {"trainer/loop.py": "mode"}


def test_in_a_subfolder_of_the_repository(project: Project) -> None:
    project.write("inner/trainer/loop.py", "print('inner')\n")
    project.write("inner/trainer/.gitattributes", "loop.py text\n")
    project.write("inner/trainer/raw.py", "raw\n")
    project.commit()
    inner = project.below("inner")
    inner.write("trainer/loop.py", "print('inner')\r\n")
    inner.write("trainer/raw.py", "raw\r\n")
    assert inner.changes() == {"trainer/raw.py": "modified"}


# ---- LFS ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def large(project: Project) -> Project:
    """A project whose commit holds a pointer, as git LFS makes it."""
    project.write("trainer/weights.bin", pointer(CONTENT))
    project.commit()
    attributes(project, "*.bin filter=lfs diff=lfs merge=lfs -text")
    return project


def test_the_content_that_the_pointer_names(large: Project) -> None:
    large.write("trainer/weights.bin", CONTENT)
    assert large.changes() == {}


def test_another_content_than_the_pointer_names(large: Project) -> None:
    large.write("trainer/weights.bin", CONTENT[:-1])
    assert large.changes() == {"trainer/weights.bin": "modified"}


def test_the_pointer_where_the_content_is_expected(large: Project) -> None:
    assert large.changes() == {"trainer/weights.bin": "pointer"}


def test_a_content_where_no_pointer_was_committed(project: Project) -> None:
    attributes(project, "*.py filter=lfs")
    project.write("trainer/loop.py", "edited\n")
    assert project.changes() == {"trainer/loop.py": "modified"}


# ---- filters --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["crypt", "unspecified", "unset", "set"])
def test_a_filter_is_never_clean_and_never_started(project: Project, trap: Path, name: str) -> None:
    attributes(project, f"*.py filter={name} text")
    for key in ("clean", "smudge", "process"):
        project.git("config", f"filter.{name}.{key}", str(trap))
    project.write("trainer/loop.py", "print('edited')\n")
    [change] = project.found().changes
    # Git answers these words for "no filter" too: an edit either way, and not started either way.
    assert (change.how, change.filter) == (("filtered", "crypt") if name == "crypt" else ("modified", ""))
    assert not sprung(trap)


def test_a_filter_of_the_local_attributes_that_gives_the_old_text(project: Project) -> None:
    (project.root / ".git/info").mkdir(exist_ok=True)
    (project.root / ".git/info/attributes").write_text("*.py filter=old\n")
    project.git("config", "filter.old.clean", "echo \"print('loop')\"")
    project.write("trainer/loop.py", "print('hidden')\n")
    assert status(project) == "", "git itself is blind to it"
    assert project.changes() == {"trainer/loop.py": "filtered"}
