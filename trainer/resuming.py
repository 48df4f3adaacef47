"""What a checkpoint demands of the run that continues it, and the command that does. Imports no torch."""

import json
import shlex
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from trainer.config import TrainConfig

RESUME = "train.resume="
ANOTHER = "resume with the data and settings of that checkpoint's run, or leave train.resume out to start afresh"


def contract(config: TrainConfig, data: str) -> dict[str, Any]:
    """What must be equal for a resumed run to continue the same one. `data` is the digest of the training rows."""
    train = config.train
    return {
        "drafter": {**asdict(config.drafter), "taps": list(config.drafter.taps)},
        "seed": config.seed,
        "precision": config.precision,
        "data": data,
        "train": {"steps": train.steps, "rows": train.rows, "anchors": train.anchors, "gamma": train.gamma},
    }


def differences(found: dict[str, Any], expected: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any, Any]]:
    """(key, the checkpoint's value, this run's value) wherever the two contracts differ."""
    for key, mine in expected.items():
        theirs = found.get(key)
        if isinstance(mine, dict) and isinstance(theirs, dict):
            yield from differences(theirs, mine, f"{prefix}{key}.")
        elif theirs != mine:
            yield f"{prefix}{key}", theirs, mine


def note(folder: Path) -> dict[str, Any]:
    """A checkpoint's training_state.json. Raises ValueError when it is not the note of a checkpoint."""
    document = json.loads((folder / "training_state.json").read_text("utf-8"))
    if not isinstance(document, dict) or not isinstance(document.get("contract"), dict):
        raise ValueError("it holds no contract")
    if type(document.get("step")) is not int:
        raise ValueError("it holds no step")
    return document


def unlike(folder: Path, key: str, theirs: Any, mine: Any) -> str:
    """One difference, in words."""
    return f"{folder} was trained with {key} = {json.dumps(theirs)}, and this run has {json.dumps(mine)}"


def again(run: Path, checkpoint: str | None, before: str = " ") -> str:
    """How to go on from a checkpoint, or anew, after a run ended before its time; `before` stands before a command."""
    if checkpoint is None:
        return "start it again"
    typed = _typed(run)
    if typed is None:
        return f"resume with the same command and {RESUME}{shlex.quote(checkpoint)}"
    words = ["dflash-env", "run", "train", *typed, f"{RESUME}{checkpoint}"]
    return f"resume with:{before}{shlex.join(words)}"


def _typed(run: Path) -> list[str] | None:
    """The words that started a run; None where they are not known.

    The launch left them in RUN/plan.json, a document of the outside: whatever is not as expected there is not known.
    """
    try:
        plan = json.loads((run / "plan.json").read_text("utf-8"))
        profile, overrides = plan["profile"], [str(each) for each in plan["overrides"]]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    chosen = ["--profile", profile] if isinstance(profile, str) else []
    return [*chosen, *(each for each in overrides if not each.replace(" ", "").startswith(RESUME))]
