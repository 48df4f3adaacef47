"""What holds for every check, and that every check has tests which would notice if it stopped working.

The convention: `checks/<family>/<stem>.py` has `tests/checks/test_<family>_<stem>.py`, whose functions take no
arguments and are named `test_fires_…`, `test_quiet_…` and, where a reading may be absent, `test_skipped_…`.
"""

import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from dflash_env import bundle
from dflash_env.check import Check, Finding, Outcome, Severity, examine
from tests import healthy

HERE = Path(__file__).parent
FILES = sorted((bundle.root() / "checks").glob("*/[!_]*.py"))

every_check = pytest.mark.parametrize("check", bundle.checks(), ids=lambda check: check.id)
every_file = pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")


def own_tests(check: Check[...]) -> ModuleType:
    return importlib.import_module(f"tests.checks.test_{check.family}_{check.stem}")


def cases(tests: ModuleType, kind: str) -> list[Callable[[], None]]:
    return [case for name, case in vars(tests).items() if name.startswith(f"test_{kind}_")]


@every_check
def test_it_is_quiet_on_the_healthy_machine(check: Check[...]) -> None:
    [result] = examine([check], healthy.FACTS)
    assert result.outcome is Outcome.PASSED, result


@every_check
def test_it_explains_itself_in_whole_sentences(check: Check[...]) -> None:
    assert check.title[0].isupper() or check.title.startswith("/")
    assert not check.title.endswith(".")
    for text in (check.why, check.fix):
        assert text == " ".join(text.split())
        assert text.endswith(".")


@every_file
def test_it_is_loaded_under_the_name_of_its_file(file: Path) -> None:
    wanted = f"{file.parent.name}-{file.stem}".replace("_", "-")
    assert [check.id for check in bundle.checks() if check.id == wanted] == [wanted]


@every_file
def test_it_has_a_test_file(file: Path) -> None:
    assert (HERE / f"test_{file.parent.name}_{file.stem}.py").is_file()


def test_no_test_file_is_left_of_a_check_that_is_gone() -> None:
    checked = {f"test_{check.family}_{check.stem}.py" for check in bundle.checks()}
    assert {file.name for file in HERE.glob("test_*.py")} - checked == {Path(__file__).name}


@every_check
def test_its_firing_tests_notice_when_it_finds_nothing(check: Check[...], monkeypatch: pytest.MonkeyPatch) -> None:
    tests = own_tests(check)
    monkeypatch.setattr(tests, check.stem, lambda **sections: [])
    for case in cases(tests, "fires") or pytest.fail(f"{tests.__file__} has no test_fires_…"):
        with pytest.raises((AssertionError, ValueError)):
            case()


@every_check
def test_its_quiet_tests_notice_when_it_always_fires(check: Check[...], monkeypatch: pytest.MonkeyPatch) -> None:
    tests = own_tests(check)
    monkeypatch.setattr(tests, check.stem, lambda **sections: [Finding("always")])
    for case in cases(tests, "quiet") or pytest.fail(f"{tests.__file__} has no test_quiet_…"):
        with pytest.raises(AssertionError):
            case()


def test_every_family_but_launch_has_an_owner_of_what_could_not_be_read() -> None:
    owners = {check.family for check in bundle.checks() if check.stem == "facts_incomplete"}
    assert owners == {check.family for check in bundle.checks()} - {"launch"}
    assert all(check.severity is Severity.ERROR for check in bundle.checks() if check.stem == "facts_incomplete")
