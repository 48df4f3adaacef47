"""One strict translation: what is written is read back the same, and anything else is refused by its place."""

import json
import os
import re
import stat
import subprocess
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dflash_env import codec
from dflash_env.facts import Disk, Facts, Gpus, MachineHost, NotApplicable, Reading, Section, Unknown, Variable
from tests import healthy
from tests.conftest import Clone


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Paint:
    colour: Colour
    litres: float = 1.0
    note: str | None = None
    layers: tuple[int, ...] = ()
    prices: dict[str, int] | None = None


@dataclass(frozen=True)
class Holder:
    reading: Reading[int]
    section: Section[MachineHost]


any_machine = settings(deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
"""How fast examples are made says nothing about the codec."""


# ---- round trips ----------------------------------------------------------------------------------------------------


@any_machine
@given(st.from_type(Facts))
def test_any_facts_survive_the_way_through_json(found: Facts) -> None:
    document = json.loads(codec.document(found))
    assert codec.decode(Facts, codec.open_document(document)) == found


@any_machine
@given(st.from_type(Holder))
def test_values_and_their_absences_are_told_apart(holder: Holder) -> None:
    again = codec.decode(Holder, codec.encode(holder))
    assert again == holder
    assert type(again.reading) is type(holder.reading)


def test_an_absence_carries_its_tag() -> None:
    assert codec.encode(Unknown(code="denied", text="no")) == {"unknown": {"code": "denied", "text": "no"}}
    assert codec.encode(NotApplicable(why="none")) == {"not_applicable": {"why": "none"}}


def test_enums_paths_and_tables_become_plain_data() -> None:
    assert codec.encode({1: Colour.RED, "at": Path("/a")}) == {"1": "red", "at": "/a"}


def test_defaults_may_be_left_out() -> None:
    assert codec.decode(Paint, {"colour": "blue"}) == Paint(Colour.BLUE)


def test_a_whole_number_is_a_number() -> None:
    litres = codec.decode(Paint, {"colour": "red", "litres": 2}).litres
    assert (litres, type(litres)) == (2.0, float)


@any_machine
@given(st.text())
def test_text_that_utf8_can_hold_is_left_as_it_is(text: str) -> None:
    assert codec.printable(text) == text


@any_machine
@given(st.binary())
def test_whatever_bytes_a_name_has_it_can_be_shown(name: bytes) -> None:
    shown = codec.printable(os.fsdecode(name))
    assert shown.encode("utf-8") == name.decode("utf-8", "backslashreplace").encode("utf-8")


def test_a_byte_that_is_no_utf8_is_shown_as_an_escape() -> None:
    variable = Variable(name="PYTHONPATH", value=os.fsdecode(b"/caf\xe9/caf\xc3\xa9"))
    assert codec.encode(variable) == {"name": "PYTHONPATH", "value": r"/caf\xe9/café"}
    assert codec.encode([Path(os.fsdecode(b"/\xff"))]) == [r"/\xff"]
    assert json.loads(codec.document(variable).encode("utf-8"))["value"] == r"/caf\xe9/café"


def test_a_surrogate_that_stands_for_no_byte_is_shown_as_an_escape() -> None:
    assert codec.printable(json.loads('"\\ud800"')) == r"\ud800"


# ---- refusals -------------------------------------------------------------------------------------------------------

HEALTHY = json.dumps(codec.encode(healthy.FACTS))


@pytest.mark.parametrize(
    ("keys", "value", "said"),
    [
        (("gpus", "drivr"), "1", ".gpus.drivr: unknown key; did you mean 'driver'?"),
        (("gpus", "zzz"), "1", ".gpus.zzz: unknown key"),
        (("gpus", "devices", 3, "index"), "3", ".gpus.devices[3].index: expected a whole number, got text '3'"),
        (("profile", "gpus"), True, ".profile.gpus: expected a whole number, got true or false True"),
        (("profile", "compile"), 1, ".profile.compile: expected true or false, got a whole number 1"),
        (("host", "disks"), {}, ".host.disks: expected a list, got a table {}"),
        (("host",), [], ".host: expected a table, got list []"),
        (("host", "shm_bytes"), None, ".host.shm_bytes: expected a whole number, got NoneType None"),
        (("host", "shm_bytes"), 1.5, ".host.shm_bytes: expected a whole number, got a number 1.5"),
        (("host", "shm_bytes"), {"unknown": {}}, ".host.shm_bytes.unknown: the key 'code' is missing"),
        (("venv", "path"), {"unknown": {"code": "a", "text": "b"}}, ".venv.path: expected text, got a table"),
    ],
)
def test_wrong_data_is_refused_by_its_place(keys: tuple[Any, ...], value: object, said: str) -> None:
    document = json.loads(HEALTHY)
    *parents, last = keys
    node = document
    for key in parents:
        node = node[key]
    node[last] = value
    with pytest.raises(codec.DecodeError) as refused:
        codec.decode(Facts, document)
    assert str(refused.value).startswith(said)
    if said.endswith("unknown key"):
        assert str(refused.value) == said, "there is nothing near to suggest"


def test_a_missing_key_is_refused() -> None:
    with pytest.raises(codec.DecodeError, match=r"^\.disk: the key 'purpose' is missing$"):
        codec.decode(Disk, {"folder": "/", "free_bytes": 1}, ".disk")


def test_the_document_itself_has_a_name() -> None:
    with pytest.raises(codec.DecodeError, match=r"^the document: expected a table, got list"):
        codec.decode(Gpus, [])


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"colour": "green"}, r"\.colour: expected one of 'red', 'blue', got 'green'"),
        ({"colour": "red", "note": 1}, r"\.note: expected text, got a whole number 1"),
        ({"colour": "red", "layers": [1, "2"]}, r"\.layers\[1\]: expected a whole number, got text '2'"),
        ({"colour": "red", "prices": {"a": "b"}}, r"\.prices\.a: expected a whole number, got text 'b'"),
        ({"colour": "red", "prices": []}, r"\.prices: expected a table, got list"),
    ],
)
def test_each_kind_says_what_it_expected(data: object, said: str) -> None:
    with pytest.raises(codec.DecodeError, match=f"^{said}"):
        codec.decode(Paint, data)


