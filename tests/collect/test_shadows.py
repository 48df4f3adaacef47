"""What Python would load besides the committed modules: real bytecode, real links, real folders."""

import py_compile
import subprocess
import sys
from pathlib import Path

import pytest

from tests.collect.conftest import Project


def compiled(project: Project, mode: py_compile.PycInvalidationMode) -> str:
    path = py_compile.compile(str(project.root / "trainer/loop.py"), invalidation_mode=mode, doraise=True)
    return str(Path(path).relative_to(project.root))


def test_bytecode_that_python_runs_whatever_the_source_says(project: Project) -> None:
    path = compiled(project, py_compile.PycInvalidationMode.UNCHECKED_HASH)
    assert project.found().bytecode == (path,)
    project.write("trainer/loop.py", "print('another')\n")
    argv = [sys.executable, "-c", "import loop"]
    said = subprocess.run(argv, cwd=project.root / "trainer", capture_output=True, text=True, check=True).stdout
    assert said == "loop\n", "Python itself is blind to the edit"


@pytest.mark.parametrize("mode", ["TIMESTAMP", "CHECKED_HASH"])
def test_bytecode_that_python_compares_with_the_source(project: Project, mode: str) -> None:
    compiled(project, py_compile.PycInvalidationMode[mode])
    assert project.found().bytecode == ()


def test_bytecode_in_a_deeper_folder_and_what_is_none(project: Project) -> None:
    header = b"\xa7\r\r\n\x01\0\0\0" + b"\0" * 8
    project.write("checks/gpu/__pycache__/lost.cpython-311.pyc", header)
    project.write("checks/gpu/__pycache__/empty.cpython-311.pyc", b"")
    project.write("checks/gpu/__pycache__/notes.txt", header)
    (project.root / "checks/gpu/__pycache__/gone.pyc").symlink_to("nothing")
    assert project.found().bytecode == ("checks/gpu/__pycache__/lost.cpython-311.pyc",)


def test_committed_bytecode_is_heads(project: Project) -> None:
    compiled(project, py_compile.PycInvalidationMode.UNCHECKED_HASH)
    project.commit()
    assert (project.found().bytecode, project.changes()) == ((), {})


def test_bytecode_without_a_source_is_a_stray(project: Project) -> None:
    project.write("trainer/random.pyc")
    project.write("torch/__init__.pyc")
    assert project.found().strays == ("trainer/random.pyc", "torch")


@pytest.mark.parametrize("target", ["/etc/hostname", "../../outside", "../../nothing"])
def test_a_committed_link_out_of_the_repository(project: Project, target: str) -> None:
    (project.root / "trainer/data").symlink_to(target)
    project.commit()
    assert project.found().links == (f"trainer/data → {target}",)
    assert project.changes() == {}


def test_a_committed_link_inside_the_repository(project: Project) -> None:
    (project.root / "trainer/data").symlink_to("../checks")
    (project.root / "trainer/whole").symlink_to(project.root / "checks")
    project.commit()
    assert project.found().links == ()


def test_a_chain_of_links_that_ends_outside(project: Project) -> None:
    (project.root / "trainer/first").symlink_to("second")
    (project.root / "trainer/second").symlink_to("/etc")
    project.commit()
    assert len(project.found().links) == 2


def test_a_folder_that_would_extend_a_namespace_of_the_lock(project: Project) -> None:
    project.write("nvidia/cudnn/__init__.py")
    assert project.found().strays == ("nvidia",)


def test_a_namespace_folder_never_wins_over_a_package(project: Project) -> None:
    project.write("torch/deep/module.py")
    assert project.found().strays == ()
