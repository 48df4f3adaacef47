"""What a run came to: the parts of events and result.json, and the closing table."""

from typing import Any

from trainer.config import TrainConfig
from trainer.evaluation import Evaluation, Measured, exactness
from trainer.objective import Score
from trainer.progress import clock_text, table
from trainer.session import Totals


def rounded(value: Any, digits: int = 4) -> float:
    """A float short enough to read in a log."""
    return round(float(value), digits)


def step(totals: Totals, judged: Score) -> dict[str, Any]:
    """The figures of a `step` event; rates are of this process since its first step."""
    correct, counted = judged.correct_P.tolist(), judged.counted_P.tolist()
    return {
        "loss": rounded(judged.loss.item()),
        "simulated": rounded(judged.accepted / max(1, judged.blocks)),
        "accuracy": [rounded(right / max(1, all_)) for right, all_ in zip(correct, counted, strict=True)],
        **rates(totals),
    }


def rates(totals: Totals) -> dict[str, float]:
    """Non-padding context tokens, supervised draft tokens and anchors a second, the first step left out."""
    seconds = max(totals.steady_seconds, 1e-9)
    return {
        "context_tokens_per_s": rounded(totals.tokens / seconds, 1),
        "supervised_draft_tokens_per_s": rounded(totals.supervised / seconds, 1),
        "anchors_per_s": rounded(totals.anchors / seconds, 1),
    }


def measured(value: Measured) -> dict[str, Any]:
    """The figures of an `evaluation` event."""
    return {
        "accepted_length": rounded(value.accepted_length),
        "per_position": [rounded(share) for share in value.per_position],
        "speed_up": rounded(value.speed_up, 3),
        "exactness": exactness(value),
    }


def figures(totals: Totals, evaluation: Evaluation | None = None) -> dict[str, Any]:
    """What result.json says of a run that got as far as this."""
    reached = {
        "seconds": {name: rounded(value, 2) for name, value in totals.seconds.items()},
        "steps": totals.step,
        "tokens": totals.tokens,
        "loss": totals.loss,
        "rates": rates(totals) if totals.steady_seconds else None,
    }
    if evaluation is None:
        return reached
    trained, untrained = evaluation.trained, evaluation.untrained
    lengths = {
        "trained": rounded(trained.accepted_length),
        "untrained": None if untrained is None else rounded(untrained.accepted_length),
        "simulated": rounded(evaluation.simulated),
        "per_prompt": [rounded(length) for length in trained.per_prompt],
        "per_position": [rounded(share) for share in trained.per_position],
    }
    return {
        **reached,
        "accepted_length": lengths,
        "speed_up": rounded(trained.speed_up, 3),
        "exactness": exactness(trained),
        "exactness_untrained": None if untrained is None else exactness(untrained),
        "distinct_tokens": evaluation.distinct_tokens,
    }


def summary(config: TrainConfig, totals: Totals, evaluation: Evaluation, wrong: list[str]) -> str:
    """The closing table, and below it what was expected and not met."""
    speeds, seconds, trained = rates(totals), totals.seconds, evaluation.trained
    context, draft = speeds["context_tokens_per_s"], speeds["supervised_draft_tokens_per_s"]
    length = f"{trained.accepted_length:.2f} of {config.drafter.block_size} tokens a verification"
    before = [] if evaluation.untrained is None else [("untrained", f"{evaluation.untrained.accepted_length:.2f}")]
    loss = "" if totals.loss is None else f", loss {totals.loss:.3f}"
    rows = [
        ("accepted length", length),
        *before,
        ("simulated", f"{evaluation.simulated:.2f} on the same answers"),
        ("by position", " ".join(f"{share:.0%}" for share in trained.per_position)),
        ("exactness", _exact(trained)),
        ("speed-up", f"{trained.speed_up:.2f}x over plain decoding, {len(evaluation.answers)} held-out prompts"),
        ("", ""),
        ("training", f"{totals.step:,} steps in {clock_text(seconds['train'])}{loss}"),
        ("rates", f"{context:,.0f} context tokens/s, {draft:,.0f} supervised draft tokens/s"),
        ("evaluation", clock_text(seconds["evaluate"])),
    ]
    text = table("The drafter is trained" if not wrong else "The run missed what it must show", rows)
    # A path on a line of its own is whole when it is copied, however narrow the terminal.
    text += f"\n  checkpoint\n  {totals.checkpoint}\n"
    return text + "".join(f"\n  missed: {reason}" for reason in wrong) + ("\n" if wrong else "")


def _exact(value: Measured) -> str:
    text = f"{value.identical} of {len(value.per_prompt)} replies identical to plain greedy decoding"
    ties = ", ".join(f"prompt {tie.prompt} token {tie.position} gap {tie.gap:.1e}" for tie in value.ties)
    return text + (f"; argmax ties: {ties}" if ties else "")
