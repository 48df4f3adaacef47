"""`rebuild` through the real command line; the build itself is in tests/test_build.py."""

from tests.conftest import Clone


def test_a_dry_run_prints_what_would_run_and_runs_nothing(clone: Clone) -> None:
    done = clone.run("rebuild", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "uv venv" in done.stdout and "pip sync" in done.stdout and "--require-hashes" in done.stdout
    assert not (clone.root / ".dflash").exists()


def test_a_dry_run_of_a_whole_venv_says_that_nothing_would_be_built(built: Clone) -> None:
    done = built.run("rebuild", "--dry-run")
    assert done.returncode == 0
    assert "nothing would be built" in done.stdout


def test_a_whole_venv_is_kept_and_the_doctor_has_the_last_word(built: Clone) -> None:
    done = built.run("rebuild")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing to build" in done.stderr
    assert "passed: 0 errors" in done.stdout


def test_source_is_put_back_as_one_step_of_the_whole(built: Clone) -> None:
    edited = built.root / "trainer" / "attention.py"
    edited.write_text("# mine\n")
    (built.root / "trainer" / "random.py").write_text("")
    done = built.run("rebuild", "--restore")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 paths put back; kept as" in done.stderr
    built.run("restore", "--undo", "last")
    assert edited.read_text() == "# mine\n"


def test_a_finding_is_answered_as_the_doctor_does(built: Clone) -> None:
    (built.root / "trainer" / "random.py").write_text("")
    done = built.run("rebuild")
    assert done.returncode == 1
    assert "trainer/random.py" in done.stdout
