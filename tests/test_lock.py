"""A lock file is read strictly: a line that is no pinned, hashed package is an error that names it."""

from pathlib import Path

import pytest

from dflash_env import lock as locks
from dflash_env.errors import Failure
from dflash_env.facts import Locked
from tests.wheels import write_lock

ALPHA = Locked(name="alpha", version="1.0", sha256="a" * 64)
BETA = Locked(name="beta", version="2.0", sha256="b" * 64)


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    lock = write_lock(tmp_path / "small-cp311.txt", ALPHA, BETA)
    assert lock.packages == (ALPHA, BETA)
    assert (lock.name, lock.python, lock.unpacked_bytes) == ("small-cp311", "3.11", 1000)


def test_the_digest_is_of_what_is_installed_not_of_the_header(tmp_path: Path) -> None:
    path = tmp_path / "small-cp311.txt"
    before = write_lock(path, ALPHA, BETA)
    path.write_text(path.read_text().replace("2026-11-30", "2026-12-01"))
    assert locks.read(path).digest == before.digest
    assert write_lock(path, BETA, ALPHA).digest == before.digest
    assert write_lock(path, ALPHA).digest != before.digest
    assert write_lock(path, ALPHA, BETA, python="3.12").digest != before.digest


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("gamma==1.0", "expected `name==version"),
        ("gamma>=1.0 --hash=sha256:" + "c" * 64, "expected `name==version"),
        ("gamma==1.0 --hash=sha256:short", "expected `name==version"),
        ("gamma @ https://example.invalid/gamma.whl", "expected `name==version"),
        ("gamma==one --hash=sha256:" + "c" * 64, "not a version"),
        ("Alpha==1.0 --hash=sha256:" + "c" * 64, "locked twice"),
        ("-r other.txt", "expected `name==version"),
    ],
)
def test_a_line_that_pins_nothing_is_named(tmp_path: Path, line: str, named: str) -> None:
    path = tmp_path / "small-cp311.txt"
    write_lock(path, ALPHA)
    path.write_text(f"{path.read_text()}{line}\n")
    with pytest.raises(Failure, match=named) as failure:
        locks.read(path)
    assert f"{path}:12" in failure.value.message


def test_a_header_key_that_is_missing_is_named(tmp_path: Path) -> None:
    path = tmp_path / "small-cp311.txt"
    write_lock(path, ALPHA)
    path.write_text("".join(line for line in path.open() if "cuda" not in line))
    with pytest.raises(Failure, match="cuda"):
        locks.read(path)


def test_a_missing_lock_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(Failure) as failure:
        locks.read(tmp_path / "cu12-cp399.txt")
    assert "cu12-cp399" in failure.value.message
    assert "dflash-env lock" in failure.value.fix
