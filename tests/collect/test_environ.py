"""The variables that inject code; no other is ever read, since a report travels."""

import errno
import os
from pathlib import Path

import pytest

from dflash_env import codec
from dflash_env.collect import environ
from dflash_env.facts import Unknown, Variable


def test_only_variables_known_by_name_are_read(tmp_path: Path) -> None:
    shell = {"HF_TOKEN": "hf_hunter2", "PYTHONPATH": "/opt", "LD_PRELOAD": "", "HOME": "/home/ada", "PATH": "/bin"}
    found = environ.collect(shell, tmp_path / "gone")
    assert found.variables == (Variable(name="PYTHONPATH", value="/opt"), Variable(name="LD_PRELOAD", value=""))
    assert "hunter2" not in codec.document(found)
    assert "ada" not in codec.document(found)


def test_it_reads_this_process_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHOME", "/opt/python")
    assert environ.collect().value("PYTHONHOME") == "/opt/python"


def test_no_preload_file_preloads_nothing(tmp_path: Path) -> None:
    assert environ.collect({}, tmp_path / "gone").preload_file == ()


@pytest.mark.parametrize(
    ("text", "libraries"),
    [
        ("", ()),
        ("# /a.so\n\n", ()),
        ("/a.so\n", ("/a.so",)),
        ("/a.so /b.so:/c.so # why\n/d.so", ("/a.so", "/b.so", "/c.so", "/d.so")),
    ],
)
def test_the_preload_file_is_read_as_the_loader_does(tmp_path: Path, text: str, libraries: tuple[str, ...]) -> None:
    (tmp_path / "preload").write_text(text)
    assert environ.collect({}, tmp_path / "preload").preload_file == libraries


def test_a_preload_file_that_is_no_text_still_shows(tmp_path: Path) -> None:
    (tmp_path / "preload").write_bytes(b"/\xff.so\n")
    assert environ.collect({}, tmp_path / "preload").preload_file == ("/\ufffd.so",)


def test_a_preload_file_that_cannot_be_read_is_unknown(tmp_path: Path) -> None:
    found = environ.collect({}, tmp_path).preload_file
    assert isinstance(found, Unknown)
    assert found.text == f"{tmp_path}: {os.strerror(errno.EISDIR)}"
