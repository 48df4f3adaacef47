"""The command line as a user meets it: two lines for every mistake, the right exit code, and nothing half made."""

import json
import os
import pty
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from dflash_env.cli import cli
from tests.conftest import Clone, git


def assert_two_lines(said: str, *words: str) -> None:
    lines = said.strip().splitlines()
    assert lines[0].startswith("error: "), said
    assert lines[-1].startswith("fix: "), said
    assert len(lines) >= 2 and "Traceback" not in said, said
    for word in words:
        assert word in said, said


def walk(command: click.Command, path: str = "dflash-env") -> list[tuple[str, click.Command]]:
    below = command.commands.items() if isinstance(command, click.Group) else ()
    return [(path, command), *(each for name, child in below for each in walk(child, f"{path} {name}"))]


@pytest.mark.parametrize(("path", "command"), walk(cli), ids=lambda each: each if isinstance(each, str) else "")
def test_every_command_and_option_is_explained(path: str, command: click.Command) -> None:
    assert command.help, path
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{path} {parameter.opts}"


def test_no_torch_and_no_transformers_are_ever_imported(clone: Clone, tmp_path: Path) -> None:
    for name in ("torch", "transformers"):
        (tmp_path / "traps" / name).mkdir(parents=True)
        (tmp_path / "traps" / name / "__init__.py").write_text("raise ImportError('imported')\n")
    done = clone.run("doctor", "--json", PYTHONPATH=f"{clone.root}:{tmp_path / 'traps'}")
    assert json.loads(done.stdout)["schema"] == 1, done.stderr
    assert "imported" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["doctor", "--profile", "nod8"], ["did you mean 'node8'"]),
        (["doctor", "--replay", "absent.json"], ["absent.json", "doctor --json"]),
        (["doctor", "--replay", "pyproject.toml"], ["pyproject.toml"]),
        (["explain", "gpu-count-wrog"], ["did you mean 'gpu-count-wrong'"]),
        (["rebuild", "--profile", "tinny"], ["did you mean 'tiny'"]),
        (["lock", "nonsense"], ["nonsense"]),
    ],
    ids=" ".join,
)
def test_a_wrong_argument_is_two_lines_and_exit_2(clone: Clone, arguments: list[str], words: list[str]) -> None:
    done = clone.run(*arguments)
    assert done.returncode == 2, done.stderr
    assert_two_lines(done.stderr, *words)
    assert git(clone.root, "status", "--porcelain") == "" and not (clone.root / ".dflash").exists()


@pytest.mark.parametrize("arguments", [["doctor", "--jsno"], ["frobnicate"], ["explain"]], ids=" ".join)
def test_a_wrong_option_is_exit_2(clone: Clone, arguments: list[str]) -> None:
    done = clone.run(*arguments)
    assert done.returncode == 2
    assert "Error: " in done.stderr and "fix: " in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [["run"], ["run", "trian"], ["run", "--profil", "x", "train"], ["run", "train", "--profile", "nod8"]],
    ids=" ".join,
)
def test_run_answers_125_for_everything_before_the_trainer(clone: Clone, arguments: list[str]) -> None:
    assert clone.run(*arguments).returncode == 125
    assert not (clone.root / ".dflash").exists()


def test_help_is_no_refusal(clone: Clone) -> None:
    assert clone.run("run", "--help").returncode == 0


def test_a_key_that_does_not_exist_is_named_with_its_file(clone: Clone) -> None:
    path = clone.root / "pyproject.toml"
    path.write_text(path.read_text().replace("default_profile", "default_profil"))
    done = clone.run("doctor")
    assert done.returncode == 2
    assert_two_lines(done.stderr, "did you mean 'default_profile'", str(path))


def test_a_missing_lock_says_how_to_make_it(clone: Clone) -> None:
    (clone.root / "lockfiles" / "cu12-cp311.txt").unlink()
    for command, code in ((("doctor",), 2), (("rebuild",), 2), (("run", "train"), 125)):
        done = clone.run(*command)
        assert done.returncode == code
        assert_two_lines(done.stderr, "cu12-cp311", "dflash-env lock")
    assert not (clone.root / ".dflash").exists()


def test_a_folder_that_is_no_repository_is_a_finding_with_its_fix(clone: Clone) -> None:
    (clone.root / ".git").rename(clone.root.parent / "git-taken-away")
    done = clone.run("doctor")
    assert done.returncode == 1
    assert "source-facts-incomplete" in done.stdout and "in no git repository" in " ".join(done.stdout.split())
    assert clone.run("run", "train").returncode == 125


def test_a_repository_without_commits_is_a_finding_with_its_fix(clone: Clone) -> None:
    (clone.root / ".git").rename(clone.root.parent / "git-taken-away")
    git(clone.root, "init", "--quiet")
    done = clone.run("doctor")
    assert done.returncode == 1
    assert "no commit yet" in done.stdout and "git commit" in done.stdout


