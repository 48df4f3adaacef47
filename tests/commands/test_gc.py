"""`gc` through the real command line; what goes and what stays is in tests/test_sweep.py."""

from tests.conftest import Clone


def test_a_dry_run_removes_nothing_and_says_how_much(clone: Clone) -> None:
    leftover = clone.root / ".dflash" / "venvs" / ".building" / "half"
    leftover.mkdir(parents=True)
    (leftover / "file").write_bytes(b"x" * 10_000_000)
    done = clone.run("gc", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "would go" in done.stdout and ".building" in done.stdout and "would free 0.01 GB" in done.stdout
    assert leftover.exists()
    done = clone.run("gc")
    assert "freed 0.01 GB" in done.stdout
    assert not leftover.exists()


def test_nothing_to_remove_is_said_too(clone: Clone) -> None:
    assert clone.run("gc").stdout == "freed 0.00 GB\n"
