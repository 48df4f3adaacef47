"""`resolve IN OUT`: a TOML file, overrides and a placement become one complete, checked TrainConfig. No torch."""

import json
import tomllib
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

from trainer.config import DONE, INVALID, REQUESTED, SAMPLE, Problem, TrainConfig, decode, encode
from trainer.documents import write_json
from trainer.resuming import contract, differences, note, unlike

PATHS = (("target", "folder"), ("data", "train"), ("data", "heldout"), ("train", "resume"))
"""The keys that hold paths: relative to the TOML's folder, or in an override to the caller's `base`."""

FROM_TARGET = {
    "heads": "num_attention_heads",
    "kv_heads": "num_key_value_heads",
    "head_dim": "head_dim",
    "intermediate_size": "intermediate_size",
}


def resolve(source: Path, out: Path) -> int:
    """Answer the request in `source` with a document at `out`. Returns the exit code, DONE or INVALID."""
    problems: list[Problem] = []
    config = _resolved(source, problems)
    if problems:
        answer = {"schema": 1, "ok": False, "errors": [asdict(problem) for problem in problems]}
    else:
        answer = {"schema": 1, "ok": True, "config": encode(config)}
    write_json(out, answer)
    return INVALID if problems else DONE


def _resolved(source: Path, problems: list[Problem]) -> TrainConfig:
    request = _request(source, problems)
    table = _read_toml(Path(request.get("config", "")), problems) if not problems else {}
    if problems:
        return None  # type: ignore[return-value]
    _absolute(table, Path(request["config"]).parent)
    for text in request["overrides"]:
        _override(table, text, Path(request["base"]), problems)
    for key in REQUESTED:
        if key in table:
            problems.append(Problem(key, "is set by the profile, not here; remove it from the file or the command"))
        table[key] = request[key]
    target = _target_shape(table, problems)
    _fill_drafter(table, target)
    config = decode(TrainConfig, table, "", problems)
    if config is not None:
        _check_numbers(config, target, problems)
        _check_files(config, problems)
        _check_device(config, problems)
        _check_resume(config, problems)
    return config


def _request(source: Path, problems: list[Problem]) -> dict[str, Any]:
    try:
        request = json.loads(source.read_text())
    except (OSError, ValueError) as error:
        problems.append(Problem(str(source), f"cannot read the request: {error}"))
        return {}
    kinds = {
        "schema": int,
        "config": str,
        "overrides": list,
        "base": str,
        "cache": str,
        "placement": dict,
        "compile": bool,
    }
    if not isinstance(request, dict):
        problems.append(Problem(str(source), "the request must be a JSON object"))
        return {}
    for key, kind in kinds.items():
        if not isinstance(request.get(key), kind):
            problems.append(Problem(key, f"the request needs this as {kind.__name__}"))
    for key in request.keys() - kinds.keys():
        problems.append(Problem(key, "unknown key in the request"))
    if not problems and request["schema"] != 1:
        problems.append(Problem("schema", f"this trainer speaks schema 1, got {request['schema']}"))
    return request


