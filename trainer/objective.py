"""The training objective: anchors, block labels, decayed cross-entropy, and the accepted length it simulates.

Shapes: R rows, S tokens a row, N blocks a row, B slots a block, P = B - 1 predicted slots, V vocabulary.
E hidden width, F = taps * E, Q = N * B. Slot k of a block anchored at a predicts token a + k; slot 0 holds the
anchor itself and predicts nothing.
"""

import hashlib
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from trainer.attention import Blocks, Kernel
from trainer.drafter import Drafter
from trainer.target import Target


def seeded(*parts: object) -> torch.Generator:
    """A CPU generator that depends on the parts alone, so that a resume needs no generator state."""
    digest = hashlib.sha256("/".join(map(str, parts)).encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))


def draw_anchors(
    supervised_RS: Tensor, document_RS: Tensor, count: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Draw `count` anchors a row, ascending, without replacement, as (anchor_RN, keep_RN).

    A candidate is supervised and so is its successor in the same document. Where a row has fewer candidates, the
    last slots are padding: keep is false and the anchor is the row's last token.
    """
    last = supervised_RS.shape[1] - 1
    follows_RT = supervised_RS[:, :-1] & supervised_RS[:, 1:] & (document_RS[:, :-1] == document_RS[:, 1:])
    score_RT = torch.rand(follows_RT.shape, generator=generator).to(follows_RT.device).masked_fill(~follows_RT, -1.0)
    best_RN, anchor_RN = score_RT.topk(count, dim=1)
    anchor_RN = anchor_RN.masked_fill(best_RN < 0, last).sort(dim=1).values
    return anchor_RN, anchor_RN < last


def block_labels(
    token_RS: Tensor, supervised_RS: Tensor, document_RS: Tensor, anchor_RN: Tensor, keep_RN: Tensor, block_size: int
) -> tuple[Tensor, Tensor]:
    """The labels [R, N, P] of every block and which of them count.

    A block's labels end at the first token that is unsupervised, of another document or beyond the row, so that
    no block is trained across a user turn.
    """
    length = token_RS.shape[1]
    at_RNP = anchor_RN[:, :, None] + torch.arange(1, block_size, device=anchor_RN.device)
    inside_RNP = at_RNP < length
    flat_RM = at_RNP.clamp(max=length - 1).flatten(1)
    label_RNP = token_RS.gather(1, flat_RM).view_as(at_RNP)
    same_RNP = document_RS.gather(1, flat_RM).view_as(at_RNP) == document_RS.gather(1, anchor_RN)[:, :, None]
    counts_RNP = inside_RNP & same_RNP & supervised_RS.gather(1, flat_RM).view_as(at_RNP) & keep_RN[:, :, None]
    return label_RNP, counts_RNP.long().cumprod(dim=2).bool()


def decay(block_size: int, gamma: float, device: torch.device) -> Tensor:
    """Weight of slots 1 to B-1: exp(-(k - 1) / gamma), for an early miss wastes all that follows it."""
    return torch.exp(-torch.arange(block_size - 1, device=device) / gamma)


def block_states(
    target: Target,
    drafter: Drafter,
    token_RS: Tensor,
    position_RS: Tensor,
    blocks: Blocks,
    mask_token_id: int,
    kernel: Kernel,
) -> Tensor:
    """Drafter states [R, N, B, E] of all blocks of packed rows: the training path, from tokens to final norm."""
    compute = (
        torch.get_autocast_dtype(token_RS.device.type)
        if torch.is_autocast_enabled(token_RS.device.type)
        else drafter.fc.weight.dtype
    )
    taps_RSF = target.taps_of(token_RS, blocks.document_RS, position_RS).to(compute)
    token_RNB = token_RS.new_full((*blocks.anchor_RN.shape, blocks.block_size), mask_token_id)
    token_RNB[:, :, 0] = token_RS.gather(1, blocks.anchor_RN).masked_fill(~blocks.keep_RN, mask_token_id)
    offset_B = torch.arange(blocks.block_size, device=token_RS.device)
    position_RQ = (position_RS.gather(1, blocks.anchor_RN)[:, :, None] + offset_B).flatten(1)
    block_RQE = target.embed(token_RNB.flatten(1)).to(compute)
    states_RQE = drafter(block_RQE, position_RQ, drafter.context(taps_RSF, position_RS), kernel, kernel.mask(blocks))
    return states_RQE.unflatten(1, (-1, blocks.block_size))


@dataclass(frozen=True)
class Score:
    """One batch judged. Sums, not means, so that batches and ranks can be added up."""

    loss: Tensor
    supervised_tokens: int
    correct_P: Tensor
    counted_P: Tensor
    accepted: float
    blocks: int


def score(logits_MV: Tensor, label_RNP: Tensor, counts_RNP: Tensor, gamma: float) -> Score:
    """Judge the logits of the M counted slots, in row-major order of `counts_RNP`.

    The loss is the decay-weighted mean cross-entropy; no counted slot at all gives a zero that still has a gradient.
    """
    weight_RNP = decay(counts_RNP.shape[2] + 1, gamma, logits_MV.device).expand(counts_RNP.shape)
    label_M, weight_M = label_RNP[counts_RNP], weight_RNP[counts_RNP]
    each_M = cross_entropy(
        logits_MV.float() if logits_MV.dtype == torch.bfloat16 else logits_MV, label_M, reduction="none"
    )
    loss = (each_M * weight_M).sum() / weight_M.sum().clamp(min=1e-9)
    right_RNP = torch.zeros_like(counts_RNP)
    right_RNP[counts_RNP] = logits_MV.detach().argmax(-1) == label_M
    real_RN = counts_RNP[:, :, 0]
    run_RN = right_RNP.long().cumprod(dim=2).sum(dim=2)
    return Score(
        loss=loss,
        supervised_tokens=int(counts_RNP.sum()),
        correct_P=right_RNP.sum(dim=(0, 1)),
        counted_P=counts_RNP.sum(dim=(0, 1)),
        accepted=float((run_RN + 1)[real_RN].sum()),
        blocks=int(real_RN.sum()),
    )
