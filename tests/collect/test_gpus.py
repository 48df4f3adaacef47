"""The NVML child seen from its parent (tests/nvml/ tests the child itself, with a library)."""

import shlex
import sys
from pathlib import Path

import pytest

from dflash_env.collect import gpus
from dflash_env.facts import Gpus, Unknown


@pytest.fixture
def answering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A child that prints the text of this file in place of NVML's facts."""
    said = tmp_path / "said"
    stand_in = tmp_path / "python"
    stand_in.write_text(f"#!/bin/sh\nexec cat {shlex.quote(str(said))}\n")
    stand_in.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(stand_in))
    return said


@pytest.mark.parametrize(
    "text", ["", "segmentation fault", "[]", "{}", '{"gpus": 8}', '{"gpus": {"driver": 570, "devices": []}}']
)
def test_nonsense_is_unknown(answering: Path, text: str) -> None:
    answering.write_text(text)
    found = gpus.collect()
    assert isinstance(found, Unknown)
    assert (found.code, found.text.startswith("the NVML child answered no facts: ")) == ("malformed", True)


def test_bytes_that_are_no_text_are_unknown(answering: Path) -> None:
    answering.write_bytes(b"\xff\xfe\xfd")
    found = gpus.collect()
    assert isinstance(found, Unknown)
    assert found.code == "malformed"


def test_an_answer_is_decoded(answering: Path) -> None:
    answering.write_text('{"gpus": {"driver": "570.133.20", "devices": []}}')
    assert gpus.collect() == Gpus(driver="570.133.20", devices=())


def test_the_childs_own_unknown_is_passed_on(answering: Path) -> None:
    answering.write_text('{"gpus": {"unknown": {"code": "nvml-18", "text": "mismatch"}}}')
    assert gpus.collect() == Unknown(code="nvml-18", text="mismatch")


def test_a_child_that_fails_is_unknown(answering: Path) -> None:
    found = gpus.collect()
    assert isinstance(found, Unknown)
    assert (found.code, "said" in found.text) == ("failed", True)
