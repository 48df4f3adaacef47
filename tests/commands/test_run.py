"""The gate and the hand-off, through the real command line and the real training venv."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Clone, git

FEW_STEPS = (
    "data.train=sample:48",
    "data.heldout=sample:8",
    "train.steps=3",
    "train.warmup=0.5",
    "evaluate.prompts=2",
    "evaluate.new_tokens=16",
    "expect.trained_at_least=1.0",
    "expect.distinct_tokens_at_least=1",
)
"""Enough of a run to see every part of it, in seconds."""


def runs(clone: Clone) -> list[Path]:
    folder = clone.root / ".dflash" / "runs"
    return sorted(folder.iterdir()) if folder.exists() else []


def document(path: Path) -> dict:
    return json.loads(path.read_text())


def test_a_refused_launch_leaves_no_run_and_starts_no_process(built: Clone) -> None:
    (built.root / "trainer" / "random.py").write_text("raise SystemExit('the stray was imported')\n")
    done = built.run("run", "train")
    assert done.returncode == 125
    assert "trainer/random.py" in done.stdout
    assert "the stray was imported" not in done.stdout + done.stderr
    assert runs(built) == []


def test_without_a_venv_the_launch_is_refused(clone: Clone) -> None:
    done = clone.run("run", "train")
    assert done.returncode == 125
    assert "venv-not-built" in done.stdout
    assert not (clone.root / ".dflash").exists()


def test_a_dry_run_prints_the_hand_off_and_makes_nothing(built: Clone) -> None:
    done = built.run("run", "train", "--dry-run", SECRET_TOKEN="hunter2", PYTHONPATH=str(built.root))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "-m trainer train" in done.stdout and "PYTHONSAFEPATH=1" in done.stdout
    assert "hunter2" not in done.stdout
    assert runs(built) == []


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("train.stepps=3", "did you mean 'steps'"),
        ("train.steps=lots", "train.steps"),
        ("train.steps", "KEY=VALUE"),
        ("target.folder=/no/such/model", "/no/such/model"),
    ],
)
def test_a_wrong_override_is_named_and_nothing_is_left(built: Clone, override: str, said: str) -> None:
    done = built.run("run", "train", override)
    assert done.returncode == 125, done.stdout + done.stderr
    assert said in done.stderr, done.stderr
    assert done.stderr.splitlines()[0].startswith("error: ") and done.stderr.splitlines()[-1].startswith("fix: ")
    assert runs(built) == []


@pytest.fixture
def ran(built: Clone) -> Path:
    """The folder of a short run, started beside decoys in a shell full of leftovers."""
    for decoy in ("trainer", "torch", "checks"):
        (built.home / decoy).mkdir()
        (built.home / decoy / "__init__.py").write_text("raise SystemExit('the decoy was imported')\n")
    done = built.run("run", "train", *FEW_STEPS, RANK="3", AWS_SECRET_ACCESS_KEY="hunter2")
    assert done.returncode == 0, done.stdout + done.stderr
    (run,) = runs(built)
    return run


def test_a_run_leaves_a_record_of_all_it_was_made_of(ran: Path, built: Clone) -> None:
    there = {path.name for path in ran.iterdir()}
    assert there >= {"plan.json", "facts.json", "report.json", "train.json", "src", "events.jsonl", "result.json"}
    assert document(ran / "report.json")["verdict"] == "passed"
    assert document(ran / "facts.json")["repo"]["commit"] == git(built.root, "rev-parse", "HEAD").strip()
    assert document(ran / "result.json")["outcome"] == "done"
    assert list((ran / "checkpoints").glob("step-*/model.safetensors"))
    names = git(built.root, "ls-files", "trainer").split()
    assert {str(path.relative_to(ran / "src")) for path in (ran / "src").rglob("*") if path.is_file()} == set(names)
    for name in names:
        assert (ran / "src" / name).read_bytes() == (built.root / name).read_bytes()
    written = b"".join(path.read_bytes() for path in ran.glob("*.json*"))
    assert b"hunter2" not in written
    checked = subprocess.run(["sha256sum", "--check", "--quiet", ran / "source.sha256"], cwd=built.root, check=False)
    assert checked.returncode == 0
    plan = document(ran / "plan.json")
    assert plan["trainer"]["env"]["PYTHONPATH"] == str(ran / "src")
    assert Path(plan["venv"]) == Path(plan["venv"]).resolve(), "a switch of `current` must not move a running trainer"
    assert plan["placement"] == {"targets": 1, "drafters": 1, "colocated": True}
    assert document(ran / "train.json")["config"]["train"]["steps"] == 3


def test_an_edit_on_purpose_runs_and_is_kept_with_the_run(built: Clone) -> None:
    loop = built.root / "trainer" / "loop.py"
    loop.write_text(f"{loop.read_text()}\nprint('this is the edited trainer')\n")
    assert built.run("run", "train", *FEW_STEPS).returncode == 125
    done = built.run("run", "train", *FEW_STEPS, "--ignore", "source-file-changed=trying another schedule")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "this is the edited trainer" in done.stdout
    assert "ignored: trying another schedule" in done.stdout
    (run,) = runs(built)
    assert "+print('this is the edited trainer')" in (run / "source.diff").read_text()
    results = document(run / "report.json")["results"]
    assert {"ignored": "trying another schedule"}.items() <= {
        each["outcome"]: each["reason"] for each in results if each["check"] == "source-file-changed"
    }.items()


@pytest.mark.parametrize(
    ("ignored", "said"),
    [
        ("source-file-chnged=x", "did you mean 'source-file-changed'"),
        ("source-file-changed", "a reason is missing"),
        ("source-file-changed= ", "a reason is missing"),
        ("venv-facts-incomplete=x", "cannot be ignored"),
    ],
)
def test_nothing_is_ignored_by_mistake(built: Clone, ignored: str, said: str) -> None:
    done = built.run("run", "train", "--ignore", ignored)
    assert done.returncode == 125
    assert said in done.stderr and "fix: " in done.stderr


def test_the_trainers_own_code_is_the_exit_code(built: Clone) -> None:
    done = built.run("run", "train", *FEW_STEPS, "expect.trained_at_least=7.9")
    assert done.returncode == 1, done.stdout + done.stderr
    (run,) = runs(built)
    assert document(run / "result.json")["outcome"] == "failed"
