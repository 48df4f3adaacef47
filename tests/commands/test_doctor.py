"""`doctor` through the real command line."""

import json
from pathlib import Path

from tests.conftest import Clone


def test_a_fresh_clone_lacks_only_its_venv(clone: Clone) -> None:
    done = clone.run("doctor")
    assert done.returncode == 1
    assert "venv-not-built" in done.stdout and "dflash-env rebuild" in done.stdout
    assert "refused: 1 error, 0 warnings" in done.stdout


def test_a_built_clone_passes(built: Clone) -> None:
    done = built.run("doctor")
    assert done.returncode == 0, done.stdout
    assert "passed: 0 errors, 0 warnings" in done.stdout


def test_json_is_one_document_and_replays_to_the_same_verdict(built: Clone, tmp_path: Path) -> None:
    first = built.run("doctor", "--json")
    document = json.loads(first.stdout)
    assert (document["schema"], document["verdict"], document["exit_code"]) == (1, "passed", 0)
    saved = tmp_path / "report.json"
    saved.write_text(first.stdout)
    again = built.run("doctor", "--json", "--replay", str(saved), cwd=tmp_path)
    assert json.loads(again.stdout) == document


def test_a_replay_looks_at_no_machine(built: Clone, tmp_path: Path) -> None:
    saved = tmp_path / "report.json"
    saved.write_text(built.run("doctor", "--json").stdout)
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    done = built.run("doctor", "--replay", str(saved), cwd=nothing, PATH=str(nothing))
    assert done.returncode == 0, done.stdout + done.stderr
    assert not list(nothing.iterdir())


def test_gpus_that_are_not_there_are_refused_and_nothing_falls_back(built: Clone) -> None:
    done = built.run("doctor", "--profile", "node8")
    assert done.returncode == 1
    assert "gpu-driver-missing" in done.stdout
    assert "profile node8 needs 8 GPUs" in done.stdout


def test_an_edit_is_seen_even_when_git_was_told_not_to_look(built: Clone) -> None:
    from tests.conftest import git

    path = built.root / "trainer" / "attention.py"
    git(built.root, "update-index", "--assume-unchanged", "trainer/attention.py")
    path.write_text(path.read_text() + "\n")
    assert git(built.root, "status", "--porcelain") == ""
    done = built.run("doctor")
    assert done.returncode == 1
    assert "trainer/attention.py is modified" in done.stdout


def test_leftovers_of_the_shell_are_told(built: Clone) -> None:
    done = built.run("doctor", LD_PRELOAD="/nonexistent/libnccl.so")
    assert "environ-library-preloaded" in done.stdout
    assert done.returncode == 1


def test_verbose_lists_every_check(built: Clone) -> None:
    quiet, verbose = built.run("doctor").stdout, built.run("doctor", "-v").stdout
    assert "venv-distribution-extra" not in quiet
    assert "venv-distribution-extra" in verbose
