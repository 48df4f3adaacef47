"""Steps run with a limit, their failures are told, and the hand-off becomes the process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dflash_env import execute
from dflash_env.errors import StepFailed
from dflash_env.plan import Step


def step(code: str, **env: str) -> Step:
    return Step(why="try something", argv=(sys.executable, "-c", code), cwd="/", env=env)


def test_a_step_returns_what_it_printed() -> None:
    assert execute.run(step("import os; print(os.environ['A'])", A="1"), limit_s=20) == b"1\n"


def test_a_step_sees_only_what_the_plan_gives_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "s")
    assert b"SECRET" not in execute.run(step("import os; print(dict(os.environ))"), limit_s=20)


def test_a_failure_says_why_it_was_tried_and_ends_with_its_last_words() -> None:
    with pytest.raises(StepFailed) as failure:
        execute.run(step("import sys; sys.exit('the disk said: no space left on device')"), limit_s=20)
    assert "could not try something" in failure.value.message
    assert "no space left" in failure.value.message
    assert "df -h" in failure.value.fix


def test_an_accepted_code_is_no_failure() -> None:
    execute.run(step("raise SystemExit(77)"), limit_s=20, accepted=(0, 77))


def test_a_step_that_takes_too_long_is_ended() -> None:
    watched: list[int] = []
    with pytest.raises(StepFailed, match="took too long"):
        execute.run(step("import time; time.sleep(600)"), limit_s=1, meanwhile=watched.append)
    execute_left = [pid for pid in watched if Path(f"/proc/{pid}").exists()]
    assert not execute_left


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(StepFailed, match="/no/such/uv"):
        execute.run(Step(why="w", argv=("/no/such/uv",), cwd="/"), limit_s=1)


def test_files_are_written_with_their_mode(tmp_path: Path) -> None:
    execute.write_files(tmp_path, {"a/b.py": (b"x", False), "a/run": (b"y", True)})
    assert (tmp_path / "a" / "b.py").read_bytes() == b"x"
    assert os.access(tmp_path / "a" / "run", os.X_OK) and not os.access(tmp_path / "a" / "b.py", os.X_OK)


def test_the_hand_off_is_the_same_process_and_answers_its_code(tmp_path: Path) -> None:
    become = "import os; print(os.getpid(), os.getcwd()); raise SystemExit(75)"
    code = f"""
import os
from dflash_env import execute
from dflash_env.plan import Step
print(os.getpid(), flush=True)
execute.hand_off(Step(why="w", argv=({sys.executable!r}, "-c", {become!r}), cwd={str(tmp_path)!r}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    before, after = done.stdout.splitlines()
    assert after == f"{before} {tmp_path}"
    assert done.returncode == 75
