"""The one way a collector starts a process: with a limit, a scrubbed environment, and every failure an Unknown."""

import contextlib
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
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, env=dict(env), cwd=cwd)
    except OSError as error:
        return Unknown(code="missing", text=f"{program} cannot be started: {error.strerror}")
    try:
        printed, complaint = process.communicate(data, timeout=limit_s)
    except BaseException as error:
        _abandon(process)
        if not isinstance(error, subprocess.TimeoutExpired):
            raise
        return Unknown(code="timeout", text=f"{program} did not answer within {limit_s:g} s")
    if process.returncode != 0:
        said = complaint.decode("utf-8", "replace").strip().splitlines()
        ended = f"{program} ended with {process.returncode}"
        return Unknown(code="failed", text=f"{ended}: {said[-1] if said else 'no word'}")
    return printed


def _abandon(process: subprocess.Popen[bytes]) -> None:
    """End a child of ours, but never wait for it: one that hangs in a driver cannot be ended by anybody."""
    process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=1)
