"""`lock` through the real command line; the resolution itself is in tests/test_locking.py."""

from pathlib import Path

from tests import wheels
from tests.conftest import Clone


def test_a_users_own_project_is_locked_in_its_own_folder(clone: Clone, tmp_path: Path, wheelhouse: Path) -> None:
    wheels.make(wheelhouse, "alpha", "1.0")
    project = tmp_path / "mine"
    (project / "lockfiles").mkdir(parents=True)
    (project / "pyproject.toml").write_text("[tool.dflash-env]\n")
    (project / "lockfiles" / "small.in").write_text("alpha\n")
    done = clone.run("lock", "small-cp311", cwd=project)
    assert done.returncode == 0, done.stderr
    assert "alpha==1.0 --hash=sha256:" in (project / "lockfiles" / "small-cp311.txt").read_text()


def test_two_dates_are_one_too_many(clone: Clone) -> None:
    done = clone.run("lock", "--upgrade", "--exclude-newer", "2026-01-01")
    assert done.returncode == 2
    assert "fix: " in done.stderr
