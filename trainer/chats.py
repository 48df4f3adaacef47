"""Chat JSONL, in the shapes that people have it in; what cannot be used is counted, never passed over in silence."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trainer.config import SAMPLE, ConfigError
from trainer.documents import write_text
from trainer.sample import chat

Message = dict[str, Any]
ROLES = {
    "human": "user",
    "gpt": "assistant",
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "tool": "tool",
}


class RefusedError(Exception):
    """One line of the data that cannot be used, by kind of reason."""


@dataclass
class Tally:
    """How many lines were read, and which were refused: kind → (count, first line number)."""

    lines: int = 0
    rejected: dict[str, list[int]] = field(default_factory=dict)
    shortened: int = 0

    def reject(self, kind: str, line: int) -> None:
        """Count one refused line."""
        self.rejected.setdefault(kind, [0, line])[0] += 1

    def settle(self, path: Path, at_most: float) -> None:
        """Raise ConfigError when more than the allowed share was refused, or nothing is left."""
        refused = sum(count for count, _ in self.rejected.values())
        if self.lines and refused <= at_most * self.lines and refused < self.lines:
            return
        kinds = "; ".join(
            f"{kind}: {count}, first on line {line}" for kind, (count, line) in sorted(self.rejected.items())
        )
        allowed = f"data.rejected_at_most = {at_most} allows {int(at_most * self.lines)}"
        raise ConfigError(
            f"{path}: {refused} of {self.lines} lines cannot be used ({allowed}). {kinds or 'the file is empty'}"
        )


def source(value: str, split: str, seed: int, cache: Path) -> Path:
    """The JSONL file that a `data.train` or `data.heldout` value means; the embedded sample is written to `cache`."""
    if not value.startswith(SAMPLE):
        return Path(value)
    number = int(value.removeprefix(SAMPLE))
    maker = hashlib.sha256(Path(chat.__file__).read_bytes()).hexdigest()[:12]
    path = cache / "sample" / f"{split}-{number}-{seed}-{maker}.jsonl"
    if not path.exists():
        write_text(path, "".join(f"{line}\n" for line in chat.lines(number, seed, split)))
    return path


def read_chats(path: Path, tally: Tally) -> Iterator[tuple[int, list[Message]]]:
    """Yield (line number, messages) of every usable line, in the shapes `messages`, `conversations`, from/value."""
    try:
        file = path.open(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    with file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            tally.lines += 1
            try:
                yield number, _messages(line)
            except RefusedError as rejection:
                tally.reject(str(rejection), number)


def _messages(line: str) -> list[Message]:
    try:
        record = json.loads(line)
    except ValueError:
        raise RefusedError("not JSON") from None
    turns = (record.get("messages") or record.get("conversations")) if isinstance(record, dict) else None
    if not isinstance(turns, list) or not all(isinstance(turn, dict) for turn in turns):
        raise RefusedError("no list under 'messages' or 'conversations'")
    messages = []
    for turn in turns:
        role, content = turn.get("role", turn.get("from")), turn.get("content", turn.get("value"))
        if role not in ROLES:
            raise RefusedError(f"unknown role {role!r}")
        if not isinstance(content, str):
            raise RefusedError("a message without text")
        messages.append({"role": ROLES[role], "content": content, "truncated": turn.get("truncated") is True})
    return messages


def render(tokenizer: Any, messages: list[Message], options: dict[str, Any], prompt: bool) -> str:
    """The chat template's text; with `prompt`, ending where the assistant begins to speak."""
    bare = [{"role": message["role"], "content": message["content"]} for message in messages]
    return str(tokenizer.apply_chat_template(bare, tokenize=False, add_generation_prompt=prompt, **options))
