"""The host: this one, really read."""

import os
import platform
import shutil
from pathlib import Path

import pytest

from dflash_env.collect import host
from dflash_env.facts import NotApplicable, Unknown
from dflash_env.state import State


def test_this_host(tmp_path: Path) -> None:
    found = host.collect(State(tmp_path), shm=tmp_path)
    assert found.platform == f"{os.uname().sysname.lower()}-{os.uname().machine}"
    assert found.libc == f"{platform.libc_ver()[0]} {platform.libc_ver()[1]}"
    assert found.cores == len(os.sched_getaffinity(0))
    assert found.shm_bytes == shutil.disk_usage(tmp_path).total
    assert isinstance(found.shm_free_bytes, int)
    assert 0 < found.shm_free_bytes < found.shm_bytes
    assert isinstance(found.memory_bytes, int)
    assert found.memory_bytes > 0


def test_fewer_cores_are_ours_than_the_machine_has(tmp_path: Path) -> None:
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert host.collect(State(tmp_path), shm=tmp_path).cores == 1
    finally:
        os.sched_setaffinity(0, allowed)


def test_shared_memory_that_cannot_be_measured_is_unknown(tmp_path: Path) -> None:
    found = host.collect(State(tmp_path), shm=tmp_path / "gone")
    assert found.shm_bytes == Unknown(code="failed", text=f"No such file or directory: {tmp_path / 'gone'}")
    assert found.shm_free_bytes == found.shm_bytes
    assert isinstance(found.memory_bytes, int), "one reading that fails takes no other with it"


def test_the_disk_under_a_folder_that_is_not_made_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found = host.collect(State(tmp_path / "a/b/.dflash"), shm=tmp_path)
    assert [(disk.folder, disk.purpose) for disk in found.disks] == [
        (str(tmp_path / "a/b/.dflash"), "venvs, caches and runs"),
        (str(tmp_path / "cache/dflash-env/uv"), "downloaded packages"),
    ]
    assert all(isinstance(disk.free_bytes, int) and disk.free_bytes > 0 for disk in found.disks)
    assert not (tmp_path / "a").exists(), "a reader makes nothing"


def test_the_runs_on_a_file_system_of_their_own(tmp_path: Path) -> None:
    other = Path("/dev/shm")
    if other.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no second file system here")
    (tmp_path / "runs").symlink_to(other)
    found = host.collect(State(tmp_path), shm=tmp_path)
    assert [(disk.folder, disk.purpose, disk.judged) for disk in found.disks[:2]] == [
        (str(tmp_path), "venvs and caches", True),
        (str(tmp_path / "runs"), "runs", True),
    ]
    assert found.disks[1].free_bytes == shutil.disk_usage(other).free
    assert not found.disks[2].judged


def programs(folder: Path, *names: str) -> str:
    for name in names:
        folder.mkdir(exist_ok=True)
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    return str(folder)


def test_the_first_compiler_where_the_trainer_will_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", programs(tmp_path / "conda", "gcc"))
    monkeypatch.setenv("CC", str(tmp_path / "conda" / "gcc"))
    monkeypatch.setattr(host, "SYSTEM_PATH", programs(tmp_path / "bin", "clang", "cc"))
    assert host.collect(State(tmp_path), shm=tmp_path).compiler == str(tmp_path / "bin/clang")


def test_no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "SYSTEM_PATH", str(tmp_path))
    found = host.collect(State(tmp_path), shm=tmp_path).compiler
    assert found == NotApplicable(why=f"none of gcc, clang, cc is in {tmp_path}")
