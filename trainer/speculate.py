"""Greedy decoding, plain and speculative, with incremental caches; the two must give the same tokens.

Shapes: S tokens, B slots a block, E hidden width, V vocabulary.
"""

import time
from dataclasses import dataclass

import torch
from transformers import DynamicCache

from trainer.drafter import Drafter
from trainer.target import Target


@dataclass(frozen=True)
class Decoded:
    """One reply: its tokens, the seconds after the prompt was read, and the tokens that each verification gave.

    `gains[i]` counts what round i added to the reply, 1 to block size; a last round cut by the end token or the
    length limit counts only what was kept. Plain decoding gains 1 a round. The token from the prompt is no round.
    """

    tokens: list[int]
    seconds: float
    gains: list[int]

    @property
    def accepted_length(self) -> float:
        """Mean tokens a verification, 1 for plain decoding and at most the block size."""
        return sum(self.gains) / len(self.gains) if self.gains else 1.0


@torch.no_grad()
def decode_plainly(target: Target, prompt: list[int], limit: int) -> Decoded:
    """At most `limit` tokens by argmax, one at a time, up to and with the first end token."""
    cache = DynamicCache(config=target.config)
    logits_SV, _ = target.extend(torch.tensor([prompt], device=target.device), cache)
    tokens = [int(logits_SV[-1].argmax())]
    began = time.perf_counter()
    while len(tokens) < limit and tokens[-1] not in target.eos_ids:
        logits_SV, _ = target.extend(torch.tensor([tokens[-1:]], device=target.device), cache)
        tokens.append(int(logits_SV[-1].argmax()))
    return Decoded(tokens, time.perf_counter() - began, [1] * (len(tokens) - 1))


@torch.no_grad()
def decode_speculatively(
    target: Target, drafter: Drafter, prompt: list[int], limit: int, block_size: int, mask_token_id: int
) -> Decoded:
    """The same tokens, drafted a block at a time and verified by one run of the target a block.

    The anchor, the last token given, stands in slot 0; the target has not read it yet, so the drafter sees taps of
    earlier tokens only. After each round the target's cache is cropped to what was accepted.
    """
    cache = DynamicCache(config=target.config)
    compute = drafter.fc.weight.dtype
    logits_SV, taps_1SF = target.extend(torch.tensor([prompt], device=target.device), cache)
    length = len(prompt)
    context = drafter.context(taps_1SF.to(compute), torch.arange(length, device=target.device)[None])
    tokens, gains = [int(logits_SV[-1].argmax())], []
    began = time.perf_counter()
    while len(tokens) < limit and tokens[-1] not in target.eos_ids:
        block_1B = torch.tensor([[tokens[-1]] + [mask_token_id] * (block_size - 1)], device=target.device)
        position_1B = torch.arange(length, length + block_size, device=target.device)[None]
        states_1BE = drafter(target.embed(block_1B).to(compute), position_1B, context)
        block_1B[0, 1:] = target.head(states_1BE[0, 1:]).argmax(-1)
        logits_SV, taps_1SF = target.extend(block_1B, cache)
        draft, truth = block_1B[0, 1:].tolist(), logits_SV.argmax(-1).tolist()
        hits = next((i for i in range(block_size - 1) if draft[i] != truth[i]), block_size - 1)
        fresh = _up_to_end(truth[: hits + 1], target.eos_ids)[: limit - len(tokens)]
        tokens += fresh
        gains.append(len(fresh))
        kept = hits + 1
        cache.crop(kept - block_size)
        fresh_context = drafter.context(taps_1SF[:, :kept].to(compute), position_1B[:, :kept])
        context = [
            (torch.cat([k, new_k], 2), torch.cat([v, new_v], 2))
            for (k, v), (new_k, new_v) in zip(context, fresh_context, strict=True)
        ]
        length += kept
    return Decoded(tokens, time.perf_counter() - began, gains)


def _up_to_end(tokens: list[int], eos_ids: frozenset[int]) -> list[int]:
    end = next((i for i, token in enumerate(tokens) if token in eos_ids), len(tokens))
    return tokens[: end + 1]


@dataclass(frozen=True)
class Difference:
    """Where a speculative reply first left the plain one, and how near the two tokens' logits are there.

    No gap: one reply merely ends earlier than the other.
    """

    prompt: int
    position: int
    gap: float | None


def compare(target: Target, number: int, prompt: list[int], plain: list[int], other: list[int]) -> Difference | None:
    """None when the replies are identical, else the first difference, its gap measured afresh on the plain prefix."""
    if plain == other:
        return None
    at = next((i for i, (a, b) in enumerate(zip(plain, other, strict=False)) if a != b), min(len(plain), len(other)))
    if at == min(len(plain), len(other)):
        return Difference(number, at, None)
    prefix_1S = torch.tensor([prompt + plain[:at]], device=target.device)
    logits_V = target.extend(prefix_1S, DynamicCache(config=target.config))[0][-1]
    return Difference(number, at, abs(float(logits_V[plain[at]] - logits_V[other[at]])))
