"""A process with a limit and a scrubbed environment; every way it can fail is an Unknown that says which."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dflash_env.collect import child
from dflash_env.facts import Unknown


def python(code: str, *, limit_s: float = 60, **more: object) -> bytes | Unknown:
    return child.run([sys.executable, "-I", "-c", code], limit_s=limit_s, env=child.environment(), **more)  # type: ignore[arg-type]


@pytest.fixture
def left(tmp_path: Path) -> Iterator[Path]:
    """A file for the ids of processes that outlive the call on purpose; they are ended with the test."""
    noted = tmp_path / "left"
    yield noted
    for pid in noted.read_text().split():
        os.kill(int(pid), signal.SIGKILL)


def test_what_it_says_is_the_answer() -> None:
    assert python("print('well')") == b"well\n"


def test_what_it_complains_of_is_not() -> None:
    assert python("import sys; print('a warning', file=sys.stderr)") == b""


def test_it_gets_its_input_and_its_folder(tmp_path: Path) -> None:
    code = "import os, sys; print(os.getcwd(), sys.stdin.read())"
    assert python(code, data=b"hello", cwd=tmp_path) == f"{tmp_path} hello\n".encode()


def test_a_program_that_never_answers_is_ended() -> None:
    found = python("import signal; signal.pause()", limit_s=0.1)
    assert found == Unknown(code="timeout", text=f"{Path(sys.executable).name} did not answer within 0.1 s")


@pytest.mark.parametrize("then", ["wait", "exit 0"], ids=["its parent waits", "its parent is gone"])
def test_a_grandchild_that_keeps_the_pipe_is_not_waited_for(left: Path, then: str) -> None:
    code = f"sleep 60 & echo $! > {shlex.quote(str(left))}; {then}"
    found = child.run(["sh", "-c", code], limit_s=1, env=child.environment())
    assert found == Unknown(code="timeout", text="sh did not answer within 1 s")
    os.kill(int(left.read_text()), 0)  # it still runs, and holds the pipe


def test_a_child_that_cannot_be_ended_is_not_waited_for(left: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(subprocess.Popen, "kill", lambda process: asked.append(process.pid))
    code = f"echo $$ > {shlex.quote(str(left))}; exec sleep 60"
    found = child.run(["sh", "-c", code], limit_s=1, env=child.environment())
    assert found == Unknown(code="timeout", text="sh did not answer within 1 s")
    assert asked == [int(left.read_text())]
    os.kill(asked[0], 0)  # it still runs, as one that hangs in a driver would


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    found = child.run([str(tmp_path / "nobody")], limit_s=60, env={})
    assert found == Unknown(code="missing", text="nobody cannot be started: No such file or directory")


def test_a_program_that_may_not_be_started(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("no program")
    found = child.run([str(tmp_path / "plain")], limit_s=60, env={})
    assert found == Unknown(code="missing", text="plain cannot be started: Permission denied")


def test_a_program_that_fails_says_its_last_word() -> None:
    found = python("import sys; print('first\\nlast \\udcff', file=sys.stderr); sys.exit(3)")
    assert isinstance(found, Unknown)
    assert (found.code, "ended with 3: last" in found.text) == ("failed", True)


def test_a_program_that_fails_without_a_word() -> None:
    found = python("import sys; sys.exit(3)")
    assert isinstance(found, Unknown)
    assert found.text.endswith("ended with 3: no word")


def test_a_program_that_is_killed_is_no_answer() -> None:
    found = python("import os, signal; print('half', flush=True); os.kill(os.getpid(), signal.SIGKILL)")
    assert isinstance(found, Unknown)
    assert "ended with -9" in found.text


def test_only_allowed_variables_are_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_DIR", "HF_TOKEN", "LD_PRELOAD", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "TMPDIR"):
        monkeypatch.setenv(name, f"/{name}")
    monkeypatch.delenv("LC_ALL", raising=False)
    environment = child.environment(GIT_TERMINAL_PROMPT="0")
    assert set(environment) <= {*child.PASSED_ON, "GIT_TERMINAL_PROMPT"}
    assert environment["LD_LIBRARY_PATH"] == "/LD_LIBRARY_PATH"
    assert environment["PATH"] == os.environ["PATH"]
    assert "LC_ALL" not in environment, "what is not set is not invented"
    listed = child.run(["env", "-0"], limit_s=60, env=environment)
    assert isinstance(listed, bytes)
    assert {line.partition("=")[0] for line in listed.decode().split("\0") if line} == set(environment)


def test_a_stated_variable_wins_over_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert child.environment(LC_ALL="C")["LC_ALL"] == "C"
