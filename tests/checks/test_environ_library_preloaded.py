"""environ-library-preloaded: something is mapped before CUDA and NCCL."""

from dataclasses import replace

import pytest

from checks.environ.library_preloaded import library_preloaded
from dflash_env.check import Outcome, Skipped, examine
from dflash_env.facts import Unknown, Variable
from tests import healthy


def test_fires_for_the_variable() -> None:
    preloaded = Variable(name="LD_PRELOAD", value="/opt/nccl/libnccl.so")
    [finding] = library_preloaded(environ=replace(healthy.ENVIRON, variables=(preloaded,)))
    assert finding.message == "LD_PRELOAD=/opt/nccl/libnccl.so"
    assert "unset LD_PRELOAD" in finding.fix


def test_fires_for_each_library_of_the_file() -> None:
    findings = library_preloaded(environ=replace(healthy.ENVIRON, preload_file=("/a.so", "/b.so")))
    assert [finding.message for finding in findings] == [
        "/etc/ld.so.preload names /a.so",
        "/etc/ld.so.preload names /b.so",
    ]


def test_quiet_on_the_healthy_machine() -> None:
    assert library_preloaded(environ=healthy.ENVIRON) == []


def test_quiet_about_an_empty_variable() -> None:
    empty = Variable(name="LD_PRELOAD", value="")
    assert library_preloaded(environ=replace(healthy.ENVIRON, variables=(empty,))) == []


def test_skipped_when_the_preload_list_cannot_be_read() -> None:
    denied = Unknown(code="denied", text="Permission denied")
    with pytest.raises(Skipped, match="Permission denied"):
        library_preloaded(environ=replace(healthy.ENVIRON, preload_file=denied))


def test_the_variable_is_told_though_the_preload_list_cannot_be_read() -> None:
    denied = Unknown(code="denied", text="Permission denied")
    preloaded = Variable(name="LD_PRELOAD", value="/opt/nccl/libnccl.so")
    environ = replace(healthy.ENVIRON, variables=(preloaded,), preload_file=denied)
    [result] = examine([library_preloaded], replace(healthy.FACTS, environ=environ))
    assert (result.outcome, result.blocks) == (Outcome.FAILED, True)
    assert [finding.message for finding in result.findings] == ["LD_PRELOAD=/opt/nccl/libnccl.so"]
