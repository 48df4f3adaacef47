"""What a row has room for, told by characters alone before megabytes are rendered and tokenised."""

from dataclasses import dataclass
from typing import Any

from trainer.chats import Message, RefusedError, render


@dataclass(frozen=True)
class Room:
    """`tokens` a row, `widest` characters in the vocabulary's longest token: more than both hold never fits."""

    tokens: int
    widest: int

    @classmethod
    def of(cls, tokenizer: Any, tokens: int) -> "Room":
        """The room of rows of `tokens` under this tokenizer."""
        return cls(tokens, max(map(len, tokenizer.get_vocab())))

    @property
    def characters(self) -> int:
        """A text of as many characters has more tokens than a row."""
        return (self.tokens + 1) * self.widest

    def opening(self, messages: list[Message]) -> list[Message]:
        """The conversation up to where it surely leaves the row. Raises RefusedError if no reply begins before that.

        A turn counts for one token besides its text. A reply cut here is marked, so that no end is learnt from it.
        """
        kept: list[Message] = []
        left = self.characters
        for message in messages:
            if left <= 0:
                break
            text = message["content"]
            cut = {"content": text[:left], "truncated": True} if len(text) > left else {}
            kept.append({**message, **cut})
            left -= len(text) + self.widest
        if len(kept) < len(messages) and not any(message["role"] == "assistant" for message in kept):
            raise self._refused()
        return kept

    def prompt(self, tokenizer: Any, messages: list[Message], options: dict[str, Any]) -> list[int]:
        """Token ids up to where the assistant begins to speak. Raises RefusedError when a row does not hold them."""
        if sum(len(message["content"]) for message in messages) > self.characters:
            raise self._refused()
        ids = list(tokenizer(render(tokenizer, messages, options, True), add_special_tokens=False)["input_ids"])
        if len(ids) > self.tokens:
            raise self._refused()
        return ids

    def _refused(self) -> RefusedError:
        return RefusedError(f"a prompt longer than data.sequence_length = {self.tokens} tokens")
