"""The committed locks: fresh, hashed, without a URL, and of one CUDA."""

import re
from pathlib import Path

import pytest

from dflash_env import lock as locks
from dflash_env import locking

FOLDER = Path(__file__).parent.parent / "lockfiles"
ALL = sorted(FOLDER.glob("*.txt"))
TRAINING = [path for path in ALL if path.stem not in locking.TOOL_LOCKS]
INPUT = re.compile(r"^# input: (?:(?P<name>\S+) )?sha256:(?P<sha256>[0-9a-f]{64})$", re.MULTILINE)


def named(path: Path) -> str:
    return path.stem


def test_every_input_has_a_lock() -> None:
    locked = {path.stem.partition("-")[0] for path in ALL}
    assert {path.stem for path in FOLDER.glob("*.in")} <= locked


@pytest.mark.parametrize("path", ALL, ids=named)
def test_is_fresh(path: Path) -> None:
    recorded = INPUT.search(path.read_text())
    assert recorded, f"{path.name} does not say what it was made from"
    source = FOLDER / (recorded["name"] or f"{path.stem}.in")
    assert recorded["sha256"] == locking.input_digest(source), (
        f"{source.name} changed since {path.name}: run `make lock`"
    )


@pytest.mark.parametrize("path", ALL, ids=named)
def test_names_no_url(path: Path) -> None:
    assert "://" not in path.read_text()


@pytest.mark.parametrize("path", ALL, ids=named)
def test_every_entry_is_pinned_and_hashed(path: Path) -> None:
    text = re.sub(r"\\\n\s*", "", path.read_text())
    entries = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert entries
    for entry in entries:
        assert re.match(r"[a-z0-9-]+==\S+.* --hash=sha256:[0-9a-f]{64}", entry), f"{path.name}: {entry}"


@pytest.mark.parametrize("path", TRAINING, ids=named)
def test_a_training_lock_has_one_artifact_a_package_and_one_cuda(path: Path) -> None:
    lock = locks.read(path)
    stem = path.stem.partition("-")[0]
    assert lock.cuda == locking.cuda_of(lock.packages, stem)
    assert lock.cuda.partition(".")[0] == stem.removeprefix("cu")
    assert lock.unpacked_bytes > 1_000_000_000


@pytest.mark.parametrize("path", TRAINING, ids=named)
def test_a_training_lock_holds_what_the_trainer_needs_and_no_serving_stack(path: Path) -> None:
    locked = locks.read(path).versions
    assert locked["torch"].startswith("2.10.")
    assert locked["transformers"].startswith("5.")
    assert not {"vllm", "sglang", "flashinfer-python", "pytest"} & set(locked)
