"""environ-cuda-home-other: extensions would be compiled for another CUDA."""

from dataclasses import replace

from checks.environ.cuda_home_other import cuda_home_other
from dflash_env.facts import Environ, Reading, Unknown
from tests import healthy

GONE = Unknown(code="missing", text="/opt/cuda is no folder")


def with_toolkit(toolkit: Reading[str], **variables: str) -> Environ:
    return replace(healthy.shell(**variables), toolkit=toolkit)


def test_fires_for_another_major() -> None:
    thirteen = with_toolkit("13.0.2", CUDA_HOME="/usr/local/cuda")
    [finding] = cuda_home_other(environ=thirteen, lock=healthy.LOCK)
    assert finding.message == "/usr/local/cuda is CUDA 13.0.2; the lock is for CUDA 12.8"


def test_fires_for_cuda_path_too() -> None:
    [finding] = cuda_home_other(environ=with_toolkit("1.2", CUDA_PATH="/opt/cuda"), lock=healthy.LOCK)
    assert finding.message.startswith("/opt/cuda is CUDA 1.2;")


def test_fires_when_its_release_cannot_be_told() -> None:
    [finding] = cuda_home_other(environ=with_toolkit(GONE, CUDA_HOME="/opt/cuda"), lock=healthy.LOCK)
    assert finding.message == "environ.toolkit could not be read (missing): /opt/cuda is no folder"
    assert finding.about == ("environ.toolkit",)


def test_quiet_on_the_healthy_machine() -> None:
    assert cuda_home_other(environ=healthy.ENVIRON, lock=healthy.LOCK) == []


def test_quiet_about_another_minor() -> None:
    assert cuda_home_other(environ=with_toolkit("12.4", CUDA_HOME="/usr/local/cuda"), lock=healthy.LOCK) == []


def test_quiet_under_a_lock_without_cuda() -> None:
    assert cuda_home_other(environ=with_toolkit("13.0.2"), lock=replace(healthy.LOCK, cuda="none")) == []


def test_quiet_about_any_toolkit_under_a_lock_without_cuda() -> None:
    assert cuda_home_other(environ=with_toolkit(GONE), lock=replace(healthy.LOCK, cuda="none")) == []
