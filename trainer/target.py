"""The frozen target: any Hugging Face causal LM whose decoder layers can be hooked.

Shapes: R rows, S tokens, E hidden width, F = taps * E, V vocabulary.
"""

import copy
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoModelForCausalLM, AutoTokenizer

from trainer.config import DrafterConfig, TargetConfig
from trainer.drafter import Shape
from trainer.errors import ConfigError


class Target:
    """A frozen model with taps: tap i is the output of decoder layer i, before any final norm.

    They are read by hooks, not from `output_hidden_states`, whose last entry is normed and whose index is off by one.
    """

    def __init__(self, model: nn.Module, taps: tuple[int, ...]) -> None:
        self.model = model.eval().requires_grad_(False)
        self.config = model.config.get_text_config()
        self.taps = taps
        self._seen: dict[int, Tensor] = {}
        decoder = model.get_decoder()
        for index in taps:
            decoder.layers[index].register_forward_hook(self._hook(index))
        # A shallow copy that ends at the last tap: what lies above it is never needed while training.
        self._trunk = copy.copy(decoder)
        self._trunk._modules = dict(decoder._modules)
        self._trunk.layers = nn.ModuleList(decoder.layers[: max(taps) + 1])

    @property
    def eos_ids(self) -> frozenset[int]:
        """The tokens that end a reply, from the generation config."""
        ids = self.model.generation_config.eos_token_id
        return frozenset(ids if isinstance(ids, list) else [] if ids is None else [ids])

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.model.get_input_embeddings().weight.device

    def shape(self, drafter: DrafterConfig) -> Shape:
        """The drafter's sizes: the config's, with hidden size, epsilon and rotary base of this target."""
        rope = getattr(self.config, "rope_parameters", None) or {}
        return Shape(
            hidden_size=self.config.hidden_size,
            intermediate_size=drafter.intermediate_size,
            layers=drafter.layers,
            heads=drafter.heads,
            kv_heads=drafter.kv_heads,
            head_dim=drafter.head_dim,
            taps=len(drafter.taps),
            norm_eps=self.config.rms_norm_eps,
            rope_theta=float(rope.get("rope_theta", 10000.0)),
        )

    @torch.no_grad()
    def embed(self, token: Tensor) -> Tensor:
        """Embedding rows of any shape of token ids."""
        return self.model.get_input_embeddings()(token)

    def head(self, states: Tensor) -> Tensor:
        """Logits of final states; the gradient passes through, the frozen weights take none."""
        head = self.model.get_output_embeddings()
        return head(states.to(head.weight.dtype))

    @torch.no_grad()
    def taps_of(self, token_RS: Tensor, document_RS: Tensor, position_RS: Tensor) -> Tensor:
        """Taps [R, S, F] of packed rows: causal within each document, padding seeing only itself."""
        length = token_RS.shape[1]
        causal_SS = torch.ones(length, length, dtype=torch.bool, device=token_RS.device).tril()
        same_RSS = document_RS[:, :, None] == document_RS[:, None, :]
        mask_R1SS = (same_RSS & causal_SS)[:, None]
        self._trunk(input_ids=token_RS, attention_mask=mask_R1SS, position_ids=position_RS, use_cache=False)
        return self._collect()

    @torch.no_grad()
    def extend(self, token_1S: Tensor, cache: Any) -> tuple[Tensor, Tensor]:
        """Run the whole model on the next tokens over its cache. Returns logits [S, V] and taps [1, S, F]."""
        logits_1SV = self.model(input_ids=token_1S, cache=cache, use_cache=True).logits
        return logits_1SV[0], self._collect()

    def _hook(self, index: int) -> Any:
        def keep(module: nn.Module, inputs: Any, output: Any) -> None:
            self._seen[index] = output[0] if isinstance(output, tuple) else output

        return keep

    def _collect(self) -> Tensor:
        taps_RSF = torch.cat([self._seen[index] for index in self.taps], dim=-1)
        self._seen.clear()
        return taps_RSF


def load_target(config: TargetConfig, drafter: DrafterConfig, device: str) -> tuple[Target, Any]:
    """Load the target and its tokenizer from a local folder; the network is never asked. Raises ConfigError."""
    folder = Path(config.folder)
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = AutoModelForCausalLM.from_pretrained(
            folder, local_files_only=True, dtype=getattr(torch, config.dtype), attn_implementation="sdpa"
        )
    except (OSError, ValueError, KeyError) as error:
        raise ConfigError(
            f"target.folder: {folder} does not load as a causal LM with a tokenizer: {error}",
            "give target.folder=FOLDER, a complete Hugging Face folder (config, safetensors and tokenizer files)",
        ) from error
    decoder = model.get_decoder()
    if not hasattr(decoder, "layers"):
        raise ConfigError(
            f"target.folder: {type(model).__name__} has no decoder layers that could be hooked",
            "choose a causal LM whose decoder keeps its layers in `layers`, such as Llama or Qwen",
        )
    if not tokenizer.is_fast:
        raise ConfigError(
            f"target.folder: {folder} has no fast tokenizer, and the loss mask needs one", "add its tokenizer.json"
        )
    if not tokenizer.chat_template:
        raise ConfigError(f"target.folder: {folder} has no chat template", "add its chat_template.jinja")
    rows, layers = model.get_input_embeddings().weight.shape[0], len(decoder.layers)
    if drafter.mask_token_id >= rows:
        raise ConfigError(
            f"drafter.mask_token_id: {drafter.mask_token_id} is outside the embedding of {rows} rows",
            "choose an embedding row that no text uses",
        )
    if max(drafter.taps) > layers - 2:
        raise ConfigError(
            f"drafter.taps: the target has {layers} layers, and {max(drafter.taps)} is no tap of it",
            f"choose taps from 0 to {layers - 2}",
        )
    return Target(model.to(device), drafter.taps), tokenizer
