"""Nothing that the shell injects gets into the gate itself."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def decoys(tmp_path: Path) -> Path:
    for name in ("click", "packaging", "psutil"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('the decoy was imported')\n")
    return tmp_path


def test_packages_on_pythonpath_do_not_reach_the_tool(decoys: Path) -> None:
    command = Path(sys.executable).with_name("dflash-env")
    env = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "PYTHONPATH": str(decoys)}
    done = subprocess.run([command, "--version"], env=env, cwd=decoys, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("dflash-env")


def test_the_shells_pythonpath_is_still_told(decoys: Path) -> None:
    command = Path(sys.executable).with_name("dflash-env")
    env = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "PYTHONPATH": str(decoys)}
    done = subprocess.run([command, "doctor"], env=env, cwd=decoys, capture_output=True, text=True, check=False)
    assert "environ-pythonpath-set" in done.stdout
