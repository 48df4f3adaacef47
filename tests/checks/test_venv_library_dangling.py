"""venv-library-dangling: the package is there and its library is not."""

from dataclasses import replace

import pytest

from checks.venv.library_dangling import library_dangling
from dflash_env.check import Skipped
from dflash_env.facts import NotApplicable
from tests import healthy

CUDNN = "lib/python3.11/site-packages/nvidia/cudnn/lib/libcudnn.so.9"


def test_fires_for_each_link() -> None:
    findings = library_dangling(venv=replace(healthy.VENV, dangling=(CUDNN, "bin/python3")))
    assert [finding.message for finding in findings] == [f"{CUDNN} leads to nothing", "bin/python3 leads to nothing"]


def test_quiet_on_the_healthy_machine() -> None:
    assert library_dangling(venv=healthy.VENV) == []


def test_quiet_about_links_to_an_interpreter_that_is_gone() -> None:
    gone = NotApplicable(why="bin/python leads to nothing")
    assert library_dangling(venv=replace(healthy.VENV, dangling=("bin/python",), interpreter=gone)) == []


def test_skipped_without_a_venv() -> None:
    with pytest.raises(Skipped, match="no venv was built"):
        library_dangling(venv=healthy.ABSENT_VENV)
