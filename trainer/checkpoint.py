"""Checkpoints: a drafter folder that engines load (z-lab's layout), and beside it what a resume needs.

`config.json` and `model.safetensors` (bf16) are the drafter; `training_state.safetensors` holds fp32 masters and
moments, `training_state.json` the step and the contract that a resume must keep.
"""

import re
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch.optim import AdamW

from trainer.config import TrainConfig
from trainer.documents import whole_folder, write_json
from trainer.drafter import Drafter, Shape
from trainer.errors import ConfigError
from trainer.resuming import ANOTHER, contract, differences, note, unlike
from trainer.target import Target

MOMENTS = ("exp_avg", "exp_avg_sq")


def save(
    folder: Path, drafter: Drafter, optimizer: AdamW, step: int, config: TrainConfig, target: Target, data: str
) -> None:
    """Write `folder` whole, or not at all."""
    state: dict[str, torch.Tensor] = {}
    for name, weight in drafter.named_parameters():
        state[f"master.{name}"] = weight.detach().float().cpu().contiguous()
        for moment in MOMENTS:
            state[f"{moment}.{name}"] = optimizer.state[weight][moment].cpu().contiguous()
    exported = {
        name: weight.detach().to(torch.bfloat16).cpu().contiguous() for name, weight in drafter.state_dict().items()
    }
    with whole_folder(folder) as temporary:
        save_file(exported, temporary / "model.safetensors", metadata={"format": "pt"})
        write_json(temporary / "config.json", engine_config(drafter.shape, config, target))
        save_file(state, temporary / "training_state.safetensors")
        write_json(temporary / "training_state.json", {"schema": 1, "step": step, "contract": contract(config, data)})


def keep_newest(parent: Path, number: int) -> None:
    """Delete all but the `number` newest step folders."""
    found = sorted((int(path.name[5:]), path) for path in parent.iterdir() if re.fullmatch(r"step-\d+", path.name))
    for _, path in found[:-number]:
        shutil.rmtree(path)


def restore(folder: Path, drafter: Drafter, optimizer: AdamW, expected: dict[str, Any]) -> int:
    """Load masters and moments in place and return the step reached. Raises ConfigError naming every difference."""
    saved = note(folder)
    found = [unlike(folder, *difference) for difference in differences(saved["contract"], expected)]
    if found:
        raise ConfigError(f"train.resume: {'; '.join(found)}", ANOTHER)
    try:
        state = load_file(folder / "training_state.safetensors")
        for name, weight in drafter.named_parameters():
            with torch.no_grad():
                weight.copy_(state[f"master.{name}"])
            moments = {moment: state[f"{moment}.{name}"].to(weight.device) for moment in MOMENTS}
            optimizer.state[weight] = {"step": torch.tensor(float(saved["step"])), **moments}
    except (OSError, SafetensorError, KeyError, RuntimeError) as error:
        raise ConfigError(f"train.resume: {folder} does not load into this drafter: {error}", ANOTHER) from error
    return int(saved["step"])


def load_drafter(folder: Path, shape: Shape, dtype: torch.dtype, device: str) -> Drafter:
    """The exported drafter of a checkpoint folder, as an engine would load it: every tensor present, none besides."""
    drafter = Drafter(shape)
    drafter.load_state_dict(load_file(folder / "model.safetensors"), strict=True)
    return drafter.to(device=device, dtype=dtype).eval().requires_grad_(False)


def engine_config(shape: Shape, config: TrainConfig, target: Target) -> dict[str, Any]:
    """config.json as SGLang and vLLM read it; block size in both places that they look, taps always explicit."""
    model = target.config
    drafter = config.drafter
    return {
        "architectures": ["DFlashDraftModel"],
        "model_type": "qwen3",
        "hidden_size": shape.hidden_size,
        "intermediate_size": shape.intermediate_size,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.kv_heads,
        "head_dim": shape.head_dim,
        "hidden_act": "silu",
        "rms_norm_eps": shape.norm_eps,
        "vocab_size": model.vocab_size,
        "max_position_embeddings": model.max_position_embeddings,
        "rope_theta": shape.rope_theta,
        "rope_parameters": {"rope_type": "default", "rope_theta": shape.rope_theta},
        "rope_scaling": None,
        "attention_bias": False,
        "attention_dropout": 0.0,
        "layer_types": ["full_attention"] * shape.layers,
        "use_sliding_window": False,
        "sliding_window": None,
        "max_window_layers": shape.layers,
        "tie_word_embeddings": False,
        "initializer_range": 0.02,
        "use_cache": True,
        "dtype": "bfloat16",
        "torch_dtype": "bfloat16",
        "bos_token_id": model.bos_token_id,
        "eos_token_id": model.eos_token_id,
        "block_size": drafter.block_size,
        "num_target_layers": model.num_hidden_layers,
        "dflash_config": {
            "block_size": drafter.block_size,
            "mask_token_id": drafter.mask_token_id,
            "target_layer_ids": list(drafter.taps),
        },
    }
