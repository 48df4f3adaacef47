"""Held-out evaluation: real accepted length, exactness, the simulated length beside it, and what a run must show.

Shapes: S tokens, N blocks, B slots a block, P = B - 1, E hidden width, M counted slots.
"""

import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from trainer.attention import Blocks, Sdpa
from trainer.chats import RefusedError, Tally, named, read_chats
from trainer.config import DataConfig, DrafterConfig, EvaluationConfig, ExpectConfig
from trainer.drafter import Drafter
from trainer.errors import ConfigError
from trainer.objective import block_labels, block_states, score
from trainer.room import Room
from trainer.speculate import Decoded, Difference, compare, decode_plainly, decode_speculatively
from trainer.target import Target


@dataclass(frozen=True)
class Prompt:
    """A held-out question as tokens, and the target's own greedy answer to it."""

    ids: list[int]
    plain: Decoded


@dataclass(frozen=True)
class Measured:
    """What one drafter did on all prompts; `per_position[k-1]` is the share of rounds that accepted k or more."""

    accepted_length: float
    per_prompt: list[float]
    per_position: list[float]
    speed_up: float
    identical: int
    ties: list[Difference]
    mismatches: list[Difference]


@dataclass(frozen=True)
class Evaluation:
    """Everything measured at the end of a run."""

    answers: list[Prompt]
    trained: Measured
    untrained: Measured | None
    simulated: float

    @property
    def distinct_tokens(self) -> int:
        """How many different tokens the plain answers hold."""
        return len({token for prompt in self.answers for token in prompt.plain.tokens})


def read_prompts(path: Path, tokenizer: Any, config: DataConfig, room: Room, number: int) -> list[list[int]]:
    """Token ids of the first `number` usable conversations, each up to its last reply.

    Raises ConfigError when there are fewer, or too many before them are refused.
    """
    tally, prompts = Tally(f"data.heldout: {named(config.heldout, path)}"), []
    for line, messages in read_chats(path, tally):
        asked = messages[:-1] if messages[-1]["role"] == "assistant" else messages
        try:
            prompts.append(room.prompt(tokenizer, asked, config.template_options))
        except RefusedError as rejection:
            tally.reject(str(rejection), line)
        if len(prompts) == number:
            break
    tally.settle(config.rejected_at_most)
    if len(prompts) < number:
        raise ConfigError(
            f"{tally.name} gives {len(prompts)} prompts, but evaluate.prompts = {number}",
            f"add lines, or set evaluate.prompts={len(prompts)}",
        )
    return prompts


def answer(
    target: Target, prompts: list[list[int]], config: EvaluationConfig, report: Callable[[int, int], None]
) -> list[Prompt]:
    """The target's plain greedy answers, against which every drafter is held. `report(done, total)` after each."""
    answered = []
    for ids in prompts:
        answered.append(Prompt(ids, decode_plainly(target, ids, config.new_tokens)))
        report(len(answered), len(prompts))
    return answered


def measure(
    target: Target,
    drafter: Drafter,
    prompts: list[Prompt],
    shape: DrafterConfig,
    config: EvaluationConfig,
    report: Callable[[int, int], None],
) -> Measured:
    """Speculative decoding of every prompt, compared with the plain answer. `report(done, total)` after each."""
    gains, lengths, differences, seconds = [], [], [], 0.0
    for number, prompt in enumerate(prompts):
        other = decode_speculatively(
            target, drafter, prompt.ids, config.new_tokens, shape.block_size, shape.mask_token_id
        )
        gains += other.gains
        lengths.append(other.accepted_length)
        differences.append(compare(target, number, prompt.ids, prompt.plain.tokens, other.tokens))
        seconds += other.seconds / max(1, len(other.tokens) - 1)
        report(number + 1, len(prompts))
    found = [difference for difference in differences if difference is not None]
    ties = [difference for difference in found if difference.gap is not None and difference.gap <= config.tie_gap]
    plain_seconds = sum(prompt.plain.seconds / max(1, len(prompt.plain.tokens) - 1) for prompt in prompts)
    return Measured(
        accepted_length=statistics.mean(lengths),
        per_prompt=lengths,
        per_position=[sum(gain > k for gain in gains) / max(1, len(gains)) for k in range(1, shape.block_size)],
        speed_up=plain_seconds / seconds if seconds else 1.0,
        identical=len(prompts) - len(found),
        ties=ties,
        mismatches=[difference for difference in found if difference not in ties],
    )


