"""Anchors, labels and the loss against slow plain references."""

import math
import random

import pytest
import torch

from trainer.objective import block_labels, decay, draw_anchors, score, seeded


def random_rows(seed: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    rng = random.Random(seed)
    rows, length = 3, 30
    token = torch.tensor([[rng.randrange(50) for _ in range(length)] for _ in range(rows)])
    supervised = torch.tensor([[rng.random() < 0.7 for _ in range(length)] for _ in range(rows)])
    document = torch.tensor([[at // rng.choice([9, 10]) for at in range(length)] for _ in range(rows)]).sort(1).values
    return token, supervised, document


@pytest.mark.parametrize("seed", range(20))
def test_anchors_are_sorted_distinct_candidates(seed: int) -> None:
    _, supervised, document = random_rows(seed)
    count = 12
    anchor, keep = draw_anchors(supervised, document, count, seeded(seed))
    for row in range(3):
        candidates = {
            at
            for at in range(29)
            if supervised[row, at] and supervised[row, at + 1] and document[row, at] == document[row, at + 1]
        }
        kept = anchor[row][keep[row]].tolist()
        assert kept == sorted(set(kept)) and set(kept) <= candidates
        assert len(kept) == min(count, len(candidates))
        assert anchor[row].tolist() == sorted(anchor[row].tolist())


def test_anchors_depend_on_the_seed_and_step_alone() -> None:
    _, supervised, document = random_rows(1)
    draw = lambda *parts: draw_anchors(supervised, document, 5, seeded(*parts))[0]  # noqa: E731
    assert torch.equal(draw(1, "anchors", 7), draw(1, "anchors", 7))
    assert any(not torch.equal(draw(1, "anchors", 7), draw(1, "anchors", step)) for step in (8, 9, 10))


def test_every_candidate_is_drawn_in_time() -> None:
    supervised, document = torch.ones(1, 12, dtype=torch.bool), torch.zeros(1, 12, dtype=torch.long)
    seen = {int(at) for step in range(200) for at in draw_anchors(supervised, document, 2, seeded(step))[0][0]}
    assert seen == set(range(11))


def test_a_row_without_supervision_gives_only_padding() -> None:
    nothing = torch.zeros(1, 10, dtype=torch.bool)
    _, keep = draw_anchors(nothing, torch.zeros(1, 10, dtype=torch.long), 3, seeded(0))
    assert not keep.any()


@pytest.mark.parametrize("seed", range(20))
def test_labels_and_loss_equal_a_slow_reference(seed: int) -> None:
    token, supervised, document = random_rows(seed)
    size, gamma = 5, 3.0
    anchor, keep = draw_anchors(supervised, document, 9, seeded(seed))
    label, counts = block_labels(token, supervised, document, anchor, keep, size)
    torch.manual_seed(seed)
    logits = torch.randn(*label.shape, 50, dtype=torch.float64)
    judged = score(logits[counts], label, counts, gamma)

    total = weights = accepted = 0.0
    blocks = supervised_tokens = 0
    for row in range(3):
        for n in range(9):
            run, open_ = 0, True
            for k in range(1, size):
                at = int(anchor[row, n]) + k
                fine = (
                    bool(keep[row, n])
                    and at < 30
                    and bool(supervised[row, at])
                    and document[row, at] == document[row, anchor[row, n]]
                )
                open_ = open_ and bool(fine)
                assert bool(counts[row, n, k - 1]) == open_
                if not open_:
                    break
                wanted = int(token[row, at])
                weight = math.exp(-(k - 1) / gamma)
                total += weight * (logits[row, n, k - 1].logsumexp(0) - logits[row, n, k - 1, wanted]).item()
                weights += weight
                supervised_tokens += 1
                run += int(run == k - 1 and int(logits[row, n, k - 1].argmax()) == wanted)
            if keep[row, n]:
                accepted, blocks = accepted + run + 1, blocks + 1
    assert judged.loss.item() == pytest.approx(total / weights, rel=1e-6)
    assert (judged.accepted, judged.blocks, judged.supervised_tokens) == (accepted, blocks, supervised_tokens)


def test_labels_never_jump_a_user_turn() -> None:
    token = torch.arange(10)[None]
    supervised = torch.tensor([[0, 1, 1, 1, 0, 0, 1, 1, 1, 1]]).bool()
    _, counts = block_labels(
        token, supervised, torch.zeros(1, 10).long(), torch.tensor([[2]]), torch.ones(1, 1).bool(), 8
    )
    assert counts[0, 0].tolist() == [True] + [False] * 6


def test_no_counted_slot_gives_a_zero_loss_with_a_gradient() -> None:
    logits = torch.zeros(0, 50, requires_grad=True)
    judged = score(logits, torch.zeros(1, 2, 3).long(), torch.zeros(1, 2, 3).bool(), 4.0)
    judged.loss.backward()
    assert judged.loss.item() == 0.0 and judged.blocks == 0


def test_decay_halves_as_stated() -> None:
    assert decay(4, 2.0, torch.device("cpu")).tolist() == pytest.approx([1.0, math.exp(-0.5), math.exp(-1.0)])
