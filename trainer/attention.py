"""Which key a query may see (`Blocks`), and the two kernels that compute it: dense SDPA and flex_attention.

Shapes: R rows, N blocks a row, B slots a block, S context tokens, Q = N*B queries, K = S + Q keys,
H query heads, G key heads, D head width. Keys are the context first, then the blocks in order.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask, create_block_mask, flex_attention
from torch.nn.functional import scaled_dot_product_attention

MaskMod = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Blocks:
    """Where the draft blocks stand: block n of a row is anchored at token `anchor_RN` of document `document_RS`.

    A block sees the context of its anchor's document strictly before the anchor, and itself. A padding block
    (`keep_RN` false) sees itself alone, so no query row is ever fully masked.
    """

    anchor_RN: Tensor
    keep_RN: Tensor
    document_RS: Tensor
    block_size: int

    def mask_mod(self) -> MaskMod:
        """The rule as a flex_attention mask function of (row, head, query, key) indices."""
        anchor_RN, keep_RN, document_RS, size = self.anchor_RN, self.keep_RN, self.document_RS, self.block_size
        context = document_RS.shape[1]

        def visible(row: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
            block = query // size
            anchor = anchor_RN[row, block]
            same_document = document_RS[row, key.clamp(max=context - 1)] == document_RS[row, anchor]
            in_context = (key < context) & (key < anchor) & same_document & keep_RN[row, block]
            return in_context | ((key >= context) & ((key - context) // size == block))

        return visible

    def dense(self) -> Tensor:
        """The rule as a boolean mask [R, 1, Q, K], true where a query may look."""
        rows, context = self.document_RS.shape
        count, size = self.anchor_RN.shape[1], self.block_size
        key_S = torch.arange(context, device=self.anchor_RN.device)
        anchored_RN1 = self.document_RS.gather(1, self.anchor_RN)[:, :, None]
        before_RNS = (key_S < self.anchor_RN[:, :, None]) & (self.document_RS[:, None] == anchored_RN1)
        before_RNS = before_RNS & self.keep_RN[:, :, None]
        own_NQ = torch.eye(count, dtype=torch.bool, device=key_S.device).repeat_interleave(size, 1)
        both_RNK = torch.cat([before_RNS, own_NQ.expand(rows, -1, -1)], dim=2)
        return both_RNK.repeat_interleave(size, dim=1)[:, None]


class Kernel(Protocol):
    """One way to compute masked attention; `mask` is made once a step and used by every layer."""

    def mask(self, blocks: Blocks) -> Any:
        """The mask in the kernel's own form."""

    def attend(self, query_RHQD: Tensor, key_RGKD: Tensor, value_RGKD: Tensor, mask: Any) -> Tensor:
        """Attention output [R, H, Q, D], scaled by D ** -0.5."""


class Sdpa:
    """torch's scaled_dot_product_attention under a dense boolean mask: any device, quadratic memory."""

    def mask(self, blocks: Blocks) -> Tensor:
        """The dense mask."""
        return blocks.dense()

    def attend(self, query_RHQD: Tensor, key_RGKD: Tensor, value_RGKD: Tensor, mask: Tensor) -> Tensor:
        """See Kernel."""
        return _sdpa(query_RHQD, key_RGKD, value_RGKD, mask)


class Flex:
    """Compiled flex_attention over a block mask: CUDA only, static shapes, never the unfused path.

    Both functions are compiled on first use, from the one main thread of this process.
    """

    def __init__(self) -> None:
        self._mask = torch.compile(create_block_mask, fullgraph=True, dynamic=False)
        self._attend = torch.compile(flex_attention, fullgraph=True, dynamic=False)

    def mask(self, blocks: Blocks) -> BlockMask:
        """The block-sparse mask, made without the dense grid."""
        rows, context = blocks.document_RS.shape
        queries = blocks.anchor_RN.shape[1] * blocks.block_size
        device = blocks.anchor_RN.device.type
        return self._mask(blocks.mask_mod(), rows, None, queries, context + queries, device=device)

    def attend(self, query_RHQD: Tensor, key_RGKD: Tensor, value_RGKD: Tensor, mask: BlockMask) -> Tensor:
        """See Kernel."""
        return self._attend(query_RHQD, key_RGKD, value_RGKD, block_mask=mask, enable_gqa=True)


def kernel(name: str) -> Kernel:
    """The kernel that the config names, `sdpa` or `flex`; nothing else is ever used in its place."""
    return {"sdpa": Sdpa, "flex": Flex}[name]()


def attend_all(query_RHQD: Tensor, key_RGKD: Tensor, value_RGKD: Tensor) -> Tensor:
    """Unmasked attention, as serving needs it: one block over the whole context before its anchor."""
    return _sdpa(query_RHQD, key_RGKD, value_RGKD, None)


def _sdpa(query_RHQD: Tensor, key_RGKD: Tensor, value_RGKD: Tensor, mask: Tensor | None) -> Tensor:
    # Heads are repeated here because the fused CPU kernel takes no grouped heads and would fall to the slow path.
    group = query_RHQD.shape[1] // key_RGKD.shape[1]
    key_RHKD, value_RHKD = key_RGKD.repeat_interleave(group, 1), value_RGKD.repeat_interleave(group, 1)
    return scaled_dot_product_attention(query_RHQD, key_RHKD, value_RHKD, attn_mask=mask)
