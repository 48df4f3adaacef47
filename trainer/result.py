"""result.json: how a run ended, and every figure that it reached. Imports no torch."""

from typing import Any

from trainer.errors import MendableError

FIGURES = (
    "seconds",
    "steps",
    "tokens",
    "loss",
    "rates",
    "accepted_length",
    "speed_up",
    "exactness",
    "exactness_untrained",
    "distinct_tokens",
)


def result(
    outcome: str, code: int, error: BaseException | None = None, checkpoint: str | None = None, **figures: Any
) -> dict[str, Any]:
    """The whole document: `outcome` is done, failed, stopped or invalid; a figure that was not reached is null.

    The error's `fix` is null where its reader cannot mend it.
    """
    unknown = figures.keys() - set(FIGURES)
    assert not unknown, f"not in FIGURES: {unknown}"
    return {
        "schema": 1,
        "outcome": outcome,
        "exit_code": code,
        "error": None if error is None else _described(error),
        "checkpoint": checkpoint,
        **dict.fromkeys(FIGURES),
        **figures,
    }


def _described(error: BaseException) -> dict[str, str | None]:
    fix = error.fix if isinstance(error, MendableError) else None
    return {"kind": type(error).__name__, "message": str(error), "fix": fix}
