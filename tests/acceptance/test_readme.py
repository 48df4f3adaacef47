"""The README is true: its commands are run in a fresh clone, and what it names exists."""

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from dflash_env import config
from dflash_env.cli import cli
from tests.conftest import Clone

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text()
COMMANDS = re.findall(r"^\$ (.+)$", README, re.MULTILINE)


def make(clone: Clone, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """`make ARGUMENTS` as a newcomer types it."""
    newcomer = {name: value for name, value in clone.environment(**env).items() if name != "PYTHONPATH"}
    return subprocess.run(
        ["make", *arguments], cwd=clone.root, env=newcomer, capture_output=True, text=True, check=False
    )


def test_the_readme_shows_two_commands() -> None:
    assert COMMANDS == ["make train", "make test"]


def test_make_train_trains_a_real_drafter(built: Clone) -> None:
    """The one full training of this suite. The venv is this working tree's; all else is made from nothing."""
    done = make(built, "train")
    assert done.returncode == 0, done.stdout + done.stderr
    (run,) = (built.root / ".dflash" / "runs").iterdir()
    result = json.loads((run / "result.json").read_text())
    accepted, exactness = result["accepted_length"], result["exactness"]
    assert accepted["untrained"] < 1.2
    assert 3.0 <= accepted["trained"] < 8
    assert exactness["identical"] + len(exactness["ties"]) == exactness["prompts"] > 0
    assert (run / "checkpoints" / f"step-{result['steps']}" / "model.safetensors").is_file()


def test_make_test_runs_this_suite_and_the_trainers(clone: Clone) -> None:
    planned = make(clone, "--dry-run", "test").stdout
    assert "pytest tests --ignore tests/trainer" in planned
    assert "tests/inside.py tests/trainer" in planned


def test_make_alone_lists_every_target(clone: Clone) -> None:
    listed = set(re.findall(r"^  make (\w+)", make(clone).stdout, re.MULTILINE))
    declared = re.search(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert declared and listed == set(declared[1].split())


@pytest.mark.parametrize(("python", "said"), [("/no/such/python", "no Python 3.11"), ("/bin/false", "no Python 3.11")])
def test_a_python_that_does_not_do_is_named(clone: Clone, python: str, said: str) -> None:
    done = make(clone, "train", f"PYTHON={python}")
    assert done.returncode == 2
    assert said in done.stderr and "fix:" in done.stderr
    assert not (clone.root / ".venv").exists()


def test_a_python_without_ensurepip_is_named(clone: Clone, tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\ncase "$*" in *ensurepip*) exit 1 ;; esac\nexit 0\n')
    python.chmod(0o755)
    done = make(clone, "train", f"PYTHON={python}")
    assert done.returncode == 2
    assert "has no ensurepip" in done.stderr and "python3.11-venv" in done.stderr
    assert not (clone.root / ".venv").exists()


def test_the_profile_it_shows_is_read(tmp_path: Path) -> None:
    (block,) = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    text = re.sub(r"^ {3}", "", block, flags=re.MULTILINE)
    assert tomllib.loads(text)["tool"]["dflash-env"]["default_profile"] == "mine"
    (tmp_path / "pyproject.toml").write_text(text)
    assert config.load(tmp_path).profile(None).drafters == 3


def test_every_command_has_its_row() -> None:
    shown = set(re.findall(r"^\| `dflash-env (\w+)", README, re.MULTILINE))
    assert shown == set(cli.commands)


def test_every_file_it_names_exists() -> None:
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in link]
    named = re.findall(r"`((?:checks|lockfiles|trainer|docs)/[\w./-]+)`", README)
    for path in [*links, *named]:
        assert (ROOT / path).exists() or path == "lockfiles/machines/my-machine.toml", path
