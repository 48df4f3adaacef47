"""What the drafter may see, and that training and serving compute the same: leak, parity, losslessness."""

from pathlib import Path
from typing import Any

import pytest
import torch

from trainer.attention import Blocks, Sdpa
from trainer.config import DrafterConfig, TargetConfig
from trainer.drafter import Drafter
from trainer.objective import block_states
from trainer.speculate import compare, decode_plainly, decode_speculatively
from trainer.target import Target, load_target

SHAPE = DrafterConfig(
    layers=2, taps=(0, 2, 3), block_size=5, mask_token_id=300, heads=4, kv_heads=2, head_dim=16, intermediate_size=48
)


@pytest.fixture(params=["qwen3-untied", "qwen3-tied", "llama"])
def target(request: Any, folders: dict[str, Path]) -> Target:
    loaded, _ = load_target(TargetConfig(str(folders[request.param]), "float32"), SHAPE, "cpu")
    loaded.model.double()
    return loaded


def drafter_for(target: Target, seed: int = 1) -> Drafter:
    drafter = Drafter(target.shape(SHAPE)).double()
    generator = torch.Generator().manual_seed(seed)
    for weight in drafter.parameters():
        weight.data = torch.empty_like(weight).normal_(1.0 if weight.ndim == 1 else 0.0, 0.15, generator=generator)
    return drafter.eval().requires_grad_(False)


def two_documents() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    token = torch.randint(0, 256, (1, 24), generator=torch.Generator().manual_seed(2))
    document = torch.tensor([[0] * 14 + [1] * 8 + [-1] * 2])
    position = torch.tensor([[*range(14), *range(8), 0, 0]])
    return token, document, position


def test_a_block_sees_the_taps_before_its_anchor_and_nothing_else(target: Target) -> None:
    drafter, (token, document, position) = drafter_for(target), two_documents()
    blocks = Blocks(torch.tensor([[3, 9, 17]]), torch.ones(1, 3, dtype=torch.bool), document, 5)
    taps = target.taps_of(token, document, position)
    embedded = target.embed(torch.randint(0, 256, (1, 15), generator=torch.Generator().manual_seed(3)))
    where = (position.gather(1, blocks.anchor_RN)[:, :, None] + torch.arange(5)).flatten(1)

    def states(taps: torch.Tensor, embedded: torch.Tensor) -> torch.Tensor:
        return drafter(embedded, where, drafter.context(taps, position), Sdpa(), blocks.dense())[0].unflatten(0, (3, 5))

    before = states(taps, embedded)
    for at in range(24):
        moved = taps.clone()
        moved[0, at] += 1.0
        after = states(moved, embedded)
        for block, (anchor, first) in enumerate([(3, 0), (9, 0), (17, 14)]):
            visible = first <= at < anchor
            assert torch.equal(after[block], before[block]) != visible, (at, block)
    for other in range(3):
        changed = embedded.clone()
        changed[0, other * 5 : other * 5 + 5] += 1.0
        after = states(taps, changed)
        assert [torch.equal(after[block], before[block]) for block in range(3)] == [
            block != other for block in range(3)
        ]


def test_taps_are_the_layer_outputs_of_each_document_alone(target: Target) -> None:
    token, document, position = two_documents()
    taps = target.taps_of(token, document, position)
    for number, (start, end) in enumerate([(0, 14), (14, 22)]):
        alone = target.model(input_ids=token[:, start:end], output_hidden_states=True).hidden_states
        expected = torch.cat([alone[tap + 1] for tap in SHAPE.taps], dim=-1)
        assert torch.allclose(taps[:, start:end], expected, atol=1e-9), number


def test_training_and_serving_give_the_same_states(target: Target) -> None:
    drafter, (token, document, position) = drafter_for(target), two_documents()
    anchors = torch.tensor([[3, 9, 17]])
    blocks = Blocks(anchors, torch.ones(1, 3, dtype=torch.bool), document, 5)
    trained = block_states(target, drafter, token, position, blocks, SHAPE.mask_token_id, Sdpa())[0]
    for block, (anchor, first) in enumerate([(3, 0), (9, 0), (17, 14)]):
        from transformers import DynamicCache

        cache, context = DynamicCache(config=target.config), None
        for start in range(first, anchor, 2):
            piece = token[:, start : min(start + 2, anchor)]
            _, taps = target.extend(piece, cache)
            fresh = drafter.context(taps, torch.arange(start - first, start - first + piece.shape[1])[None])
            context = (
                fresh
                if context is None
                else [
                    tuple(torch.cat(p, 2) for p in zip(a, b, strict=True)) for a, b in zip(context, fresh, strict=True)
                ]
            )
        ids = torch.tensor([[int(token[0, anchor]), 300, 300, 300, 300]])
        where = torch.arange(anchor - first, anchor - first + 5)[None]
        served = drafter(target.embed(ids), where, context)[0]
        assert torch.allclose(target.head(served), target.head(trained[block]), atol=1e-9)


def test_greedy_speculation_is_lossless_in_float64(target: Target) -> None:
    for seed in range(6):
        prompt = torch.randint(0, 256, (9,), generator=torch.Generator().manual_seed(seed)).tolist()
        plain = decode_plainly(target, prompt, 40)
        fast = decode_speculatively(target, drafter_for(target, seed), prompt, 40, 5, 300)
        assert fast.tokens == plain.tokens
        assert compare(target, 0, prompt, plain.tokens, fast.tokens) is None
        assert sum(fast.gains) + 1 == len(fast.tokens) and all(1 <= gain <= 5 for gain in fast.gains)


class Oracle(Drafter):
    """Drafts the target's own continuation: every round but the last must gain a whole block."""

    def __init__(self, target: Target, answer: list[int], prompt_length: int) -> None:
        super().__init__(target.shape(SHAPE))
        self.double()
        self._target, self._answer, self._start = target, answer, prompt_length

    def forward(
        self, block: torch.Tensor, position: torch.Tensor, context: Any, kernel: Any = None, mask: Any = None
    ) -> torch.Tensor:
        at = int(position[0, 0]) - self._start
        wanted = (self._answer + [0] * 5)[at : at + 5]
        self._target.head = lambda states: torch.nn.functional.one_hot(
            torch.tensor(wanted[1 : 1 + len(states)]), 320
        ).double()  # type: ignore[method-assign]
        return block


def test_a_perfect_drafter_gains_whole_blocks(target: Target) -> None:
    prompt = [10, 20, 30, 40]
    plain = decode_plainly(target, prompt, 31)
    fast = decode_speculatively(
        target, Oracle(target, plain.tokens, len(prompt)).requires_grad_(False), prompt, 31, 5, 300
    )
    assert fast.tokens == plain.tokens
    assert fast.gains[:-1] == [5] * (len(fast.gains) - 1)


def test_a_difference_is_placed_and_measured(target: Target) -> None:
    prompt = [10, 20, 30]
    plain = decode_plainly(target, prompt, 10).tokens
    other = [*plain[:4], (plain[4] + 1) % 256, *plain[5:]]
    found = compare(target, 7, prompt, plain, other)
    assert found is not None and (found.prompt, found.position) == (7, 4) and found.gap is not None and found.gap > 1e-3
    shorter = compare(target, 7, prompt, plain, plain[:-1])
    assert shorter is not None and shorter.gap is None


def test_seeded_initialisation_ignores_other_random_state(target: Target) -> None:
    first, second = Drafter(target.shape(SHAPE)), Drafter(target.shape(SHAPE))
    first.initialize(4)
    torch.manual_seed(99)
    second.initialize(4)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
