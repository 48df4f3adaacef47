"""venv-interpreter-replaced: the Python under the venv is another one."""

from dataclasses import replace

import pytest

from checks.venv.interpreter_replaced import interpreter_replaced
from dflash_env import bundle
from dflash_env.check import Outcome, Skipped, examine
from dflash_env.facts import Drift, Interpreter, NotApplicable, Unknown
from tests import healthy

GONE = NotApplicable(why="/data/v/bin/python leads to nothing")
UPGRADED = Interpreter(path="/usr/bin/python3.11", version="3.11.7", sha256="0" * 64)


def test_fires_when_it_was_upgraded() -> None:
    [finding] = interpreter_replaced(venv=replace(healthy.VENV, interpreter=UPGRADED))
    assert finding.message == (
        "/usr/bin/python3.11 is 000000000000; the venv was sealed with /usr/bin/python3.11 cccccccccccc"
    )


def test_fires_when_it_is_gone() -> None:
    [finding] = interpreter_replaced(venv=replace(healthy.VENV, interpreter=GONE))
    assert finding.message == f"{GONE.why}; the venv was sealed with /usr/bin/python3.11 (Python 3.11.7)"


def test_fires_when_its_standard_library_was_edited() -> None:
    [finding] = interpreter_replaced(venv=replace(healthy.VENV, stdlib_sha256="0" * 64))
    assert "the standard library of /usr/bin/python3.11" in finding.message


def test_fires_once_when_all_of_it_changed() -> None:
    assert len(interpreter_replaced(venv=replace(healthy.VENV, interpreter=UPGRADED, stdlib_sha256="0" * 64))) == 1


def test_an_interpreter_that_is_gone_is_one_finding() -> None:
    links = ("bin/python", "bin/python3", "bin/python3.11")
    venv = replace(
        healthy.VENV,
        interpreter=GONE,
        header=GONE,
        dangling=links,
        drift=tuple(Drift(path=link, how="changed", owner="") for link in links),
    )
    results = examine(bundle.checks(), replace(healthy.FACTS, venv=venv))
    assert [result.check for result in results if result.outcome is Outcome.FAILED] == ["venv-interpreter-replaced"]


def test_quiet_on_the_healthy_machine() -> None:
    assert interpreter_replaced(venv=healthy.VENV) == []


def test_quiet_when_the_standard_library_was_read_and_is_the_same() -> None:
    assert interpreter_replaced(venv=replace(healthy.VENV, stdlib_sha256="e" * 64)) == []


def test_skipped_when_it_cannot_be_read() -> None:
    lost = Unknown(code="denied", text="Permission denied")
    for venv in (replace(healthy.VENV, interpreter=lost), replace(healthy.VENV, stdlib_sha256=lost)):
        with pytest.raises(Skipped, match="Permission denied"):
            interpreter_replaced(venv=venv)