def _read_toml(path: Path, problems: list[Problem]) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        problems.append(Problem(str(path), f"cannot read the config: {error.strerror}"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        problems.append(Problem(str(path), f"is not TOML: {error}"))
    return {}


def _absolute(table: dict[str, Any], base: Path, only: tuple[str, ...] | None = None) -> None:
    for keys in [only] if only else PATHS:
        section = table.get(keys[0])
        value = section.get(keys[1]) if isinstance(section, dict) else None
        if isinstance(value, str) and value and not value.startswith(SAMPLE):
            section[keys[1]] = str((base / value).resolve())  # type: ignore[index]


def _override(table: dict[str, Any], text: str, base: Path, problems: list[Problem]) -> None:
    """Apply one `a.b=value`; the value is a TOML literal, else a bare string."""
    name, equals, raw = str(text).partition("=")
    keys = tuple(key.strip() for key in name.split("."))
    if not equals or not all(keys):
        problems.append(Problem(str(text), "an override reads section.key=value"))
        return
    try:
        value: Any = tomllib.loads(f"value = {raw}")["value"]
    except tomllib.TOMLDecodeError:
        value = raw
    section = table
    for key in keys[:-1]:
        section = section.setdefault(key, {})
        if not isinstance(section, dict):
            problems.append(Problem(name, f"'{key}' is a value, not a section, so nothing can stand under it"))
            return
    section[keys[-1]] = value
    if keys in PATHS:
        _absolute(table, base, keys)


def _target_shape(table: dict[str, Any], problems: list[Problem]) -> dict[str, Any]:
    """The target's config.json (its text part, for a multimodal one), or {} with the problem noted."""
    section = table.get("target")
    folder = section.get("folder") if isinstance(section, dict) else None
    if not isinstance(folder, str):
        return {}
    path = Path(folder) / "config.json"
    try:
        shape = json.loads(path.read_text())
        return dict(shape.get("text_config", shape))
    except OSError:
        problems.append(Problem("target.folder", f"{folder} is no Hugging Face folder: it has no readable config.json"))
    except (ValueError, AttributeError) as error:
        problems.append(Problem("target.folder", f"{path} is not a JSON object: {error}"))
    return {}


def _fill_drafter(table: dict[str, Any], target: dict[str, Any]) -> None:
    drafter = table.get("drafter")
    if not isinstance(drafter, dict):
        return
    if not target:
        # The unreadable target is the one problem; its missing sizes must not become four more.
        target = dict.fromkeys(FROM_TARGET.values(), 2)
    heads = target.get("num_attention_heads")
    derived = {"num_key_value_heads": heads}
    if isinstance(heads, int) and heads > 0 and isinstance(target.get("hidden_size"), int):
        derived["head_dim"] = target["hidden_size"] // heads
    for key, source in FROM_TARGET.items():
        value = target.get(source) or derived.get(source)
        if value is not None:
            drafter.setdefault(key, value)


def _check_numbers(config: TrainConfig, target: dict[str, Any], problems: list[Problem]) -> None:
    drafter, data, train = config.drafter, config.data, config.train
    taps, layers, vocabulary = drafter.taps, target.get("num_hidden_layers"), target.get("vocab_size")
    if not taps or any(a >= b for a, b in pairwise(taps)):
        problems.append(Problem("drafter.taps", f"must be strictly increasing layer numbers, got {list(taps)}"))
    if taps and isinstance(layers, int) and max(taps) > layers - 2:
        why = f"the target has {layers} layers, and a tap may be 0 to {layers - 2}: the last one's output is not a tap"
        problems.append(Problem("drafter.taps", f"{why}; got {list(taps)}"))
    if isinstance(vocabulary, int) and drafter.mask_token_id >= vocabulary:
        why = f"{drafter.mask_token_id} is outside the target's embedding of {vocabulary} rows; choose a reserved row"
        problems.append(Problem("drafter.mask_token_id", why))
    if drafter.heads % drafter.kv_heads:
        problems.append(Problem("drafter.kv_heads", f"must divide drafter.heads = {drafter.heads}"))
    if drafter.head_dim % 2:
        problems.append(Problem("drafter.head_dim", "must be even: rotary positions turn pairs"))
    if data.sequence_length <= drafter.block_size:
        problems.append(Problem("data.sequence_length", f"must exceed drafter.block_size = {drafter.block_size}"))
    if train.anchors >= data.sequence_length:
        problems.append(Problem("train.anchors", f"must be below data.sequence_length = {data.sequence_length}"))
    placement = config.placement
    if (placement.targets, placement.drafters) != (1, 1) or not placement.colocated:
        asked = f"{placement.targets} targets and {placement.drafters} drafters, colocated = {placement.colocated}"
        why = "this version trains in one process with both roles; use targets = 1, drafters = 1, colocated = true"
        problems.append(Problem("placement", f"asked for {asked}, but {why}"))


def _check_files(config: TrainConfig, problems: list[Problem]) -> None:
    for name in ("train", "heldout"):
        value = getattr(config.data, name)
        if value.startswith(SAMPLE):
            if not value.removeprefix(SAMPLE).isdecimal() or int(value.removeprefix(SAMPLE)) < 1:
                problems.append(Problem(f"data.{name}", f"'{SAMPLE}' is followed by a number of lines, got {value!r}"))
        elif not Path(value).is_file():
            problems.append(Problem(f"data.{name}", f"no such file: {value}"))


def _check_device(config: TrainConfig, problems: list[Problem]) -> None:
    if config.device == "cpu" and config.compile:
        problems.append(
            Problem("compile", "flex_attention has no backward on a CPU, so nothing is compiled there; use false")
        )
    if config.device == "cpu" and config.attention == "flex":
        problems.append(Problem("attention", 'flex_attention has no backward on a CPU; use attention = "sdpa"'))
    if config.attention == "flex" and config.device == "cuda" and not config.compile:
        why = 'flex runs fused only when compiled: set compile = true in the profile, or attention = "sdpa"'
        problems.append(Problem("attention", why))


def _check_resume(config: TrainConfig, problems: list[Problem]) -> None:
    """What can be known of a checkpoint before the data is read: whether it is whole, and made with these settings."""
    if not config.train.resume:
        return
    folder = Path(config.train.resume)
    for name in ("training_state.json", "training_state.safetensors"):
        if not (folder / name).is_file():
            why = f"{folder} is no checkpoint: it has no {name}; give a folder checkpoints/step-N of a run"
            problems.append(Problem("train.resume", why))
            return
    try:
        found = note(folder)["contract"]
    except (OSError, ValueError) as error:
        why = f"{folder}/training_state.json cannot be read: {error}; give another checkpoint"
        problems.append(Problem("train.resume", why))
        return
    for key, theirs, mine in differences(found, contract(config, found.get("data", ""))):
        remedy = f"set {key}={json.dumps(theirs, separators=(',', ':'))}, or leave train.resume out to start afresh"
        problems.append(Problem("train.resume", f"{unlike(folder, key, theirs, mine)}; {remedy}"))
