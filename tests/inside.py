"""Runs the trainer's tests inside the locked training venv, with pytest laid over it from a folder of its own.

usage: python tests/inside.py [PYTEST ARGUMENT]...

The overlay stands last on the path: a locked package always wins over a copy that pytest brought.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import uv

from dflash_env.state import uv_cache

ROOT = Path(__file__).parent.parent
STATE = ROOT / ".dflash"
WANTED = ROOT / "lockfiles" / "test.txt"

START = """
import pathlib, sys
overlay, *arguments = sys.argv[1:]
sys.path.append(overlay)
import pytest
code = pytest.main(arguments)
left = sorted(map(str, pathlib.Path(sys.prefix).rglob("*.pyc")))
sys.exit(f"error: these tests wrote into the sealed venv: {left}" if left else code)
"""


def overlay(python: Path) -> Path:
    """The folder that holds pytest, made when its lock is new."""
    folder = STATE / "caches" / "overlay" / hashlib.sha256(WANTED.read_bytes()).hexdigest()[:16]
    if not folder.exists():
        fresh = folder.with_name(f".{folder.name}.{os.getpid()}")
        # Of the base interpreter: uv asks the one it is given, and a venv's would write bytecode into the sealed venv.
        base = python.resolve()
        install = [uv.find_uv_bin(), "pip", "install", "--quiet", "--no-config", "--python", base, "--target", fresh]
        subprocess.run([*install, "--cache-dir", uv_cache(), "--require-hashes", "--requirements", WANTED], check=True)
        fresh.rename(folder)
    return folder


def main() -> None:
    """Become pytest in the training venv."""
    link = STATE / "venvs" / "current" / "cu12-cp311"
    if not link.exists():
        sys.exit("error: there is no training venv\nfix:   make test")
    python = link.resolve() / "bin" / "python"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    env = kept | {
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONNOUSERSITE": "1",
        "PYTHONPATH": str(ROOT),
        "PYTHONPYCACHEPREFIX": str(STATE / "caches" / "bytecode" / "tests"),
        "PYTHONSAFEPATH": "1",
    }
    os.execve(python, [str(python), "-c", START, str(overlay(python)), *sys.argv[1:]], env)


if __name__ == "__main__":
    main()
