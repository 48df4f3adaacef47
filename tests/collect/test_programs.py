"""The Python and the uv that make a training venv, really asked."""

import hashlib
import os
import platform
import sys
from pathlib import Path

import pytest

from dflash_env.collect import programs
from dflash_env.errors import Exit, Failure

OURS = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of PATH besides the system's own."""
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.defpath}")
    return tmp_path


def script(file: Path, text: str) -> None:
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


def test_our_own_python_without_the_venv_around_it() -> None:
    found = programs.find_python(OURS)
    real = Path(found.path)
    assert found.version == platform.python_version()
    assert real == real.resolve()
    assert not (real.parent.parent / "pyvenv.cfg").exists()
    assert found.sha256 == hashlib.sha256(real.read_bytes()).hexdigest()


def test_another_python_is_found_on_the_path(path: Path) -> None:
    script(path / "python3.99", 'echo \'["/bin/sh", "3.99.4"]\'')
    found = programs.find_python("3.99")
    assert (found.path, found.version) == (str(Path("/bin/sh").resolve()), "3.99.4")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('echo \'["/bin/sh", "3.9.9"]\'', "is Python 3.9.9; the lock is for 3.99"),
        ("echo 'no such module' >&2; exit 1", "does not start: python3.99 ended with 1: no such module"),
    ],
)
def test_a_python_that_is_not_what_its_name_says(path: Path, text: str, said: str) -> None:
    script(path / "python3.99", text)
    with pytest.raises(Failure) as failure:
        programs.find_python("3.99")
    assert said in failure.value.message
    assert failure.value.exit_code is Exit.USAGE


def test_a_python_that_is_not_installed() -> None:
    with pytest.raises(Failure) as failure:
        programs.find_python("3.98")
    assert failure.value.message == "the lock is for Python 3.98, and there is no python3.98 on the PATH"
    assert "install Python 3.98" in failure.value.fix


def test_uv_is_the_one_beside_us_whatever_the_path_says(path: Path) -> None:
    script(path / "uv", "exit 1")
    found = Path(programs.find_uv())
    assert found.parent != path
    assert os.access(found, os.X_OK)
