"""The mask against three plain loops, and flex's mask function against the dense mask."""

import functools
import random

import pytest
import torch
import torch._dynamo
from torch.nn.attention.flex_attention import create_mask

from trainer.attention import Blocks, Sdpa, kernel


def random_blocks(seed: int) -> Blocks:
    rng = random.Random(seed)
    rows, context, count, size = rng.randint(1, 3), rng.randint(4, 24), rng.randint(1, 4), rng.randint(2, 5)
    documents = []
    for _ in range(rows):
        cuts = sorted(rng.sample(range(1, context), rng.randint(0, 2)))
        documents.append(
            [
                -1 if at >= context - 2 and rng.random() < 0.5 else sum(at >= cut for cut in cuts)
                for at in range(context)
            ]
        )
    anchors = torch.tensor([sorted(rng.randrange(context) for _ in range(count)) for _ in range(rows)])
    keep = torch.tensor([[rng.random() < 0.8 for _ in range(count)] for _ in range(rows)])
    return Blocks(anchors, keep, torch.tensor(documents), size)


def by_loops(blocks: Blocks) -> torch.Tensor:
    rows, context = blocks.document_RS.shape
    queries = blocks.anchor_RN.shape[1] * blocks.block_size
    mask = torch.zeros(rows, 1, queries, context + queries, dtype=torch.bool)
    for row in range(rows):
        for query in range(queries):
            block = query // blocks.block_size
            anchor = int(blocks.anchor_RN[row, block])
            for key in range(context + queries):
                if key < context:
                    seen = bool(blocks.keep_RN[row, block]) and key < anchor
                    seen = seen and int(blocks.document_RS[row, key]) == int(blocks.document_RS[row, anchor])
                else:
                    seen = (key - context) // blocks.block_size == block
                mask[row, 0, query, key] = seen
    return mask


@pytest.mark.parametrize("seed", range(40))
def test_dense_mask_and_mask_mod_equal_plain_loops(seed: int) -> None:
    blocks = random_blocks(seed)
    expected = by_loops(blocks)
    rows, _, queries, keys = expected.shape
    assert torch.equal(blocks.dense(), expected)
    assert torch.equal(create_mask(blocks.mask_mod(), rows, 1, queries, keys, device="cpu"), expected)
    assert expected.any(-1).all()


def test_sdpa_equals_softmax_over_the_visible_keys() -> None:
    blocks = random_blocks(3)
    torch.manual_seed(0)
    rows, _, queries, keys = blocks.dense().shape
    query, key, value = torch.randn(rows, 4, queries, 8), torch.randn(rows, 2, keys, 8), torch.randn(rows, 2, keys, 8)
    mask = Sdpa().mask(blocks)
    got = Sdpa().attend(query, key, value, mask)
    for head in range(4):
        scores = (query[:, head] @ key[:, head // 2].mT / 8**0.5).masked_fill(~mask[:, 0], float("-inf"))
        assert torch.allclose(got[:, head], scores.softmax(-1) @ value[:, head // 2], atol=1e-5)


def test_flex_equals_sdpa_and_compiles_once_for_all_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forward only, as flex_attention has no backward on a CPU; a second compilation would raise."""
    monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend="aot_eager"))
    monkeypatch.setattr(torch._dynamo.config, "error_on_recompile", True)
    flex = kernel("flex")
    for seed in range(3):
        torch.manual_seed(seed)
        anchors = torch.randint(0, 120, (2, 16)).sort(1).values
        blocks = Blocks(anchors, torch.rand(2, 16) < 0.8, (torch.arange(128) // (30 + seed)).expand(2, -1), 8)
        query, key, value = torch.randn(2, 4, 128, 32), torch.randn(2, 2, 256, 32), torch.randn(2, 2, 256, 32)
        with torch.no_grad():
            got = flex.attend(query, key, value, flex.mask(blocks))
        assert torch.allclose(got, Sdpa().attend(query, key, value, blocks.dense()), atol=1e-5)


def test_an_unknown_kernel_is_refused() -> None:
    with pytest.raises(KeyError):
        kernel("eager")
