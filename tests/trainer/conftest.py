"""Small random targets in Hugging Face folders, and builders of configs and runs, for the trainer's tests."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM

from trainer.sample.make_target import write_tokenizer

REPO = Path(__file__).parents[2]
SIZES: dict[str, Any] = {
    "vocab_size": 320,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 5,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 512,
    "bos_token_id": None,
    "eos_token_id": 258,
    "pad_token_id": 259,
}
KINDS = ("qwen3-untied", "qwen3-tied", "llama")


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folder by kind of target; random weights, spread enough that answers are not one repeated token."""
    made = {}
    for kind in KINDS:
        torch.manual_seed(5)
        if kind == "llama":
            model: Any = LlamaForCausalLM(LlamaConfig(**SIZES, tie_word_embeddings=False, initializer_range=0.3))
        else:
            model = Qwen3ForCausalLM(
                Qwen3Config(**SIZES, tie_word_embeddings=kind.endswith("-tied"), initializer_range=0.3)
            )
        made[kind] = tmp_path_factory.mktemp(kind)
        model.save_pretrained(made[kind])
        write_tokenizer(made[kind])
    return made


@pytest.fixture
def request_for(tmp_path: Path, folders: dict[str, Path]) -> Callable[..., dict[str, Any]]:
    """Builds a resolve request: the embedded default cut down to seconds, with the given overrides on top."""

    def build(*overrides: str, **values: Any) -> dict[str, Any]:
        small = [
            f"target.folder={folders['qwen3-untied']}",
            "drafter.taps=[1,2,3]",
            "data.train=sample:48",
            "data.regenerate=false",
            "data.max_new_tokens=24",
            "train.steps=4",
            "train.rows=2",
            "train.anchors=8",
            "train.log_every=1",
            "train.checkpoint_every=2",
            "evaluate.prompts=2",
            "evaluate.new_tokens=12",
            "expect={}",
        ]
        return {
            "schema": 1,
            "config": str(REPO / "trainer" / "configs" / "tiny.toml"),
            "overrides": [*small, *overrides],
            "base": str(tmp_path),
            "cache": str(tmp_path / "cache"),
            "placement": {"targets": 1, "drafters": 1, "colocated": True},
            "compile": False,
            **values,
        }

    return build


@pytest.fixture
def resolved(tmp_path: Path) -> Callable[[dict[str, Any]], tuple[int, dict[str, Any]]]:
    """Resolves a request in this process: (exit code, answer)."""
    from trainer.resolve import resolve

    def go(request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        source, out = tmp_path / "in.json", tmp_path / "out.json"
        source.write_text(json.dumps(request))
        return resolve(source, out), json.loads(out.read_text())

    return go


@pytest.fixture
def run_folder(tmp_path: Path, request_for: Callable[..., Any], resolved: Callable[..., Any]) -> Callable[..., Path]:
    """Makes a run folder with train.json and the trainer's source under src/, as `run train` does."""

    def make(name: str, *overrides: str) -> Path:
        code, answer = resolved(request_for(*overrides))
        assert code == 0, answer
        folder = tmp_path / name
        (folder / "src").mkdir(parents=True)
        (folder / "src" / "trainer").symlink_to(REPO / "trainer")
        (folder / "train.json").write_text(json.dumps({"schema": 1, "config": answer["config"]}))
        return folder

    return make


def environment(run: Path, bytecode: Path) -> dict[str, str]:
    """The allow-listed environment that a launch gives the trainer."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(run),
        "PYTHONPATH": str(run / "src"),
        "PYTHONSAFEPATH": "1",
        "PYTHONNOUSERSITE": "1",
        "PYTHONPYCACHEPREFIX": str(bytecode),
        "OMP_NUM_THREADS": "1",
    }


@pytest.fixture
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Path, Path], subprocess.Popen[str]]]:
    """Starts `python -m trainer train RUN/train.json` as the outside does; kills what a failed test left running."""
    started: list[subprocess.Popen[str]] = []
    bytecode = tmp_path_factory.getbasetemp() / "bytecode"

    def go(run: Path, cwd: Path) -> subprocess.Popen[str]:
        argv = [sys.executable, "-m", "trainer", "train", str(run / "train.json")]
        started.append(
            subprocess.Popen(
                argv, cwd=cwd, env=environment(run, bytecode), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
        )
        return started[-1]

    yield go
    for process in started:
        process.kill()
        process.wait()
