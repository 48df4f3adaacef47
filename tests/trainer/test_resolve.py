"""The border's first command: requests become complete configs, or every error at once, whole and without torch."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trainer.config import REQUESTED, encode, load
from trainer.errors import ConfigError
from trainer.resuming import contract

REPO = Path(__file__).parents[2]
Resolve = Callable[[dict[str, Any]], tuple[int, dict[str, Any]]]
Build = Callable[..., dict[str, Any]]


def test_a_good_request_gives_a_complete_absolute_config(request_for: Build, resolved: Resolve) -> None:
    code, answer = resolved(
        request_for("train.steps=7", "train.learning_rate=1", "data.template_options={enable_thinking=false}")
    )
    assert (code, answer["schema"], answer["ok"]) == (0, 1, True)
    config = load({"schema": 1, "config": answer["config"]})
    assert config.train.steps == 7 and config.train.learning_rate == 1.0 and config.drafter.heads == 4
    assert config.data.template_options == {"enable_thinking": False}
    assert Path(config.target.folder).is_absolute() and json.loads(json.dumps(encode(config))) == answer["config"]


def test_the_shared_documents_are_what_is_spoken(resolved: Resolve, tmp_path: Path) -> None:
    """`tests/contract` is read by both sides; paths under /run and /repo stand for any."""
    contract = REPO / "tests" / "contract"
    request, answered, errors = (
        (contract / f"resolve_{name}.json").read_text() for name in ("in", "out_ok", "out_errors")
    )
    code, answer = resolved(json.loads(request.replace("/repo", str(REPO)).replace("/run", str(tmp_path))))
    assert code == 0
    assert answer == json.loads(answered.replace("/repo", str(REPO)).replace("/run", str(tmp_path)))
    wrong = json.loads(request.replace("/repo", str(REPO)).replace("/run", str(tmp_path)))
    wrong["overrides"] = ["drafter.block_sze=8", "train.steps=0"]
    code, answer = resolved(wrong)
    assert code == 77 and answer == json.loads(errors)


def test_paths_in_overrides_follow_the_callers_folder(request_for: Build, resolved: Resolve, tmp_path: Path) -> None:
    (tmp_path / "own.jsonl").write_text("{}\n")
    code, answer = resolved(request_for("data.train=own.jsonl"))
    assert code == 0 and answer["config"]["data"]["train"] == str(tmp_path / "own.jsonl")


BAD: dict[str, tuple[str, str]] = {
    "drafter.block_sze=4": ("drafter.block_sze", "did you mean 'block_size'"),
    "trian.steps=4": ("trian", "did you mean 'train'"),
    "train.steps=many": ("train.steps", "expected a whole number, got 'many'"),
    "train.steps=0": ("train.steps", "must be at least 1"),
    "train.learning_rate=true": ("train.learning_rate", "expected a number"),
    "data.regenerate=1": ("data.regenerate", "expected true or false"),
    "data.rejected_at_most=1.5": ("data.rejected_at_most", "must be at most 1"),
    "device=tpu": ("device", "expected one of 'cpu', 'cuda'"),
    "attention=flex": ("attention", 'use attention = "sdpa"'),
    "drafter.taps=[2,1]": ("drafter.taps", "strictly increasing"),
    "drafter.taps=[]": ("drafter.taps", "strictly increasing"),
    "drafter.taps=[1,4]": ("drafter.taps", "a tap may be 0 to 3"),
    "drafter.taps=3": ("drafter.taps", "expected a list"),
    'drafter.taps=["a"]': ("drafter.taps[0]", "expected a whole number"),
    "drafter.mask_token_id=320": ("drafter.mask_token_id", "embedding of 320 rows"),
    "drafter.kv_heads=3": ("drafter.kv_heads", "must divide"),
    "target.folder=nowhere": ("target.folder", "no readable config.json"),
    "data.train=nowhere.jsonl": ("data.train", "no such file"),
    "data.heldout=sample:x": ("data.heldout", "followed by a number"),
    "train.resume=nowhere": ("train.resume", "no training_state.json"),
    "train.warmup=2": ("train.warmup", "must be at most 1"),
    "train.anchors=4096": ("train.anchors", "must be below"),
    "steps": ("steps", "section.key=value"),
    "device.name=3": ("device.name", "is a value, not a section"),
    "cache=x": ("cache", "set by the profile"),
}


@pytest.mark.parametrize("override", BAD)
def test_each_mistake_names_its_place_and_remedy(override: str, request_for: Build, resolved: Resolve) -> None:
    code, answer = resolved(request_for(override))
    where, words = BAD[override]
    assert (code, answer["schema"], answer["ok"]) == (77, 1, False)
    assert [error for error in answer["errors"] if error["where"] == where and words in error["message"]], answer[
        "errors"
    ]
    assert len(answer["errors"]) == 1, answer["errors"]


CHANGES = {
    "drafter.block_size=6": ("drafter.block_size = 8, and this run has 6", "set drafter.block_size=8,"),
    "drafter.taps=[1,2]": ("drafter.taps = [1, 2, 3], and this run has [1, 2]", "set drafter.taps=[1,2,3],"),
    "seed=18": ("seed = 17, and this run has 18", "set seed=17,"),
    "train.steps=6": ("train.steps = 4, and this run has 6", "set train.steps=4,"),
}


@pytest.fixture
def checkpoint(request_for: Build, resolved: Resolve, tmp_path: Path) -> Path:
    """The part of a checkpoint that can be judged without torch."""
    _, answer = resolved(request_for())
    folder = tmp_path / "step-2"
    folder.mkdir()
    kept = contract(load({"schema": 1, "config": answer["config"]}), "0123")
    (folder / "training_state.json").write_text(json.dumps({"schema": 1, "step": 2, "contract": kept}))
    (folder / "training_state.safetensors").touch()
    return folder


@pytest.mark.parametrize("change", CHANGES)
def test_a_resume_of_another_run_is_refused_at_once(
    change: str, request_for: Build, resolved: Resolve, checkpoint: Path
) -> None:
    assert resolved(request_for("train.resume=step-2"))[0] == 0
    code, answer = resolved(request_for(change, "train.resume=step-2"))
    (error,) = answer["errors"]
    assert code == 77 and error["where"] == "train.resume"
    assert all(words in error["message"] for words in CHANGES[change]), error


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"contract": {}}', "\udcff"])
def test_a_checkpoint_with_a_damaged_note_is_one_error(
    text: str, request_for: Build, resolved: Resolve, checkpoint: Path
) -> None:
    (checkpoint / "training_state.json").write_bytes(text.encode(errors="surrogateescape"))
    code, answer = resolved(request_for("train.resume=step-2"))
    assert code == 77 and [error["where"] for error in answer["errors"]] == ["train.resume"]


def test_what_only_the_request_may_set_is_offered_nowhere(request_for: Build, resolved: Resolve) -> None:
    _, answer = resolved(request_for("zzz=1", "cach=x"))
    told = " ".join(error["message"] for error in answer["errors"])
    assert "attention" in told and not any(f" {key}" in told or f"'{key}" in told for key in REQUESTED)


def test_all_errors_come_at_once(request_for: Build, resolved: Resolve) -> None:
    _, answer = resolved(request_for("trian.steps=4", "train.steps=-1", "data.regenerate=2"))
    assert [error["where"] for error in answer["errors"]] == ["trian", "data.regenerate", "train.steps"]


@pytest.mark.parametrize(
    "placement", [{"targets": 5, "drafters": 3, "colocated": False}, {"targets": 1, "drafters": 1, "colocated": False}]
)
def test_more_than_one_process_is_refused_in_words(
    placement: dict[str, Any], request_for: Build, resolved: Resolve
) -> None:
    code, answer = resolved(request_for(placement=placement))
    assert (
        code == 77
        and answer["errors"][0]["where"] == "placement"
        and "one process with both roles" in answer["errors"][0]["message"]
    )


def test_compiling_on_a_cpu_is_refused(request_for: Build, resolved: Resolve) -> None:
    code, answer = resolved(request_for(compile=True))
    assert code == 77 and answer["errors"][0]["where"] == "compile"


def test_uncompiled_flex_is_refused(request_for: Build, resolved: Resolve) -> None:
    code, answer = resolved(request_for("device=cuda", "attention=flex"))
    assert code == 77 and answer["errors"][0]["where"] == "attention"
    assert resolved(request_for("device=cuda", "attention=flex", compile=True))[0] == 0


@pytest.mark.parametrize("text", [None, "[drafter", "\x00"])
def test_an_unreadable_config_is_one_error(
    text: str | None, request_for: Build, resolved: Resolve, tmp_path: Path
) -> None:
    path = tmp_path / "x.toml"
    if text is not None:
        path.write_text(text)
    code, answer = resolved(request_for(config=str(path)))
    assert code == 77 and [error["where"] for error in answer["errors"]] == [str(path)]


def test_a_request_of_another_schema_or_shape_is_refused(request_for: Build, resolved: Resolve) -> None:
    assert resolved(request_for(schema=2))[1]["errors"][0]["where"] == "schema"
    assert resolved(request_for(extra=1))[1]["errors"][0]["where"] == "extra"
    assert resolved(request_for(compile="no"))[1]["errors"][0]["where"] == "compile"


def test_the_command_needs_no_torch_and_leaves_nothing_half_made(request_for: Build, tmp_path: Path) -> None:
    fakes = tmp_path / "fakes"
    fakes.mkdir()
    for name in ("torch", "transformers", "safetensors", "tokenizers"):
        (fakes / f"{name}.py").write_text("raise RuntimeError('imported')\n")
    (tmp_path / "in.json").write_text(json.dumps(request_for()))
    out = tmp_path / "made" / "out.json"
    path = f"{fakes}:{Path(__file__).parents[2]}"
    argv = [sys.executable, "-m", "trainer", "resolve", str(tmp_path / "in.json"), str(out)]
    # The venv that these tests run in is sealed: no bytecode may get into it.
    env = {"PYTHONPATH": path, "PYTHONSAFEPATH": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(argv, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(out.read_text())["ok"] and [path.name for path in out.parent.iterdir()] == ["out.json"]


def test_importing_the_package_and_config_imports_no_torch() -> None:
    code = (
        "import sys, trainer, trainer.config, trainer.resolve; assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONDONTWRITEBYTECODE": "1"},
        check=True,
        timeout=60,
    )


def test_a_train_json_that_resolve_did_not_make_is_refused() -> None:
    with pytest.raises(ConfigError, match="schema: expected 1"):
        load({"config": {}})
