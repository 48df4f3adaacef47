"""venv-cuda-mixed: two CUDA majors whose libraries have the same names."""

from dataclasses import replace

import pytest

from checks.venv.cuda_mixed import cuda_mixed
from dflash_env.check import Skipped
from dflash_env.facts import Distribution, Venv
from tests import healthy


def holding(*names: str) -> Venv:
    return replace(healthy.VENV, distributions=tuple(Distribution(name=name, version="1.0") for name in names))


def test_fires_for_cu13_beside_cu12() -> None:
    venv = holding("torch", "nvidia-cudnn-cu12", "nvidia-cudnn-cu13", "nvidia-nccl-cu13")
    [finding] = cuda_mixed(venv=venv, lock=healthy.LOCK)
    thirteen = "CUDA 13: nvidia-cudnn-cu13 1.0, nvidia-nccl-cu13 1.0"
    assert finding.message == f"CUDA 12: nvidia-cudnn-cu12 1.0; {thirteen}; the lock is for CUDA 12.8"


def test_fires_for_what_carries_no_suffix_from_cuda_13_on() -> None:
    for name in ("nvidia-cublas", "nvidia-cuda-runtime", "nvidia-nvjitlink", "nvidia-cudnn-cu11", "cupy-cu13"):
        assert len(cuda_mixed(venv=holding("nvidia-nccl-cu12", name), lock=healthy.LOCK)) == 1, name


def test_fires_where_all_of_it_is_another_major_than_the_locks() -> None:
    [finding] = cuda_mixed(venv=holding("nvidia-cudnn-cu13"), lock=healthy.LOCK)
    assert finding.message == "CUDA 13: nvidia-cudnn-cu13 1.0; the lock is for CUDA 12.8"


def test_fires_for_two_majors_under_a_lock_without_cuda() -> None:
    venv = holding("nvidia-nccl-cu12", "nvidia-nccl-cu13")
    assert len(cuda_mixed(venv=venv, lock=replace(healthy.LOCK, cuda="none"))) == 1


def test_quiet_on_the_healthy_machine() -> None:
    assert cuda_mixed(venv=healthy.VENV, lock=healthy.LOCK) == []


def test_quiet_about_one_major_and_what_is_of_none() -> None:
    venv = holding("torch", "nvidia-nccl-cu12", "nvidia-ml-py", "nvidia-cutlass-dsl", "cuda-bindings")
    assert cuda_mixed(venv=venv, lock=healthy.LOCK) == []


def test_skipped_without_a_venv() -> None:
    with pytest.raises(Skipped, match="no venv was built"):
        cuda_mixed(venv=healthy.ABSENT_VENV, lock=healthy.LOCK)
