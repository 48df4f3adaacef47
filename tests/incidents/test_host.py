"""Public incidents in which the host ran out of something that a container or a run could have been told of."""

import shutil
import subprocess

import pytest

from tests.incidents.conftest import Station

SHM, DISK = "host-shm-too-small", "host-disk-too-small"


def namespaces() -> bool:
    """Whether this kernel lets its user mount something for one process alone."""
    program = shutil.which("unshare")
    return program is not None and subprocess.run([program, "-Urm", "true"], check=False).returncode == 0


pytestmark = pytest.mark.skipif(not namespaces(), reason="this kernel gives its users no mount namespace")


def shm(size: str) -> str:
    return f"mount -t tmpfs -o size={size} tmpfs /dev/shm"


def test_a_container_with_64_mib_of_shared_memory(station: Station) -> None:
    """NVIDIA/nccl#342, fal-ai-community/video-diffusion-speedrun#2 and Fanzzzd/erainfra#87: a container gets 64 MiB of
    /dev/shm whatever its memory. NCCL could make no segment there, or a data worker died of a bus error."""
    verdict = station.doctor("large", before=shm("64m"))
    assert (verdict.exit_code, list(verdict.errors), verdict.warnings) == (1, [SHM], {})
    verdict.says(SHM, "/dev/shm holds 64 MiB; machine large states 16,384 MiB", "--shm-size=16g", "--ipc=host")


def test_a_default_container_is_enough_for_a_machine_that_says_so(station: Station) -> None:
    """No incident: the same 64 MiB, where the machine file asks for no more."""
    verdict = station.doctor("bench", before=shm("64m"))
    assert (verdict.exit_code, verdict.errors, verdict.warnings) == (0, {}, {})


def test_shared_memory_that_others_filled(station: Station) -> None:
    """The same error from a /dev/shm of the right size: a run that was killed left its segments behind."""
    verdict = station.doctor("bench", before=f"{shm('96m')}\nfallocate -l 90m /dev/shm/nccl-left-behind")
    assert (verdict.exit_code, verdict.warnings) == (1, {})
    assert [check for check in verdict.errors if check.startswith("host-shm-")] == [*verdict.errors]
    verdict.says(next(iter(verdict.errors)), "/dev/shm", "6 MiB", "64 MiB")


def on_a_disk_of(size: str, station: Station) -> str:
    """Shell commands that put the whole state folder on a file system of this size."""
    state = station.root / ".dflash"
    return f"cp -a {state} {station.home}/aside\nmount -t tmpfs -o size={size} tmpfs {state}\n" + (
        f"cp -a {station.home}/aside/. {state}"
    )


FILL = "fallocate -l 300m"


def test_a_disk_that_the_next_checkpoint_does_not_fit_on(station: Station) -> None:
    """ultralytics/ultralytics#5793 and sml2h3/dddd_trainer#36: checkpoints filled the disk. The last one was cut off,
    and the resume failed over half a file."""
    full = f"{on_a_disk_of('2100m', station)}\nmkdir {station.state.runs}\n{FILL} {station.state.runs}/step-100.pt"
    verdict = station.doctor("large", before=f"{full}\n{shm('16g')}")
    assert (verdict.exit_code, list(verdict.errors), verdict.warnings) == (1, [DISK], {})
    verdict.says(DISK, f"{station.state.root} (venvs, caches and runs) has 1.9 GB free", "large states 2.0 GB")


def test_a_disk_with_just_enough_room_is_quiet(station: Station) -> None:
    """No incident: the same disk before that checkpoint, and a venv on another file system than its build was."""
    verdict = station.doctor("large", before=f"{on_a_disk_of('2100m', station)}\n{shm('16g')}")
    assert (verdict.exit_code, verdict.errors, verdict.warnings) == (0, {}, {})


def test_runs_on_a_full_disk_of_their_own(station: Station) -> None:
    """The same incident on the volume that only the checkpoints go to: the state folder's own has room."""
    runs = station.state.runs
    runs.mkdir()
    verdict = station.doctor("large", before=f"mount -t tmpfs -o size=8m tmpfs {runs}\n{shm('16g')}")
    assert (verdict.exit_code, list(verdict.errors), verdict.warnings) == (1, [DISK], {})
    verdict.says(DISK, f"{runs} (", "has 0.0 GB free", "large states 2.0 GB")