def test_null_is_none_where_none_may_stand() -> None:
    assert codec.decode(Paint, {"colour": "red", "note": None}).note is None


# ---- documents ------------------------------------------------------------------------------------------------------


def test_every_document_carries_the_schema() -> None:
    assert json.loads(codec.document(NotApplicable(why="ü"))) == {"schema": 1, "not_applicable": {"why": "ü"}}


@pytest.mark.parametrize("schema", [{}, {"schema": 2}, {"schema": "1"}, {"schema": None}])
def test_another_schema_is_refused(schema: dict[str, object]) -> None:
    with pytest.raises(codec.DecodeError, match=r"^\.facts\.schema: expected 1, got "):
        codec.open_document({**schema, "facts": {}}, ".facts")


def test_a_document_is_an_object() -> None:
    with pytest.raises(codec.DecodeError, match="expected a JSON object"):
        codec.open_document([])


def test_a_written_document_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "facts.json"
    codec.write_document(path, healthy.FACTS)
    assert codec.decode(Facts, codec.open_document(json.loads(path.read_text("utf-8")))) == healthy.FACTS
    assert list(tmp_path.iterdir()) == [path], "no temporary file stays"


def test_a_written_document_is_as_readable_as_any_file(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        codec.write_document(tmp_path / "a.json", healthy.LOCK)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.json").stat().st_mode) == 0o640


def test_a_write_that_fails_leaves_the_old_text_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        codec.write_text(path, "new \udcff")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


# ---- the real command line ------------------------------------------------------------------------------------------


def doctor(clone: Clone, *arguments: str, **env: str) -> tuple[int, str, str]:
    """`python -m dflash_env doctor` with what the shell left over; both streams must be UTF-8."""
    argv = [sys.executable, "-m", "dflash_env", "doctor", *arguments]
    whole = clone.environment(**env)
    done = subprocess.run(argv, cwd=clone.root, env=whole, capture_output=True, check=False)
    return done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")


@pytest.mark.parametrize("locale", ["C.UTF-8", "C"])
def test_a_variable_that_is_no_utf8_is_one_document(clone: Clone, tmp_path: Path, locale: str) -> None:
    leftover = {"PYTHONPATH": os.fsdecode(b"/caf\xe9"), "LC_ALL": locale}
    code, printed, complaint = doctor(clone, "--json", **leftover)
    assert (code, complaint) == (1, "")
    document = json.loads(printed)
    assert document["facts"]["environ"]["variables"] == [{"name": "PYTHONPATH", "value": r"/caf\xe9"}]
    said = {result["check"]: [finding["message"] for finding in result["findings"]] for result in document["results"]}
    assert said["environ-pythonpath-set"] == [r"PYTHONPATH=/caf\xe9"]
    (tmp_path / "report.json").write_text(printed, "utf-8")
    code, again, complaint = doctor(clone, "--json", "--replay", str(tmp_path / "report.json"), **leftover)
    assert (code, json.loads(again), complaint) == (1, document, "")


def test_a_variable_that_is_no_utf8_is_told_to_people(clone: Clone) -> None:
    code, printed, complaint = doctor(clone, PYTHONPATH=os.fsdecode(b"/caf\xe9"), LC_ALL="C.UTF-8")
    assert (code, complaint) == (1, "")
    [line] = [line for line in printed.splitlines() if "environ-pythonpath-set" in line]
    assert re.search(r"PYTHONPATH=/caf\\(xe9|udce9)$", line)
