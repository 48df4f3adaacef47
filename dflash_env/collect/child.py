"""The one way a collector starts a process: with a limit, a scrubbed environment, and every failure an Unknown."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from dflash_env.facts import Unknown

PASSED_ON = ("HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "TMPDIR", "USER")
"""What a child needs to find its programs and libraries; everything else is dropped (GIT_DIR redirects git)."""


def environment(**more: str) -> dict[str, str]:
    """The allow-listed part of our environment, and `more`."""
    return {name: os.environ[name] for name in PASSED_ON if name in os.environ} | more


def run(
    argv: Sequence[str], *, limit_s: float, env: Mapping[str, str], data: bytes = b"", cwd: Path | None = None
) -> bytes | Unknown:
    """Standard output of a process that ended well; otherwise why there is none."""
    program = Path(argv[0]).name
    try:
        done = subprocess.run(
            argv, input=data, capture_output=True, timeout=limit_s, env=dict(env), cwd=cwd, check=False
        )
    except subprocess.TimeoutExpired:
        return Unknown(code="timeout", text=f"{program} did not answer within {limit_s:g} s")
    except OSError as error:
        return Unknown(code="missing", text=f"{program} cannot be started: {error.strerror}")
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return Unknown(code="failed", text=f"{program} ended with {done.returncode}: {said[-1] if said else 'no word'}")
    return done.stdout
