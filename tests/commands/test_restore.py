"""`restore` through the real command line; what goes back and comes again is in tests/test_restore.py."""

from pathlib import Path

from tests.conftest import Clone, git

LOOP = "trainer/attention.py"


def edit(clone: Clone, text: str = "# mine\n") -> None:
    (clone.root / LOOP).write_text(text)


def test_an_edit_goes_back_and_comes_again(built: Clone) -> None:
    committed = (built.root / LOOP).read_text()
    edit(built)
    assert built.run("doctor").returncode == 1
    done = built.run("restore")
    assert done.returncode == 0, done.stderr
    assert LOOP in done.stdout and "--undo" in done.stdout
    assert (built.root / LOOP).read_text() == committed
    assert built.run("doctor").returncode == 0
    ident = done.stdout.split()[-1]
    assert built.run("restore", "--undo", ident).returncode == 0
    assert (built.root / LOOP).read_text() == "# mine\n"


def test_undoing_loses_no_edit_made_since(clone: Clone) -> None:
    edit(clone)
    clone.run("restore")
    edit(clone, "# later\n")
    done = clone.run("restore", "--undo", "last")
    assert "edits made since are kept" in done.stdout
    assert (clone.root / LOOP).read_text() == "# mine\n"
    clone.run("restore", "--undo", "last")
    assert (clone.root / LOOP).read_text() == "# later\n"


def test_a_dry_run_touches_nothing(clone: Clone) -> None:
    edit(clone)
    done = clone.run("restore", "--dry-run")
    assert LOOP in done.stdout
    assert (clone.root / LOOP).read_text() == "# mine\n"
    assert git(clone.root, "for-each-ref", "refs/dflash") == ""


def test_nothing_to_put_back(clone: Clone) -> None:
    done = clone.run("restore")
    assert done.returncode == 0 and "nothing to put back" in done.stdout
    assert "nothing was ever kept" in clone.run("restore", "--undo", "last").stderr


def test_kept_states_are_listed(clone: Clone) -> None:
    edit(clone)
    clone.run("restore")
    done = clone.run("restore", "--list")
    assert len(done.stdout.splitlines()) == 1 and "1 paths" in done.stdout


def test_a_path_outside_is_refused(clone: Clone, tmp_path: Path) -> None:
    done = clone.run("restore", str(tmp_path / "elsewhere.py"))
    assert done.returncode == 2
    assert "is outside" in done.stderr and "fix: " in done.stderr


def test_a_path_is_relative_to_where_one_stands(clone: Clone) -> None:
    edit(clone)
    done = clone.run("restore", "attention.py", cwd=clone.root / "trainer")
    assert done.returncode == 0, done.stderr
    assert LOOP in done.stdout
