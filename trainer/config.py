"""TrainConfig: every setting of a run, as frozen dataclasses, and their strict decoding. Imports no torch."""

import difflib
import types
import typing
from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass
from typing import Any, Literal

from trainer.errors import ConfigError

DONE, FAILED, STOPPED, INVALID = 0, 1, 75, 77
"""Exit codes: done, failed, stopped and resumable, config or data wrong."""

SAMPLE = "sample:"
"""`data.train = "sample:4096"` reads that many lines of the embedded generator."""

REQUESTED = ("cache", "placement", "compile")
"""The keys that only the request may set, neither the file nor an override."""


@dataclass(frozen=True)
class Problem:
    """One thing wrong with a config: where it stands, and what to do about it."""

    where: str
    message: str


def _bounds(at_least: float | None = None, at_most: float | None = None) -> Any:
    return field(metadata={"at_least": at_least, "at_most": at_most})


@dataclass(frozen=True)
class TargetConfig:
    """The frozen model: an ordinary Hugging Face folder."""

    folder: str
    dtype: Literal["float32", "bfloat16"]


@dataclass(frozen=True)
class DrafterConfig:
    """The shape of the drafter. The four last sizes are the target's where the file leaves them out."""

    layers: int = _bounds(1)
    taps: tuple[int, ...] = _bounds(0)
    block_size: int = _bounds(2)
    mask_token_id: int = _bounds(0)
    heads: int = _bounds(1)
    kv_heads: int = _bounds(1)
    head_dim: int = _bounds(2)
    intermediate_size: int = _bounds(1)


@dataclass(frozen=True)
class DataConfig:
    """Which conversations, who wrote their replies, and the rows that they are packed into."""

    train: str
    heldout: str
    regenerate: bool
    max_new_tokens: int = _bounds(1)
    generate_batch: int = _bounds(1)
    sequence_length: int = _bounds(8)
    min_supervised_tokens: int = _bounds(2)
    rejected_at_most: float = _bounds(0, 1)
    template_options: dict[str, Any]


@dataclass(frozen=True)
class OptimizationConfig:
    """Steps, batch, objective and optimizer.

    `warmup` is a share of the steps, `final_rate` one of the learning rate; `resume` is a checkpoint folder, or empty.
    """

    steps: int = _bounds(1)
    rows: int = _bounds(1)
    anchors: int = _bounds(1)
    gamma: float = _bounds(0.1)
    learning_rate: float = _bounds(0)
    final_rate: float = _bounds(0, 1)
    warmup: float = _bounds(0, 1)
    weight_decay: float = _bounds(0)
    beta2: float = _bounds(0, 1)
    clip_norm: float = _bounds(0)
    log_every: int = _bounds(1)
    checkpoint_every: int = _bounds(1)
    keep: int = _bounds(1)
    resume: str


@dataclass(frozen=True)
class EvaluationConfig:
    """Real speculative decoding on held-out prompts; logits nearer than `tie_gap` count as a tie."""

    prompts: int = _bounds(1)
    new_tokens: int = _bounds(2)
    tie_gap: float = _bounds(0)
    untrained: bool


@dataclass(frozen=True)
class ExpectConfig:
    """What a good run must show at its end; a missing expectation is not checked."""

    untrained_below: float | None = None
    trained_at_least: float | None = None
    distinct_tokens_at_least: int | None = None


@dataclass(frozen=True)
class PlacementConfig:
    """How many processes run the target, how many train the drafter, and whether they are the same ones."""

    targets: int = _bounds(1)
    drafters: int = _bounds(1)
    colocated: bool


@dataclass(frozen=True)
class TrainConfig:
    """A whole run. `cache` is the folder for derived data; it, `compile` and `placement` only the request may set."""

    device: Literal["cpu", "cuda"]
    attention: Literal["sdpa", "flex"]
    precision: Literal["float32", "bfloat16"]
    threads: int = _bounds(1)
    seed: int = _bounds(0)
    stop_grace_s: int = _bounds(1)
    compile: bool
    cache: str
    placement: PlacementConfig
    target: TargetConfig
    drafter: DrafterConfig
    data: DataConfig
    train: OptimizationConfig
    evaluate: EvaluationConfig
    expect: ExpectConfig = ExpectConfig()


def encode(config: TrainConfig) -> dict[str, Any]:
    """The config as plain data for JSON, nothing left to default."""
    return asdict(config)


def decode(cls: type, table: object, where: str, problems: list[Problem]) -> Any:
    """Build a dataclass from plain data, noting every problem; None where any made it impossible."""
    if not isinstance(table, dict):
        problems.append(Problem(where or "config", f"expected a table, got {table!r}"))
        return None
    prefix = f"{where}." if where else ""
    known = {item.name: item for item in fields(cls)}
    for key in table:
        if key not in known:
            settable = [name for name in known if prefix or name not in REQUESTED]
            problems.append(Problem(f"{prefix}{key}", f"unknown key{_near(key, settable)}"))
    hints = typing.get_type_hints(cls)
    values, count = {}, len(problems)
    for name, item in known.items():
        if name in table:
            values[name] = _value(hints[name], table[name], f"{prefix}{name}", problems, item.metadata)
        elif item.default is MISSING:
            problems.append(Problem(f"{prefix}{name}", "missing; the file must set it"))
    return cls(**values) if len(problems) == count else None


def load(document: dict[str, Any]) -> TrainConfig:
    """The TrainConfig of a `train.json` document. Raises ConfigError listing everything wrong."""
    problems: list[Problem] = []
    config = decode(TrainConfig, document.get("config"), "", problems)
    if document.get("schema") != 1:
        problems.append(Problem("schema", f"expected 1, got {document.get('schema')!r}"))
    if problems:
        lines = "; ".join(f"{problem.where}: {problem.message}" for problem in problems)
        raise ConfigError(
            f"train.json is not a complete config: {lines}",
            "start the run with `dflash-env run train`, which makes it with `trainer resolve`",
        )
    return config


def _near(key: str, known: list[str]) -> str:
    match = difflib.get_close_matches(key, known, n=1)
    return f"; did you mean '{match[0]}'?" if match else f"; known here: {', '.join(sorted(known))}"


def _value(hint: Any, value: object, where: str, problems: list[Problem], limits: Any) -> Any:
    """Check one value against its type hint and bounds."""
    if is_dataclass(hint):
        return decode(typing.cast(type, hint), value, where, problems)
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return None if value is None else _value(args[0], value, where, problems, limits)
    if origin is Literal:
        if value not in args:
            problems.append(Problem(where, f"expected one of {', '.join(map(repr, args))}, got {value!r}"))
        return value
    if origin is tuple:
        if not isinstance(value, (list, tuple)):
            problems.append(Problem(where, f"expected a list of {args[0].__name__}, got {value!r}"))
            return None
        return tuple(_value(args[0], item, f"{where}[{i}]", problems, limits) for i, item in enumerate(value))
    kind = origin or hint
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        problems.append(Problem(where, f"expected {_NAMES[kind]}, got {value!r}"))
    elif limits.get("at_least") is not None and value < limits["at_least"]:  # type: ignore[operator]
        problems.append(Problem(where, f"must be at least {limits['at_least']}, got {value}"))
    elif limits.get("at_most") is not None and value > limits["at_most"]:  # type: ignore[operator]
        problems.append(Problem(where, f"must be at most {limits['at_most']}, got {value}"))
    return value


_NAMES = {int: "a whole number", float: "a number", bool: "true or false", str: "a string", dict: "a table"}
