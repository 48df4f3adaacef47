"""Locks are made by real uv from a folder of small wheels."""

from pathlib import Path

import pytest

from dflash_env import bundle, config, locking
from dflash_env import lock as locks
from dflash_env.errors import Failure
from dflash_env.facts import Locked
from tests import wheels


@pytest.fixture
def project(tmp_path: Path, wheelhouse: Path) -> config.Config:
    wheels.make(wheelhouse, "alpha", "1.0", requires=("beta>=1",))
    wheels.make(wheelhouse, "beta", "1.5")
    folder = tmp_path / "project"
    (folder / "lockfiles").mkdir(parents=True)
    (folder / "pyproject.toml").write_text("[tool.dflash-env]\n")
    (folder / "lockfiles" / "small.in").write_text("alpha\n")
    (folder / "lockfiles" / "dev.in").write_text("-r small.in\nbeta\n")
    return config.load(folder)


def test_a_training_lock_pins_one_artifact_a_package(project: config.Config, wheelhouse: Path) -> None:
    locking.write(project, ("small-cp311",), "2026-11-30")
    lock = locks.read(project.project / "lockfiles" / "small-cp311.txt")
    assert lock.versions == {"alpha": "1.0", "beta": "1.5"}
    wheel = wheels.Wheel(wheelhouse / "alpha-1.0-py3-none-any.whl", "alpha", "1.0")
    assert lock.packages[0].sha256 == wheel.locked.sha256
    assert lock.unpacked_bytes > 0
    assert len(lock.tree_digest) == 64 and all(package.tree for package in lock.packages)
    assert not list((project.project / "lockfiles").glob("*.draft"))


def test_locking_again_changes_nothing(project: config.Config) -> None:
    path = project.project / "lockfiles" / "small-cp311.txt"
    locking.write(project, ("small-cp311",), "2026-11-30")
    first = path.read_text()
    locking.write(project, (), None)
    assert path.read_text() == first


def test_a_tool_lock_keeps_every_hash_and_names_no_url(project: config.Config) -> None:
    locking.write(project, ("dev",), "2026-11-30")
    text = (project.project / "lockfiles" / "dev.txt").read_text()
    assert "alpha==1.0" in text and "--hash=sha256:" in text
    assert "://" not in text
    assert locking.input_digest(project.project / "lockfiles" / "dev.in") in text


def test_the_digest_of_an_input_covers_what_it_includes(project: config.Config) -> None:
    folder = project.project / "lockfiles"
    before = locking.input_digest(folder / "dev.in")
    (folder / "small.in").write_text("alpha==1.0\n")
    assert locking.input_digest(folder / "dev.in") != before


@pytest.mark.parametrize(
    "package", ["nvidia-cudnn-cu13", "nvidia-cuda-runtime", "nvidia-nccl-cu11", "cupy-cu13"], ids=str
)
def test_a_package_of_another_cuda_is_refused(package: str) -> None:
    found = (
        Locked(name="nvidia-cuda-runtime-cu12", version="12.8.90", sha256="0"),
        Locked(name=package, version="1", sha256="0"),
    )
    with pytest.raises(Failure, match=package):
        locking.cuda_of(found, "cu12")


def test_the_cuda_is_read_from_the_runtime() -> None:
    found = (Locked(name="nvidia-cuda-runtime-cu12", version="12.8.90", sha256="0"),)
    assert locking.cuda_of(found, "cu12") == "12.8"


@pytest.mark.parametrize("name", ["nonsense", "cu12", "absent-cp311"])
def test_a_name_that_is_no_lock_is_refused(project: config.Config, name: str) -> None:
    with pytest.raises(Failure):
        locking.write(project, (name,), "2026-11-30")
    assert not list((project.project / "lockfiles").glob("*.txt"))


def test_the_tags_prefer_what_an_installer_would() -> None:
    tags = [str(tag) for tag in locking._tags(11)]
    assert tags.index("cp311-cp311-manylinux_2_28_x86_64") < tags.index("cp311-abi3-manylinux_2_28_x86_64")
    assert tags.index("cp311-abi3-manylinux_2_17_x86_64") < tags.index("py3-none-any")
    assert "cp312-cp312-manylinux_2_28_x86_64" not in tags


def test_this_project_is_locked_where_it_says() -> None:
    assert (bundle.root() / "lockfiles" / "cu12-cp311.txt").is_file()
