"""Conversations → tokens with a loss mask → packed rows. What cannot be supervised for certain is refused.

Shapes: M rows in all, R rows a batch, S tokens a row.
"""

import random
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from trainer.chats import Message, RefusedError, Tally, read_chats, render
from trainer.config import DataConfig
from trainer.objective import seeded
from trainer.room import Room


@dataclass(frozen=True)
class Sample:
    """One document: token ids, and which of them the target itself would have written."""

    ids: list[int]
    supervised: list[bool]


def samples(tokenizer: Any, messages: list[Message], options: dict[str, Any], eos_ids: frozenset[int]) -> list[Sample]:
    """Tokens and loss mask of a conversation. Raises RefusedError.

    A reply's span is what its rendering adds to the prompt before it, up to the first end token. Where a template
    rewrites earlier turns (reasoning templates do), each reply becomes a document of its own.
    """
    replies = [i for i, message in enumerate(messages) if message["role"] == "assistant" and message["content"]]
    if not replies:
        raise RefusedError("no assistant span")
    whole = render(tokenizer, messages[: replies[-1] + 1], options, False)
    spans = [_span(tokenizer, messages, i, options) for i in replies]
    if all(whole.startswith(text) for text, _ in spans):
        pieces = [
            (
                whole,
                [(start, len(text), messages[i]["truncated"]) for (text, start), i in zip(spans, replies, strict=True)],
            )
        ]
    else:
        pieces = [
            (text, [(start, len(text), messages[i]["truncated"])])
            for (text, start), i in zip(spans, replies, strict=True)
        ]
    return [_masked(tokenizer, text, marks, eos_ids) for text, marks in pieces]


def _span(tokenizer: Any, messages: list[Message], reply: int, options: dict[str, Any]) -> tuple[str, int]:
    """The text up to and with a reply, and where in it the reply begins."""
    before = render(tokenizer, messages[:reply], options, True)
    text = render(tokenizer, messages[: reply + 1], options, False)
    if not text.startswith(before) or len(text) == len(before):
        raise RefusedError("the template does not continue its own prompt (see data.template_options)")
    return text, len(before)


def _masked(tokenizer: Any, text: str, marks: list[tuple[int, int, bool]], eos_ids: frozenset[int]) -> Sample:
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    ids, supervised = list(encoded["input_ids"]), [False] * len(encoded["input_ids"])
    for start, end, truncated in marks:
        for at, (left, right) in enumerate(encoded["offset_mapping"]):
            if left < start or right > end or left == right:
                continue
            ended = ids[at] in eos_ids
            supervised[at] = not (ended and truncated)
            if ended:
                break
    if all(supervised):
        raise RefusedError("every token supervised")
    if not any(supervised):
        raise RefusedError("no assistant span")
    return Sample(ids, supervised)


@dataclass(frozen=True)
class Rows:
    """Packed rows: several documents a row, numbered from 0 (padding is -1), each with its own positions from 0."""

    token_MS: Tensor
    supervised_MS: Tensor
    document_MS: Tensor
    position_MS: Tensor

    def batch(self, step: int, rows: int, seed: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The rows of one step: a function of (seed, step) alone, every row once an epoch."""
        total = len(self.token_MS)
        wanted = range(step * rows, (step + 1) * rows)
        order = {
            epoch: torch.randperm(total, generator=seeded(seed, "epoch", epoch))
            for epoch in {i // total for i in wanted}
        }
        index_R = torch.stack([order[i // total][i % total] for i in wanted])
        return self.token_MS[index_R], self.supervised_MS[index_R], self.document_MS[index_R], self.position_MS[index_R]


def load_rows(
    path: Path,
    tally: Tally,
    tokenizer: Any,
    config: DataConfig,
    room: Room,
    eos_ids: frozenset[int],
    mask_id: int,
    seed: int,
) -> Rows:
    """Read, tokenize, check and pack a chat file, counting in `tally` what is refused.

    Raises ConfigError when that is too much.
    """
    kept = []
    for line, messages in read_chats(path, tally):
        try:
            found = [
                _fit(sample, config, tally, mask_id)
                for sample in samples(tokenizer, room.opening(messages), config.template_options, eos_ids)
            ]
        except RefusedError as rejection:
            tally.reject(str(rejection), line)
        else:
            kept += found
    tally.settle(config.rejected_at_most)
    return pack(kept, config.sequence_length, seed)


def _fit(sample: Sample, config: DataConfig, tally: Tally, mask_id: int) -> Sample:
    """The sample cut to the row length, if enough of it is supervised."""
    if mask_id in sample.ids:
        raise RefusedError("the text holds the mask token")
    if len(sample.ids) > config.sequence_length:
        tally.shortened += 1
        sample = Sample(sample.ids[: config.sequence_length], sample.supervised[: config.sequence_length])
    if sum(sample.supervised) < config.min_supervised_tokens:
        raise RefusedError(f"fewer than {config.min_supervised_tokens} supervised tokens")
    return sample


def pack(documents: Iterable[Sample], length: int, seed: int) -> Rows:
    """Pack shuffled documents into rows of `length`, each into the first of the 64 newest open rows that has room."""
    shuffled = list(documents)
    random.Random(seed).shuffle(shuffled)
    packed: list[list[Sample]] = []
    room: list[int] = []
    for document in shuffled:
        size, first = len(document.ids), max(0, len(packed) - 64)
        at = next((i for i in range(first, len(packed)) if room[i] >= size), None)
        if at is None:
            packed.append([document])
            room.append(length - size)
        else:
            packed[at].append(document)
            room[at] -= size
    shape = (len(packed), length)
    rows = Rows(
        torch.zeros(shape, dtype=torch.long),
        torch.zeros(shape, dtype=torch.bool),
        torch.full(shape, -1),
        torch.zeros(shape, dtype=torch.long),
    )
    for i, documents_here in enumerate(packed):
        start = 0
        for number, document in enumerate(documents_here):
            end = start + len(document.ids)
            rows.token_MS[i, start:end] = torch.tensor(document.ids)
            rows.supervised_MS[i, start:end] = torch.tensor(document.supervised)
            rows.document_MS[i, start:end] = number
            rows.position_MS[i, start:end] = torch.arange(end - start)
            start = end
    return rows
