"""Chat JSONL, in the shapes that people have it in; what cannot be used is counted, never passed over in silence."""

import codecs
import hashlib
import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from jinja2 import TemplateError

from trainer.config import SAMPLE
from trainer.documents import write_text
from trainer.errors import ConfigError
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

BEGINNING = 4096
"""Bytes of a file that tell whether it is text."""

SHOWN_KINDS = 6
"""Kinds of refusal that a message lists."""

SHORT = 80
"""Characters of someone else's words that a kind of refusal quotes."""


class RefusedError(Exception):
    """One line of the data that cannot be used, by kind of reason."""


@dataclass
class Tally:
    """How many lines of `name` were read, and which were refused: kind → (count, first line number).

    `name` is the file as its user knows it, and the numbers are those of its lines, whatever was derived from it.
    """

    name: str
    lines: int = 0
    rejected: dict[str, list[int]] = field(default_factory=dict)
    shortened: int = 0

    def reject(self, kind: str, line: int) -> None:
        """Count one refused line."""
        self.rejected.setdefault(kind, [0, line])[0] += 1

    @property
    def refused(self) -> int:
        """How many lines were refused, of whatever kind."""
        return sum(count for count, _ in self.rejected.values())

    def kinds(self) -> str:
        """The refusals in words, the commonest kinds first."""
        ordered = sorted(self.rejected.items(), key=lambda item: (-item[1][0], item[1][1]))
        shown = [f"{kind}: {count}, first on line {line}" for kind, (count, line) in ordered[:SHOWN_KINDS]]
        more = [f"and {len(ordered) - SHOWN_KINDS} other kinds"] if len(ordered) > SHOWN_KINDS else []
        return "; ".join([*shown, *more])

    def settle(self, at_most: float) -> None:
        """Raise ConfigError when more than the allowed share was refused, or nothing is left."""
        if not self.lines:
            raise ConfigError(f"{self.name}: the file is empty", "write one conversation a line into it")
        if self.refused <= at_most * self.lines and self.refused < self.lines:
            return
        allowed = f"data.rejected_at_most = {at_most} allows {int(at_most * self.lines)}"
        fix = "mend or remove those lines" + (", or raise data.rejected_at_most" if self.refused < self.lines else "")
        raise ConfigError(
            f"{self.name}: {self.refused} of {self.lines} lines cannot be used ({allowed}). {self.kinds()}", fix
        )


def named(value: str, path: Path) -> str:
    """What a `data.train` or `data.heldout` value is called in messages: as the user wrote it, or the file it means."""
    return value if value.startswith(SAMPLE) else str(path)


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
    """Yield (line number, messages) of every usable line, in the shapes `messages`, `conversations`, from/value.

    Raises ConfigError for a file that is no text at all.
    """
    with _opened(path, tally.name) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            tally.lines += 1
            try:
                yield number, _messages(line)
            except RefusedError as rejection:
                tally.reject(str(rejection), number)


def _opened(path: Path, name: str) -> BinaryIO:
    """The file, once its beginning has shown that it can be UTF-8: JSON holds no NUL, and UTF-16 and binaries do."""
    try:
        file = path.open("rb")
        beginning = file.read(BEGINNING)
        file.seek(0)
    except OSError as error:
        raise ConfigError(f"{name}: cannot be read: {error.strerror}", "make it a readable file") from error
    wide = beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if wide or b"\0" in beginning:
        file.close()
        fix = f"convert it: iconv -f UTF-16 -t UTF-8 {shlex.quote(str(path))}" if wide else "name a file of chat JSONL"
        raise ConfigError(f"{name}: is {'UTF-16' if wide else 'binary'}, not UTF-8 text", fix)
    return file


def _messages(line: bytes) -> list[Message]:
    turns = _turns(line)
    messages = [_message(turn) for turn in turns]
    if messages[0]["role"] == "assistant":
        raise RefusedError("begins with an assistant's turn")
    return messages


def _turns(line: bytes) -> list[dict[str, Any]]:
    try:
        record = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise RefusedError("not UTF-8") from None
    except (ValueError, RecursionError):
        raise RefusedError("not JSON") from None
    turns = (record.get("messages") or record.get("conversations")) if isinstance(record, dict) else None
    if not isinstance(turns, list) or not turns or not all(isinstance(turn, dict) for turn in turns):
        raise RefusedError("no list under 'messages' or 'conversations'")
    return turns


def _message(turn: dict[str, Any]) -> Message:
    role, content = turn.get("role", turn.get("from")), turn.get("content", turn.get("value"))
    if not isinstance(role, str) or role not in ROLES:
        raise RefusedError(f"unknown role {_short(repr(role))}")
    if not isinstance(content, str):
        raise RefusedError("a message without text")
    try:
        content.encode()
    except UnicodeEncodeError:
        raise RefusedError("a lone surrogate, which is no character") from None
    return {"role": ROLES[role], "content": content, "truncated": turn.get("truncated") is True}


def render(tokenizer: Any, messages: list[Message], options: dict[str, Any], prompt: bool) -> str:
    """The chat template's text; with `prompt`, ending where the assistant begins to speak.

    Raises RefusedError with the template's own words where it does not take the conversation.
    """
    bare = [{"role": message["role"], "content": message["content"]} for message in messages]
    try:
        return str(tokenizer.apply_chat_template(bare, tokenize=False, add_generation_prompt=prompt, **options))
    except (TemplateError, ValueError, TypeError) as error:
        raise RefusedError(f"the chat template refuses it: {_short(str(error))}") from None


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHORT else f"{line[:SHORT]}…"