def test_git_missing_is_a_finding_with_its_fix(clone: Clone, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = clone.run("doctor", PATH=str(tmp_path / "empty"))
    assert done.returncode == 1
    assert "Install git" in done.stdout


def test_a_path_with_spaces_is_a_path(make_clone: Callable[[str], Clone]) -> None:
    clone = make_clone("my drafter, new")
    done = clone.run("doctor", "--json")
    document = json.loads(done.stdout)
    assert document["facts"]["repo"]["changes"] == []
    failed = [each["check"] for each in document["results"] if each["outcome"] == "failed"]
    assert failed == ["venv-not-built"]


def test_uv_missing_is_two_lines_and_exit_3(clone: Clone, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden" / "uv"
    hidden.mkdir(parents=True)
    hidden.joinpath("__init__.py").write_text("def find_uv_bin():\n    raise FileNotFoundError\n")
    done = clone.run("rebuild", PYTHONPATH=f"{hidden.parent}:{clone.root}")
    assert done.returncode == 3, done.stderr
    assert_two_lines(done.stderr, "uv is not installed")


def test_no_network_on_the_first_build_is_two_lines_and_exit_3(clone: Clone) -> None:
    nowhere = {"UV_INDEX_URL": "http://127.0.0.1:9/simple", "UV_HTTP_TIMEOUT": "2", "UV_HTTP_RETRIES": "0"}
    done = clone.run("rebuild", **nowhere)
    assert done.returncode == 3, done.stderr
    said = done.stderr[done.stderr.index("error: ") :]
    assert_two_lines(said, "network")
    left = [path.name for path in (clone.root / ".dflash" / "venvs").iterdir()]
    assert left == [".lock"]
    assert clone.run("doctor").returncode == 1


def test_a_file_in_the_way_of_the_state_folder_is_two_lines_and_exit_3(clone: Clone) -> None:
    (clone.root / ".dflash").write_text("in the way")
    done = clone.run("rebuild")
    assert done.returncode == 3
    assert_two_lines(done.stderr, str(clone.root / ".dflash"), "state = PATH")
    assert (clone.root / ".dflash").read_text() == "in the way"


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [["doctor"], ["doctor", "--json"]], ids=" ".join)
def test_a_full_output_is_no_bug(clone: Clone, arguments: list[str], unbuffered: str) -> None:
    argv = [sys.executable, "-P", "-m", "dflash_env", *arguments]
    with open("/dev/full", "w") as full:  # noqa: PTH123 - a device
        done = subprocess.run(
            argv,
            cwd=clone.root,
            env=clone.environment(PYTHONUNBUFFERED=unbuffered),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 3, done.stderr
    assert_two_lines(done.stderr, "No space left")


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_closed_output_changes_no_verdict(clone: Clone, closed: str) -> None:
    command = f"exec {sys.executable} -P -m dflash_env doctor {closed}"
    done = subprocess.run(
        command, shell=True, cwd=clone.root, env=clone.environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stderr == ""


def test_a_working_folder_that_is_gone_is_no_bug(clone: Clone, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = f"cd {gone} && rmdir {gone} && exec {sys.executable} -P -m dflash_env doctor"
    done = subprocess.run(command, shell=True, env=clone.environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    assert_two_lines(done.stderr)


def test_a_scheduler_that_ends_a_rebuild_leaves_nothing_half_made(clone: Clone) -> None:
    (clone.root / ".dflash" / "venvs").mkdir(parents=True)
    argv = [sys.executable, "-P", "-m", "dflash_env", "rebuild"]
    with socket.create_server(("127.0.0.1", 0)) as silent:  # an index that takes the call and says nothing
        index = f"http://127.0.0.1:{silent.getsockname()[1]}/simple"
        env = clone.environment(UV_INDEX_URL=index, UV_HTTP_TIMEOUT="60")
        with subprocess.Popen(argv, cwd=clone.root, env=env, stderr=subprocess.PIPE, text=True) as ours:
            assert ours.stderr
            while "install the" not in ours.stderr.readline():
                pass
            ours.terminate()
            said = ours.stderr.read()
    assert ours.returncode == 130, said
    assert "interrupted" in said
    assert not (clone.root / ".dflash" / "venvs" / ".building").exists()


def test_a_reader_that_goes_away_is_no_bug(clone: Clone) -> None:
    command = f"{sys.executable} -P -m dflash_env explain --all | head -n 1"
    done = subprocess.run(
        command, shell=True, cwd=clone.root, env=clone.environment(), capture_output=True, text=True, check=False
    )
    assert done.stdout == "# Checks\n"
    assert done.stderr == ""


def test_a_bug_is_one_line_and_a_file_to_send(clone: Clone, tmp_path: Path) -> None:
    (clone.root / "checks" / "gpu" / "broken.py").write_text("1 / 0\n")
    done = clone.run("doctor", TMPDIR=str(tmp_path))
    assert done.returncode == 70
    assert len(done.stderr.splitlines()) == 1 and "bug" in done.stderr
    saved = Path(done.stderr.split()[-1])
    assert "ZeroDivisionError" in saved.read_text()


def colours(clone: Clone, **env: str) -> bool:
    """Whether `doctor` prints colour codes on a terminal."""
    master, slave = pty.openpty()
    argv = [sys.executable, "-P", "-m", "dflash_env", "doctor"]
    subprocess.run(argv, cwd=clone.root, env=clone.environment(**env), stdout=slave, stderr=slave, check=False)
    os.close(slave)
    said = os.read(master, 65536)
    os.close(master)
    return b"\x1b[" in said


def test_colour_is_for_terminals_that_want_it(clone: Clone) -> None:
    assert colours(clone, TERM="xterm")
    assert not colours(clone, TERM="xterm", NO_COLOR="1")
    assert "\x1b[" not in clone.run("doctor").stdout
