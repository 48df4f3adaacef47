"""The host: cores, memory, shared memory, and the disks that a run writes to."""

import os
import platform
import shutil
from collections.abc import Callable
from pathlib import Path

import psutil

from dflash_env.facts import SYSTEM_PATH, Disk, Host, NotApplicable, Reading, Unknown
from dflash_env.facts.host import DOWNLOADS, ROOT, RUNS, STATE
from dflash_env.state import State, uv_cache

COMPILERS = ("gcc", "clang", "cc")


def collect(state: State, *, shm: Path = Path("/dev/shm")) -> Host:
    """Read the host; `shm` is where POSIX shared memory lives."""
    return Host(
        platform=f"{platform.system().lower()}-{platform.machine()}",
        libc=" ".join(platform.libc_ver()),
        compiler=_compiler(),
        python=platform.python_version(),
        cores=len(os.sched_getaffinity(0)),
        memory_bytes=_read(lambda: int(psutil.virtual_memory().total)),
        shm_bytes=_read(lambda: int(psutil.disk_usage(str(shm)).total)),
        shm_free_bytes=_read(lambda: int(psutil.disk_usage(str(shm)).free)),
        disks=(*_state(state), _disk(uv_cache(), DOWNLOADS)),
    )


def _compiler() -> Reading[str]:
    found = next(filter(None, (shutil.which(name, path=SYSTEM_PATH) for name in COMPILERS)), None)
    return found or NotApplicable(why=f"none of {', '.join(COMPILERS)} is in {SYSTEM_PATH}")


def _state(state: State) -> tuple[Disk, ...]:
    """The disk of the state folder, and that of the runs in it where it is another."""
    if _existing(state.root).stat().st_dev == _existing(state.runs).stat().st_dev:
        return (_disk(state.root, STATE),)
    return _disk(state.root, ROOT), _disk(state.runs, RUNS)


def _disk(folder: Path, purpose: str) -> Disk:
    return Disk(
        folder=str(folder),
        purpose=purpose,
        free_bytes=_read(lambda: int(psutil.disk_usage(str(_existing(folder))).free)),
    )


def _existing(folder: Path) -> Path:
    return next(each for each in (folder, *folder.parents) if each.exists())


def _read(take: Callable[[], int]) -> Reading[int]:
    try:
        return take()
    except OSError as error:
        return Unknown(code="failed", text=f"{error.strerror}: {error.filename}")
