"""The DFlash drafter: draft blocks attend to the target's hidden states, injected as keys and values in every layer.

Shapes: R rows, S context tokens, Q block slots (queries), E hidden width, F = taps * E, H query heads,
G key heads, D head width. Tensor names are those of released checkpoints (58 tensors for five layers).
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import rms_norm, silu

from trainer.attention import Kernel, attend_all

KeyValue = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Shape:
    """Sizes of a drafter; everything that its weights depend on."""

    hidden_size: int
    intermediate_size: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    taps: int
    norm_eps: float
    rope_theta: float


def rotary(position_RS: Tensor, shape: Shape, dtype: torch.dtype) -> KeyValue:
    """Cosine and sine [R, 1, S, D] of the positions, halves doubled (the Llama and Qwen layout)."""
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    power_D2 = torch.arange(0, shape.head_dim, 2, dtype=wide, device=position_RS.device) / shape.head_dim
    angle_RSD = (position_RS.to(wide)[:, :, None] * shape.rope_theta**-power_D2).repeat(1, 1, 2)
    return angle_RSD.cos()[:, None].to(dtype), angle_RSD.sin()[:, None].to(dtype)


def rotate(states_RHSD: Tensor, turn: KeyValue) -> Tensor:
    """Turn each head's pairs by the given angles."""
    first, second = states_RHSD.chunk(2, dim=-1)
    return states_RHSD * turn[0] + torch.cat([-second, first], dim=-1) * turn[1]


class Norm(nn.RMSNorm):
    """RMSNorm whose fp32 weight is cast to the states, since the fused kernel takes only equal dtypes."""

    def forward(self, states: Tensor) -> Tensor:
        """Same shape in and out."""
        return rms_norm(states, self.normalized_shape, self.weight.to(states.dtype), self.eps)


class Attention(nn.Module):
    """Queries from the block; keys and values from the fused context and the block, by the same projections."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.head_dim = shape.head_dim
        self.q_proj = nn.Linear(shape.hidden_size, shape.heads * shape.head_dim, bias=False)
        self.k_proj = nn.Linear(shape.hidden_size, shape.kv_heads * shape.head_dim, bias=False)
        self.v_proj = nn.Linear(shape.hidden_size, shape.kv_heads * shape.head_dim, bias=False)
        self.o_proj = nn.Linear(shape.heads * shape.head_dim, shape.hidden_size, bias=False)
        self.q_norm = Norm(shape.head_dim, eps=shape.norm_eps)
        self.k_norm = Norm(shape.head_dim, eps=shape.norm_eps)

    def key_value(self, states_RSE: Tensor, turn: KeyValue) -> KeyValue:
        """Rotated keys and plain values [R, G, S, D] of context or block states."""
        key_RGSD = self.k_norm(self._heads(self.k_proj(states_RSE)))
        return rotate(key_RGSD, turn), self._heads(self.v_proj(states_RSE))

    def forward(self, block_RQE: Tensor, turn: KeyValue, context: KeyValue, kernel: Kernel | None, mask: Any) -> Tensor:
        """Attention output [R, Q, E]. Without a kernel the block sees the whole context (serving)."""
        query_RHQD = rotate(self.q_norm(self._heads(self.q_proj(block_RQE))), turn)
        own = self.key_value(block_RQE, turn)
        key_RGKD, value_RGKD = (torch.cat(pair, dim=2) for pair in zip(context, own, strict=True))
        if kernel is None:
            out_RHQD = attend_all(query_RHQD, key_RGKD, value_RGKD)
        else:
            out_RHQD = kernel.attend(query_RHQD, key_RGKD, value_RGKD, mask)
        return self.o_proj(out_RHQD.transpose(1, 2).flatten(2))

    def _heads(self, states: Tensor) -> Tensor:
        return states.unflatten(-1, (-1, self.head_dim)).transpose(1, 2)


class Mlp(nn.Module):
    """The gated feed-forward of Qwen3."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(shape.hidden_size, shape.intermediate_size, bias=False)
        self.up_proj = nn.Linear(shape.hidden_size, shape.intermediate_size, bias=False)
        self.down_proj = nn.Linear(shape.intermediate_size, shape.hidden_size, bias=False)

    def forward(self, states: Tensor) -> Tensor:
        """Same shape in and out."""
        return self.down_proj(silu(self.gate_proj(states)) * self.up_proj(states))


class Layer(nn.Module):
    """A pre-norm decoder layer over the block; the context is read, never updated."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.input_layernorm = Norm(shape.hidden_size, eps=shape.norm_eps)
        self.self_attn = Attention(shape)
        self.post_attention_layernorm = Norm(shape.hidden_size, eps=shape.norm_eps)
        self.mlp = Mlp(shape)

    def forward(self, block_RQE: Tensor, turn: KeyValue, context: KeyValue, kernel: Kernel | None, mask: Any) -> Tensor:
        """Same shape in and out."""
        block_RQE = block_RQE + self.self_attn(self.input_layernorm(block_RQE), turn, context, kernel, mask)
        return block_RQE + self.mlp(self.post_attention_layernorm(block_RQE))


class Drafter(nn.Module):
    """The whole drafter, without embedding and head: those are the target's, frozen."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.fc = nn.Linear(shape.taps * shape.hidden_size, shape.hidden_size, bias=False)
        self.hidden_norm = Norm(shape.hidden_size, eps=shape.norm_eps)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.norm = Norm(shape.hidden_size, eps=shape.norm_eps)

    def initialize(self, seed: int) -> None:
        """Seeded normal weights of deviation 0.02, norms at one; independent of any other random state."""
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for _, weight in sorted(self.named_parameters()):
                if weight.ndim == 1:
                    weight.fill_(1.0)
                else:
                    weight.copy_(torch.empty(weight.shape).normal_(0.0, 0.02, generator=generator))

    def context(self, taps_RSF: Tensor, position_RS: Tensor) -> list[KeyValue]:
        """Each layer's keys and values of the context, fused once from the target's taps (ascending layers)."""
        fused_RSE = self.hidden_norm(self.fc(taps_RSF))
        turn = rotary(position_RS, self.shape, fused_RSE.dtype)
        return [layer.self_attn.key_value(fused_RSE, turn) for layer in self.layers]

    def forward(
        self,
        block_RQE: Tensor,
        position_RQ: Tensor,
        context: list[KeyValue],
        kernel: Kernel | None = None,
        mask: Any = None,
    ) -> Tensor:
        """Final normed states [R, Q, E] of the block slots, ready for the target's head.

        `block_RQE` holds target embeddings of [anchor, MASK, ...]. With a kernel, many blocks under its mask
        (training); without, one block that sees all of `context` (serving).
        """
        turn = rotary(position_RQ, self.shape, block_RQE.dtype)
        for layer, key_value in zip(self.layers, context, strict=True):
            block_RQE = layer(block_RQE, turn, key_value, kernel, mask)
        return self.norm(block_RQE)
