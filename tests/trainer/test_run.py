"""`train` as the outside starts it: the right code, the documents, exit codes, signals, and no process left behind."""

import hashlib
import json
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

REPO = Path(__file__).parents[2]
Make = Callable[..., Path]
Start = Callable[[Path, Path], subprocess.Popen[str]]


def events(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]


def wait_for(run: Path, event: str, limit_s: float = 60.0) -> None:
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        if (run / "events.jsonl").exists() and event in [e["event"] for e in events(run)]:
            return
        time.sleep(0.05)
    raise AssertionError(f"no {event} event within {limit_s} s")


def ranks_of(run: Path) -> list[int]:
    """Processes whose command line names this run's train.json."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if str(run / "train.json").encode() in words:
                found.append(int(entry.name))
    return found


def skeleton(value: Any) -> Any:
    """The keys and kinds of a document, its values left out; a list is as its first item."""
    if isinstance(value, dict):
        return {key: skeleton(item) for key, item in value.items()}
    if isinstance(value, list):
        return [skeleton(item) for item in value[:1]]
    return "number" if type(value) in (int, float) else type(value).__name__


def nobody_left(run: Path, limit_s: float = 5.0) -> bool:
    deadline = time.monotonic() + limit_s
    while ranks_of(run) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not ranks_of(run)


def test_a_run_end_to_end_beside_decoys(run_folder: Make, start: Start, tmp_path: Path) -> None:
    decoys = tmp_path / "decoys"
    (decoys / "trainer").mkdir(parents=True)
    (decoys / "trainer" / "__init__.py").write_text("raise SystemExit('decoy')\n")
    (decoys / "torch.py").write_text("raise SystemExit('decoy')\n")
    run = run_folder("run with spaces", "data.regenerate=true", "data.train=sample:12", "data.min_supervised_tokens=2")
    process = start(run, decoys)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    result = json.loads((run / "result.json").read_text())
    assert {"schema": 1, "outcome": "done", "exit_code": 0, "error": None, "steps": 4}.items() <= result.items()
    assert result["exactness"]["prompts"] == 2 and result["exactness"]["mismatches"] == []
    assert set(result["accepted_length"]) == {"trained", "untrained", "simulated", "per_prompt", "per_position"}
    assert set(result["seconds"]) == {"load", "data", "train", "evaluate"}
    assert result["checkpoint"] == str(run / "checkpoints" / "step-4")
    kinds = [event["event"] for event in events(run)]
    assert kinds[0] == "start" and kinds[-1] == "done" and kinds.count("step") == 4
    assert {"responses", "data", "first_step", "checkpoint", "evaluation"} <= set(kinds)
    assert "The drafter is trained" in out and "\x1b" not in out and "\r" not in out
    assert err == "" and nobody_left(run)
    assert skeleton(result) == skeleton(json.loads((REPO / "tests" / "contract" / "result.json").read_text()))


def test_regenerated_replies_are_reused_by_digest(run_folder: Make, start: Start, tmp_path: Path) -> None:
    options = ("data.regenerate=true", "data.train=sample:8", "data.min_supervised_tokens=2")
    for name, reused in (("first", False), ("second", True)):
        run = run_folder(name, *options)
        process = start(run, tmp_path)
        assert process.communicate(timeout=120)[1] == "" and process.returncode == 0
        assert [e["reused"] for e in events(run) if e["event"] == "responses"] == [reused]


def planned(run: Path, *overrides: str) -> None:
    """What the launch leaves of the words that were typed."""
    (run / "plan.json").write_text(json.dumps({"schema": 1, "profile": "tiny", "overrides": overrides}))


def two_lines(err: str, words: str, remedy: str) -> bool:
    lines = err.splitlines()
    return (
        len(lines) == 2
        and lines[0].startswith("error: ")
        and words in lines[0]
        and lines[1].startswith("fix:   ")
        and remedy in lines[1]
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_saves_a_whole_checkpoint_and_leaves_nobody(
    number: signal.Signals, run_folder: Make, start: Start, tmp_path: Path
) -> None:
    run = run_folder("run", "train.steps=100000", "train.checkpoint_every=100000")
    planned(run, "train.steps=100000", "data.template_options={a = 1}", "train.resume=old")
    process = start(run, tmp_path)
    wait_for(run, "first_step")
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (75, "")
    result = json.loads((run / "result.json").read_text())
    assert (result["outcome"], result["exit_code"]) == ("stopped", 75)
    step = Path(result["checkpoint"])
    assert sorted(path.name for path in step.iterdir()) == [
        "config.json",
        "model.safetensors",
        "training_state.json",
        "training_state.safetensors",
    ]
    assert json.loads((step / "training_state.json").read_text())["step"] == result["steps"] > 0
    assert [path.name for path in step.parent.iterdir()] == [step.name]
    typed = ["--profile", "tiny", "train.steps=100000", "data.template_options={a = 1}", f"train.resume={step}"]
    assert shlex.split(out.splitlines()[-1]) == ["dflash-env", "run", "train", *typed]
    assert "; resume with:\n" in out and nobody_left(run)


@pytest.mark.parametrize("when", ["launching", "reading data"])
def test_an_early_stop_is_not_lost_and_told_truly(when: str, run_folder: Make, start: Start, tmp_path: Path) -> None:
    run = run_folder("run", "data.regenerate=true", "data.train=sample:4096", "data.generate_batch=8")
    process = start(run, tmp_path)
    if when == "launching":
        time.sleep(1.0)
    else:
        wait_for(run, "start")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 75 and nobody_left(run)
    result = json.loads((run / "result.json").read_text())
    assert (result["outcome"], result["checkpoint"], result["error"]) == ("stopped", None, None)
    assert out.endswith("stopped before anything was saved; start it again\n") and err == ""


@pytest.mark.parametrize(("signals", "grace_s"), [([signal.SIGINT, signal.SIGINT], 60), ([signal.SIGTERM], 1)])
def test_a_rank_that_does_not_end_is_killed(
    signals: list[signal.Signals], grace_s: int, run_folder: Make, start: Start, tmp_path: Path
) -> None:
    run = run_folder("run", "train.steps=100000", f"stop_grace_s={grace_s}")
    process = start(run, tmp_path)
    wait_for(run, "checkpoint")
    rank = next(pid for pid in ranks_of(run) if pid != process.pid)
    os.kill(rank, signal.SIGSTOP)
    for number in signals:
        process.send_signal(number)
        time.sleep(0.2)
    _, err = process.communicate(timeout=20)
    result = json.loads((run / "result.json").read_text())
    assert process.returncode == result["exit_code"] == 75 and nobody_left(run)
    assert two_lines(err, "killed before it could save once more", f"train.resume={result['checkpoint']}"), err
    assert Path(result["checkpoint"], "training_state.safetensors").is_file()


@pytest.mark.parametrize("name", ["SIGKILL", "SIGQUIT"])
def test_an_end_from_outside_is_two_lines(name: str, run_folder: Make, start: Start, tmp_path: Path) -> None:
    run = run_folder("run", "train.steps=100000")
    planned(run)
    process = start(run, tmp_path)
    wait_for(run, "checkpoint")
    if name == "SIGKILL":
        os.kill(next(pid for pid in ranks_of(run) if pid != process.pid), signal.SIGKILL)
    else:
        process.send_signal(signal.SIGQUIT)
    _, err = process.communicate(timeout=60)
    result = json.loads((run / "result.json").read_text())
    assert process.returncode == result["exit_code"] == 1 and nobody_left(run)
    assert two_lines(err, name, f"train.resume={result['checkpoint']}"), err
    assert result["error"]["kind"] == "KilledError" and result["error"]["fix"] in err


def test_a_reader_that_goes_away_does_not_end_the_run(run_folder: Make, start: Start, tmp_path: Path) -> None:
    run = run_folder("run")
    process = start(run, tmp_path)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert (process.stderr.read(), process.wait(timeout=60)) == ("", 0)


def test_ranks_die_with_a_killed_launcher(run_folder: Make, start: Start, tmp_path: Path) -> None:
    run = run_folder("run", "train.steps=100000")
    process = start(run, tmp_path)
    wait_for(run, "first_step")
    assert len(ranks_of(run)) == 2
    process.kill()
    process.communicate(timeout=60)
    assert nobody_left(run)


def test_a_missed_expectation_fails_the_run_with_its_reason(run_folder: Make, start: Start, tmp_path: Path) -> None:
    run = run_folder("run", "expect.trained_at_least=7.5", "expect.distinct_tokens_at_least=5000")
    process = start(run, tmp_path)
    out, _ = process.communicate(timeout=120)
    result = json.loads((run / "result.json").read_text())
    assert process.returncode == result["exit_code"] == 1 and result["outcome"] == "failed"
    assert "below expect.trained_at_least = 7.5" in result["error"]["message"] and "distinct tokens" in out


def test_bad_data_is_the_users_to_mend(run_folder: Make, start: Start, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text('{"messages": [{"role": "user", "content": "x"}]}\n')
    run = run_folder("run", "data.train=bad.jsonl")
    process = start(run, tmp_path)
    _, err = process.communicate(timeout=120)
    result = json.loads((run / "result.json").read_text())
    assert process.returncode == result["exit_code"] == 77 and result["outcome"] == "invalid"
    assert two_lines(err, f"{tmp_path}/bad.jsonl: 1 of 1 lines", "mend or remove those lines"), err
    assert "no assistant span: 1, first on line 1" in result["error"]["message"]
    sample = json.loads((REPO / "tests" / "contract" / "result_invalid.json").read_text())
    assert skeleton(result) == skeleton(sample) and set(result["error"]) == set(sample["error"])


def test_a_crash_is_a_failure_with_its_traceback(run_folder: Make, start: Start, tmp_path: Path) -> None:
    run = run_folder("run")
    (run / "checkpoints").write_text("in the way")
    process = start(run, tmp_path)
    _, err = process.communicate(timeout=120)
    result = json.loads((run / "result.json").read_text())
    assert process.returncode == result["exit_code"] == 1 and result["error"]["kind"] in {
        "FileExistsError",
        "NotADirectoryError",
    }
    assert "Traceback" in err and nobody_left(run)


def test_a_train_json_out_of_shape_is_refused(start: Start, tmp_path: Path) -> None:
    run = tmp_path / "run"
    (run / "src").mkdir(parents=True)
    (run / "src" / "trainer").symlink_to(REPO / "trainer")
    (run / "train.json").write_text('{"schema": 1, "config": {}}')
    process = start(run, tmp_path)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 77 and two_lines(err, "train.json is not a complete config", "dflash-env run train")
    assert json.loads((run / "result.json").read_text())["exit_code"] == 77


def test_the_carried_target_is_the_listed_one(tmp_path: Path) -> None:
    from trainer.sample.make_target import write_tokenizer

    sample = REPO / "trainer" / "sample"
    listed = dict(reversed(line.split()) for line in (sample / "digests.txt").read_text().splitlines())
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (sample / "target").iterdir()}
    assert found == listed
    write_tokenizer(tmp_path)
    assert {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in tmp_path.iterdir()
    }.items() <= listed.items()
    assert (sample / "target" / "model.safetensors").stat().st_size < 2_000_000
