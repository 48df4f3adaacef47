"""The reader's shapes, the loss mask against the template's own, counted refusals, packing and the order of batches."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoTokenizer

from trainer.chats import RefusedError, Tally, read_chats, source
from trainer.config import DataConfig
from trainer.data import Rows, Sample, load_rows, pack, samples
from trainer.errors import ConfigError
from trainer.room import Room
from trainer.sample import chat

EOS = frozenset({258})
CHAT = [
    {"role": "user", "content": "Grüß dich"},
    {"role": "assistant", "content": "hello there"},
    {"role": "user", "content": "again"},
    {"role": "assistant", "content": "once more"},
]


@pytest.fixture
def tokenizer(folders: dict[str, Path]) -> Any:
    return AutoTokenizer.from_pretrained(folders["llama"], local_files_only=True)


def settings(**changes: Any) -> DataConfig:
    values: dict[str, Any] = {
        "train": "",
        "heldout": "",
        "regenerate": False,
        "max_new_tokens": 8,
        "generate_batch": 4,
        "sequence_length": 64,
        "min_supervised_tokens": 4,
        "rejected_at_most": 0.0,
        "template_options": {},
    }
    return DataConfig(**{**values, **changes})


def write(path: Path, *records: Any) -> Path:
    path.write_text("".join((record if isinstance(record, str) else json.dumps(record)) + "\n" for record in records))
    return path


def read(path: Path) -> tuple[list[list[dict[str, Any]]], Tally]:
    tally = Tally(str(path))
    return [messages for _, messages in read_chats(path, tally)], tally


def rows_of(path: Path, tokenizer: Any, mask_id: int = 300, **changes: Any) -> tuple[Rows, Tally]:
    config, tally = settings(**changes), Tally(str(path))
    room = Room.of(tokenizer, config.sequence_length)
    return load_rows(path, tally, tokenizer, config, room, EOS, mask_id, 0), tally


def test_three_shapes_read_the_same(tmp_path: Path) -> None:
    names = {"user": "human", "assistant": "gpt"}
    shapes = [
        {"messages": CHAT},
        {"id": 1, "conversations": CHAT},
        {"conversations": [{"from": names[m["role"]], "value": m["content"]} for m in CHAT]},
    ]
    chats, tally = read(write(tmp_path / "a.jsonl", *shapes))
    assert tally.lines == 3 and not tally.rejected
    assert chats[0] == chats[1] == chats[2] and [m["content"] for m in chats[0]] == [m["content"] for m in CHAT]


def messages(turns: list[dict[str, str]], **last: Any) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = [{**turn, "truncated": False} for turn in turns]
    made[-1].update(last)
    return made


def test_loss_mask_equals_the_templates_generation_spans(tokenizer: Any) -> None:
    theirs = tokenizer.apply_chat_template(CHAT, return_dict=True, return_assistant_tokens_mask=True)
    (ours,) = samples(tokenizer, messages(CHAT), {}, EOS)
    assert ours.ids == theirs["input_ids"]
    assert [int(flag) for flag in ours.supervised] == theirs["assistant_masks"]


def test_a_truncated_reply_teaches_no_end(tokenizer: Any) -> None:
    (whole,) = samples(tokenizer, messages(CHAT[:2]), {}, EOS)
    (cut,) = samples(tokenizer, messages(CHAT[:2], truncated=True), {}, EOS)
    assert whole.ids == cut.ids and whole.ids[-1] == 258
    assert whole.supervised[-1] and not cut.supervised[-1] and whole.supervised[:-1] == cut.supervised[:-1]


def test_what_follows_the_end_token_is_not_supervised(tokenizer: Any) -> None:
    tokenizer.chat_template = tokenizer.chat_template.replace(
        "{%- endgeneration -%}", "{%- endgeneration -%}{{ '\\n' }}"
    )
    (ours,) = samples(tokenizer, messages(CHAT[:2]), {}, EOS)
    assert ours.ids[-2:] == [258, 10] and ours.supervised[-2:] == [True, False]


def test_a_template_that_rewrites_earlier_turns_gives_a_document_a_reply(tokenizer: Any) -> None:
    tokenizer.chat_template = (
        "{%- for m in messages -%}{%- if m.role == 'assistant' -%}<|assistant|>"
        "{%- if loop.last -%}<think></think>{%- endif -%}{{ m.content }}<|end|>"
        "{%- else -%}<|user|>{{ m.content }}<|end|>{%- endif -%}{%- endfor -%}"
        "{%- if add_generation_prompt -%}<|assistant|><think></think>{%- endif -%}"
    )
    first, second = samples(tokenizer, messages(CHAT), {}, EOS)
    for sample, reply in [(first, "hello there"), (second, "once more")]:
        spoken = [token for token, flag in zip(sample.ids, sample.supervised, strict=True) if flag]
        assert tokenizer.decode(spoken) == f"{reply}<|end|>"


def test_a_template_that_does_not_continue_its_prompt_is_refused(tokenizer: Any) -> None:
    prompt = "{%- if add_generation_prompt -%}<|assistant|>{%- endif -%}"
    tokenizer.chat_template = "{%- for m in messages -%}{{ m.content }}{%- endfor -%}" + prompt
    with pytest.raises(RefusedError, match="does not continue"):
        samples(tokenizer, messages(CHAT[:2]), {}, EOS)


def test_a_template_without_prompt_supervises_everything_and_is_refused(tokenizer: Any) -> None:
    tokenizer.chat_template = (
        "{%- for m in messages -%}{%- if m.role == 'assistant' -%}{{ m.content }}{%- endif -%}{%- endfor -%}"
    )
    with pytest.raises(RefusedError, match="every token supervised"):
        samples(tokenizer, messages(CHAT[:2]), {}, EOS)


BAD = {
    "not JSON": "{nope",
    "no list under 'messages' or 'conversations'": {"text": "hello"},
    "unknown role 'robot'": {"messages": [{"role": "robot", "content": "x"}]},
    "a message without text": {"messages": [{"role": "user", "content": None}]},
    "unknown role ['user']": {"messages": [{"role": ["user"], "content": "x"}]},
    "no assistant span": {"messages": CHAT[:1]},
    "begins with an assistant's turn": {"messages": CHAT[1:]},
    "a lone surrogate, which is no character": '{"messages": [{"role": "user", "content": "\\ud800"}]}',
    "a prompt longer than data.sequence_length = 64 tokens": {
        "messages": [{**CHAT[0], "content": "x" * 9000}, CHAT[1]]
    },
    "fewer than 4 supervised tokens": {"messages": [CHAT[0], {"role": "assistant", "content": "a"}]},
}


@pytest.mark.parametrize("kind", BAD)
def test_each_refusal_is_counted_by_kind_with_its_first_line(kind: str, tmp_path: Path, tokenizer: Any) -> None:
    path = write(tmp_path / "a.jsonl", {"messages": CHAT}, BAD[kind], BAD[kind])
    with pytest.raises(ConfigError) as caught:
        rows_of(path, tokenizer)
    assert "2 of 3 lines cannot be used" in str(caught.value) and f"{kind}: 2, first on line 2" in str(caught.value)
    assert str(caught.value).startswith(str(path)) and "data.rejected_at_most" in caught.value.fix
    rows, tally = rows_of(path, tokenizer, rejected_at_most=0.7)
    assert tally.rejected == {kind: [2, 2]} and len(rows.token_MS) == 1


def test_the_mask_token_in_the_text_is_refused(tmp_path: Path, tokenizer: Any) -> None:
    path = write(tmp_path / "a.jsonl", {"messages": CHAT})
    with pytest.raises(ConfigError, match="holds the mask token"):
        rows_of(path, tokenizer, ord("h"))


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_an_empty_file_is_refused(text: str, tmp_path: Path, tokenizer: Any) -> None:
    (tmp_path / "a.jsonl").write_text(text)
    with pytest.raises(ConfigError, match="empty"):
        rows_of(tmp_path / "a.jsonl", tokenizer, rejected_at_most=1.0)


def test_long_documents_are_cut_and_counted(tmp_path: Path, tokenizer: Any) -> None:
    long = {"messages": [CHAT[0], {"role": "assistant", "content": "x" * 500}]}
    rows, tally = rows_of(write(tmp_path / "a.jsonl", long), tokenizer)
    assert tally.shortened == 1 and rows.token_MS.shape == (1, 64) and int(rows.supervised_MS.sum()) > 40


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "binary"])
def test_a_file_that_is_no_text_is_refused_by_name(encoding: str, tmp_path: Path, tokenizer: Any) -> None:
    text = json.dumps({"messages": CHAT})
    (tmp_path / "a.jsonl").write_bytes(bytes(range(256)) if encoding == "binary" else text.encode(encoding))
    with pytest.raises(ConfigError, match=r"a\.jsonl: is (UTF-16|binary), not UTF-8 text"):
        rows_of(tmp_path / "a.jsonl", tokenizer, rejected_at_most=1.0)


def test_a_line_that_is_not_utf_8_is_one_refused_line(tmp_path: Path, tokenizer: Any) -> None:
    good = json.dumps({"messages": CHAT}, ensure_ascii=False)
    (tmp_path / "a.jsonl").write_bytes(b"".join(f"{good}\n".encode(name) for name in ("utf-8-sig", "latin-1", "utf-8")))
    rows, tally = rows_of(tmp_path / "a.jsonl", tokenizer, rejected_at_most=0.5, sequence_length=128)
    assert tally.rejected == {"not UTF-8": [1, 2]} and tally.lines == 3 and int(rows.document_MS.max()) >= 0


def test_hostile_lines_are_refused_and_not_raised(tmp_path: Path, tokenizer: Any) -> None:
    lines = ["[" * 100_000, '{"messages": []}', '{"messages": [3]}', '{"messages": [{"role": "%s"}]}' % ("r" * 9999)]
    _, tally = read(write(tmp_path / "a.jsonl", *lines))
    assert tally.refused == 4 and max(map(len, tally.rejected)) < 200


def test_a_template_that_raises_refuses_the_line_in_its_own_words(tmp_path: Path, tokenizer: Any) -> None:
    tokenizer.chat_template = "{{ raise_exception('roles must alternate') }}"
    with pytest.raises(ConfigError, match="the chat template refuses it: roles must alternate: 1, first on line 1"):
        rows_of(write(tmp_path / "a.jsonl", {"messages": CHAT}), tokenizer)


def test_only_the_opening_of_a_huge_conversation_is_ever_tokenised(tmp_path: Path, tokenizer: Any) -> None:
    huge = {"messages": [CHAT[0], {**CHAT[1], "content": "y" * 20_000_000}, *CHAT * 5000]}
    seen: list[int] = []

    class Watched:
        def __getattr__(self, name: str) -> Any:
            return getattr(tokenizer, name)

        def __call__(self, text: str, **options: Any) -> Any:
            seen.append(len(text))
            return tokenizer(text, **options)

    rows, tally = rows_of(write(tmp_path / "a.jsonl", huge), Watched())
    assert max(seen) < 3000 and tally.shortened == 1 and rows.token_MS.shape == (1, 64)


def test_packing_keeps_every_token_once_with_its_own_positions() -> None:
    documents = [
        Sample([number] * (3 + number % 9), [bool(at % 2) for at in range(3 + number % 9)]) for number in range(1, 60)
    ]
    rows = pack(documents, 16, seed=3)
    seen = []
    for token, supervised, document, position in zip(
        rows.token_MS, rows.supervised_MS, rows.document_MS, rows.position_MS, strict=True
    ):
        for number in range(int(document.max()) + 1):
            here = document == number
            seen.append((token[here].tolist(), supervised[here].tolist()))
            assert position[here].tolist() == list(range(int(here.sum())))
        assert not supervised[document < 0].any()
    assert sorted(seen) == sorted((d.ids, d.supervised) for d in documents)
    assert (rows.document_MS >= 0).float().mean() > 0.85


def test_batches_follow_from_seed_and_step_and_cover_each_epoch() -> None:
    rows = pack([Sample([number] * 10, [True] * 10) for number in range(7)], 10, seed=0)
    order = [int(token[0]) for step in range(7) for token in rows.batch(step, 2, 5)[0]]
    assert sorted(order[:7]) == sorted(order[7:]) == list(range(7)) and order[:7] != order[7:]
    assert torch.equal(rows.batch(3, 2, 5)[0], rows.batch(3, 2, 5)[0])


def test_the_sample_is_seeded_varied_and_split_by_prompt(tmp_path: Path) -> None:
    first, again = source("sample:300", "train", 1, tmp_path), source("sample:300", "train", 1, tmp_path / "b")
    assert first.read_bytes() == again.read_bytes()
    asked = {split: {c[0]["content"] for c in chat.conversations(300, 1, split)} for split in chat.SPLITS}
    assert not asked["train"] & asked["heldout"] and len(asked["train"]) > 200
    assert all(chat.split_of(question) == split for split, questions in asked.items() for question in questions)
