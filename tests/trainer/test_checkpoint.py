"""The checkpoint's tensors and config, and that a resumed run is the straight one, bit for bit."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from trainer.config import load
from trainer.errors import ConfigError
from trainer.events import Stop
from trainer.loop import run

PER_LAYER = {
    "input_layernorm.weight": (32,),
    "post_attention_layernorm.weight": (32,),
    "self_attn.q_proj.weight": (64, 32),
    "self_attn.k_proj.weight": (32, 32),
    "self_attn.v_proj.weight": (32, 32),
    "self_attn.o_proj.weight": (32, 64),
    "self_attn.q_norm.weight": (16,),
    "self_attn.k_norm.weight": (16,),
    "mlp.gate_proj.weight": (64, 32),
    "mlp.up_proj.weight": (64, 32),
    "mlp.down_proj.weight": (32, 64),
}


def finished(folder: Path) -> Path:
    document = json.loads((folder / "train.json").read_text())
    assert run(load(document), folder, Stop()) == 0
    return folder / "checkpoints"


def test_a_checkpoint_is_what_engines_load(run_folder: Callable[..., Path]) -> None:
    folder = run_folder("a", "drafter.layers=5")
    step = finished(folder) / "step-4"
    tensors = load_file(step / "model.safetensors")
    expected = {f"layers.{layer}.{name}": shape for layer in range(5) for name, shape in PER_LAYER.items()}
    expected |= {"fc.weight": (32, 96), "hidden_norm.weight": (32,), "norm.weight": (32,)}
    assert {name: tuple(tensor.shape) for name, tensor in tensors.items()} == expected and len(expected) == 58
    assert {tensor.dtype for tensor in tensors.values()} == {torch.bfloat16}
    config = json.loads((step / "config.json").read_text())
    wanted = {
        "architectures": ["DFlashDraftModel"],
        "model_type": "qwen3",
        "hidden_size": 32,
        "num_hidden_layers": 5,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "hidden_act": "silu",
        "vocab_size": 320,
        "block_size": 8,
        "num_target_layers": 5,
        "layer_types": ["full_attention"] * 5,
        "tie_word_embeddings": False,
        "dtype": "bfloat16",
        "dflash_config": {"block_size": 8, "mask_token_id": 300, "target_layer_ids": [1, 2, 3]},
    }
    assert {key: config[key] for key in wanted} == wanted and "auto_map" not in config
    masters = load_file(step / "training_state.safetensors")
    assert set(masters) == {f"{kind}.{name}" for kind in ("master", "exp_avg", "exp_avg_sq") for name in expected}
    assert all(torch.equal(masters[f"master.{name}"].bfloat16(), tensor) for name, tensor in tensors.items())
    moved = [
        name
        for name in expected
        if name.endswith("norm.weight") and not torch.equal(masters[f"master.{name}"], torch.ones(expected[name]))
    ]
    assert len(moved) == 5 * 4 + 2
    assert sorted(path.name for path in step.parent.iterdir()) == ["step-2", "step-4"]


def test_bf16_activations_leave_the_masters_in_fp32(run_folder: Callable[..., Path]) -> None:
    options = ("precision=bfloat16", "target.dtype=bfloat16", "evaluate.tie_gap=100.0", "evaluate.untrained=false")
    step = finished(run_folder("a", *options)) / "step-4"
    state = load_file(step / "training_state.safetensors")
    assert {tensor.dtype for tensor in state.values()} == {torch.float32}
    assert any(not torch.equal(tensor, tensor.bfloat16().float()) for tensor in state.values())


def test_a_resumed_run_equals_the_straight_one(run_folder: Callable[..., Path]) -> None:
    straight = finished(run_folder("straight"))
    resumed = finished(run_folder("resumed", f"train.resume={straight / 'step-2'}"))
    for name in ("model.safetensors", "training_state.safetensors", "config.json", "training_state.json"):
        assert (straight / "step-4" / name).read_bytes() == (resumed / "step-4" / name).read_bytes(), name
    again = (
        load_file(straight / "step-2" / "training_state.safetensors"),
        load_file(straight / "step-4" / "training_state.safetensors"),
    )
    assert any(not torch.equal(again[0][name], again[1][name]) for name in again[0])


def test_a_resume_over_other_data_is_refused_with_both_digests(run_folder: Callable[..., Path]) -> None:
    straight = finished(run_folder("straight"))
    other = run_folder("other", "data.train=sample:49", f"train.resume={straight / 'step-2'}")
    with pytest.raises(ConfigError, match=r'was trained with data = "\w{16}", and this run has "\w{16}"') as caught:
        finished(other)
    assert "train.resume" in caught.value.fix


def test_a_damaged_checkpoint_is_the_users_to_mend(run_folder: Callable[..., Path]) -> None:
    step = finished(run_folder("straight")) / "step-2"
    (step / "training_state.safetensors").write_bytes(b"cut off")
    with pytest.raises(ConfigError, match="does not load into this drafter"):
        finished(run_folder("other", f"train.resume={step}"))


def test_a_resume_after_the_last_step_only_evaluates(run_folder: Callable[..., Path]) -> None:
    straight = run_folder("straight")
    step = finished(straight) / "step-4"
    again = run_folder("again", f"train.resume={step}")
    assert not finished(again).exists()
    first, second = (json.loads((run / "result.json").read_text()) for run in (straight, again))
    assert second["accepted_length"] == first["accepted_length"] and second["checkpoint"] == str(step)


def test_a_missing_device_is_refused_and_not_replaced(
    run_folder: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ConfigError, match="torch sees no CUDA device"):
        finished(run_folder("gpu", "device=cuda"))
