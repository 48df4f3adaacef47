"""Regenerated replies: what is refused before the target speaks, whose line numbers stay, and what is reused."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from trainer.chats import Tally
from trainer.config import DataConfig, DrafterConfig, TargetConfig
from trainer.data import load_rows
from trainer.errors import ConfigError
from trainer.evaluation import read_prompts
from trainer.responses import Regenerated, regenerate
from trainer.room import Room
from trainer.target import load_target

CONFIG = DataConfig("own.jsonl", "own.jsonl", True, 4, 4, 24, 2, 0.9, {})
ASK, REPLY = {"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}
LONG = {"role": "user", "content": "x" * 100}
LINES: list[Any] = [[ASK, REPLY], [LONG, REPLY], [{**LONG, "content": "x" * 20_000_000}, REPLY], [REPLY], [ASK, REPLY]]


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.jsonl"
    path.write_text("".join(json.dumps({"messages": line}) + "\n" for line in LINES))
    return path


@pytest.fixture
def loaded(folders: dict[str, Path]) -> tuple[Any, Any, Path]:
    folder = folders["qwen3-untied"]
    drafter = DrafterConfig(2, (1, 2, 3), 4, 300, 4, 2, 16, 64)
    return *load_target(TargetConfig(str(folder), "float32"), drafter, "cpu"), folder


def made(
    path: Path,
    loaded: tuple[Any, Any, Path],
    tally: Tally,
    config: DataConfig = CONFIG,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> Regenerated:
    target, tokenizer, folder = loaded
    room, cache = Room.of(tokenizer, config.sequence_length), path.parent / "cache"
    return regenerate(path, tally, target, tokenizer, room, folder, config, cache, report)


@pytest.mark.parametrize("again", [False, True])
def test_a_prompt_beyond_the_row_is_refused_before_generation(
    again: bool, own: Path, loaded: tuple[Any, Any, Path]
) -> None:
    if again:
        made(own, loaded, Tally("first"))
    tally = Tally("second")
    answered = made(own, loaded, tally)
    assert (answered.reused, answered.replies) == (again, 2)
    kind = "a prompt longer than data.sequence_length = 24 tokens"
    assert tally.rejected == {kind: [2, 2], "begins with an assistant's turn": [1, 4]}
    lines = answered.path.read_text().splitlines()
    assert [bool(line) for line in lines] == [True, False, False, False, True]


def test_a_refusal_after_regeneration_names_the_users_own_line(own: Path, loaded: tuple[Any, Any, Path]) -> None:
    config, tally = replace(CONFIG, min_supervised_tokens=20), Tally(str(own))
    answered = made(own, loaded, tally, config)
    with pytest.raises(ConfigError) as caught:
        load_rows(answered.path, tally, loaded[1], config, Room.of(loaded[1], 24), frozenset({258}), 300, 0)
    assert str(caught.value).startswith(f"{own}: 5 of 5 lines") and str(answered.path) not in str(caught.value)
    assert "fewer than 20 supervised tokens: 2, first on line 1" in str(caught.value)


def test_a_conversation_ends_where_its_next_prompt_leaves_the_row(
    tmp_path: Path, loaded: tuple[Any, Any, Path]
) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps({"messages": [ASK, REPLY, LONG, REPLY, ASK, REPLY]}) + "\n")
    tally, shown = Tally("own"), []
    answered = made(path, loaded, tally, report=lambda done, total: shown.append((done, total)))
    assert shown == [(1, 3), (3, 3)], "what is left out counts as done, so that the bar ends"
    assert (answered.replies, answered.ended, tally.refused) == (1, 1, 0)
    kept = json.loads(answered.path.read_text())["messages"]
    assert [message["role"] for message in kept] == ["user", "assistant", "user"]


def test_too_many_refusals_end_before_the_target_speaks(own: Path, loaded: tuple[Any, Any, Path]) -> None:
    with pytest.raises(ConfigError, match="3 of 5 lines cannot be used"):
        made(own, (None, *loaded[1:]), Tally("own"), replace(CONFIG, rejected_at_most=0.0))


def test_heldout_lines_are_held_to_the_same_rules(own: Path, loaded: tuple[Any, Any, Path]) -> None:
    tokenizer = loaded[1]
    room, config = Room.of(tokenizer, 24), replace(CONFIG, heldout=str(own))
    assert len(read_prompts(own, tokenizer, config, room, 2)) == 2
    with pytest.raises(ConfigError, match=r"data\.heldout: .*own\.jsonl gives 2 prompts, but evaluate\.prompts = 3"):
        read_prompts(own, tokenizer, config, room, 3)
    with pytest.raises(ConfigError, match=r"3 of 5 lines cannot be used.*first on line 2"):
        read_prompts(own, tokenizer, replace(config, rejected_at_most=0.5), room, 2)