@torch.no_grad()
def simulate(target: Target, drafter: Drafter, prompts: list[Prompt], shape: DrafterConfig) -> float:
    """Accepted length by the training path: a block at every token of the plain answers, all judged at once."""
    accepted, blocks, kernel = 0.0, 0, Sdpa()
    for prompt in prompts:
        token_1S = torch.tensor([prompt.ids + prompt.plain.tokens], device=target.device)
        position_1S = torch.arange(token_1S.shape[1], device=target.device)[None]
        document_1S = torch.zeros_like(position_1S)
        supervised_1S = position_1S >= len(prompt.ids)
        anchor_1N = position_1S[:, len(prompt.ids) : -1]
        if not anchor_1N.numel():
            continue
        spots = Blocks(anchor_1N, torch.ones_like(anchor_1N, dtype=torch.bool), document_1S, shape.block_size)
        label_1NP, counts_1NP = block_labels(
            token_1S, supervised_1S, document_1S, anchor_1N, spots.keep_RN, shape.block_size
        )
        states_1NBE = block_states(target, drafter, token_1S, position_1S, spots, shape.mask_token_id, kernel)
        judged = score(target.head(states_1NBE[:, :, 1:][counts_1NP]), label_1NP, counts_1NP, gamma=1.0)
        accepted, blocks = accepted + judged.accepted, blocks + judged.blocks
    return accepted / max(1, blocks)


def violations(expect: ExpectConfig, evaluation: Evaluation, block_size: int) -> list[str]:
    """Everything that forbids to call the run good, in words; empty for a good run."""
    trained, untrained, distinct = evaluation.trained, evaluation.untrained, evaluation.distinct_tokens
    found = [f"the trained drafter's {_where(mismatch)}" for mismatch in trained.mismatches]
    if untrained is not None:
        found += [f"the untrained drafter's {_where(mismatch)}" for mismatch in untrained.mismatches]
    least, below, varied = expect.trained_at_least, expect.untrained_below, expect.distinct_tokens_at_least
    length = trained.accepted_length
    if least is not None and length < least:
        found.append(f"accepted length {length:.2f} is below expect.trained_at_least = {least}")
    if least is not None and length >= block_size:
        found.append(f"accepted length is the whole block of {block_size}: the target's text must be degenerate")
    if below is not None and untrained is None:
        found.append("expect.untrained_below is set, but evaluate.untrained = false")
    if below is not None and untrained is not None and untrained.accepted_length >= below:
        reached = f"the untrained drafter reaches {untrained.accepted_length:.2f}"
        found.append(f"{reached}, not below expect.untrained_below = {below}: the target's text is too easy")
    if varied is not None and distinct < varied:
        found.append(f"the answers hold {distinct} distinct tokens, below expect.distinct_tokens_at_least = {varied}")
    return found


def _where(mismatch: Difference) -> str:
    gap = "one ends early" if mismatch.gap is None else f"logit gap {mismatch.gap:.2e}"
    return f"reply to prompt {mismatch.prompt} differs from plain decoding at token {mismatch.position}, {gap}"


def exactness(measured: Measured) -> dict[str, Any]:
    """The exactness part of result.json."""
    return {
        "prompts": len(measured.per_prompt),
        "identical": measured.identical,
        "ties": [asdict(tie) for tie in measured.ties],
        "mismatches": [asdict(mismatch) for mismatch in measured.mismatches],
    }
