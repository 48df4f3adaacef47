"""venv-path-contested: cuDNN of CUDA 13 lies where that of CUDA 12 belongs."""

from dataclasses import replace

import pytest

from checks.venv.path_contested import path_contested
from dflash_env.check import Skipped
from dflash_env.facts import Collision, Drift
from tests import healthy

OWNERS = ("nvidia-cudnn-cu12", "nvidia-cudnn-cu13")
CUDNN = Collision(path="nvidia/cudnn/lib/libcudnn.so.9", owners=OWNERS, on_disk="nvidia-cudnn-cu13")
BY = "claimed by nvidia-cudnn-cu12 and nvidia-cudnn-cu13"


def test_fires_with_both_owners_and_whose_bytes_are_there() -> None:
    graph = replace(CUDNN, path="nvidia/cudnn/lib/libcudnn_graph.so.9")
    [finding] = path_contested(venv=replace(healthy.VENV, collisions=(CUDNN, graph)))
    assert finding.message == (
        f"nvidia/cudnn/lib/libcudnn.so.9 and 1 more: {BY}; the bytes on disk are those of nvidia-cudnn-cu13"
    )


def test_fires_for_bytes_of_neither() -> None:
    [finding] = path_contested(venv=replace(healthy.VENV, collisions=(replace(CUDNN, on_disk=""),)))
    assert finding.message.endswith("; the bytes on disk are nobody's of them")


def test_fires_for_a_path_that_is_gone() -> None:
    gone = Drift(path=CUDNN.path, how="missing", owner="nvidia-cudnn-cu12")
    venv = replace(healthy.VENV, collisions=(replace(CUDNN, on_disk=""),), drift=(gone,))
    [finding] = path_contested(venv=venv)
    assert finding.message.endswith("; the file is gone")


def test_quiet_on_the_healthy_machine() -> None:
    assert path_contested(venv=healthy.VENV) == []


def test_skipped_without_a_venv() -> None:
    with pytest.raises(Skipped, match="no venv was built"):
        path_contested(venv=healthy.ABSENT_VENV)
