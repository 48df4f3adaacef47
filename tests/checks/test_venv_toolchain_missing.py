"""venv-toolchain-missing: nothing to compile with where the profile compiles."""

from dataclasses import replace

import pytest

from checks.venv.toolchain_missing import toolchain_missing
from dflash_env.check import Finding, Skipped
from dflash_env.facts import Host, NotApplicable, Profile, Unknown, Venv
from tests import healthy

NO_COMPILER = replace(healthy.HOST, compiler=NotApplicable(why="none of gcc, clang, cc is on the PATH"))
NO_HEADER = replace(healthy.VENV, header=NotApplicable(why="there is no /usr/include/python3.11/Python.h"))


def found(venv: Venv = healthy.VENV, host: Host = healthy.HOST, profile: Profile = healthy.PROFILE) -> list[Finding]:
    return toolchain_missing(venv=venv, host=host, profile=profile, lock=healthy.LOCK)


def test_fires_without_a_compiler() -> None:
    [finding] = found(host=NO_COMPILER)
    assert finding.message == "there is no C compiler: none of gcc, clang, cc is on the PATH"


def test_fires_without_headers_with_the_package_of_that_python() -> None:
    [finding] = found(venv=NO_HEADER)
    assert finding.message == "Python's headers are missing: there is no /usr/include/python3.11/Python.h"
    assert "python3.11-dev" in finding.fix


def test_fires_for_both() -> None:
    assert len(found(NO_HEADER, NO_COMPILER)) == 2


def test_quiet_on_the_healthy_machine() -> None:
    assert found() == []


def test_quiet_where_nothing_is_compiled() -> None:
    assert found(NO_HEADER, NO_COMPILER, healthy.TINY) == []


def test_quiet_about_headers_of_an_interpreter_that_is_gone() -> None:
    assert found(replace(NO_HEADER, interpreter=NotApplicable(why="bin/python leads to nothing"))) == []


def test_skipped_when_nobody_could_look() -> None:
    lost = Unknown(code="denied", text="Permission denied")
    with pytest.raises(Skipped, match="Permission denied"):
        found(host=replace(healthy.HOST, compiler=lost))
    with pytest.raises(Skipped, match="Permission denied"):
        found(replace(healthy.VENV, header=lost))
