"""The only actor: runs the steps of a plan, writes files, and hands off by exec."""

import contextlib
import fcntl
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, NoReturn, TextIO

from dflash_env.errors import StepFailed
from dflash_env.plan import Step

TAIL_LINES = 12


def run(
    step: Step,
    *,
    limit_s: float,
    meanwhile: Callable[[int], None] | None = None,
    accepted: tuple[int, ...] = (0,),
    stdin: IO[bytes] | None = None,
) -> bytes:
    """Run one step to its end and return what it printed; `meanwhile` is called with its pid every second.

    Raises `StepFailed` with the tail of its messages.
    """
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as said:
        try:
            process = subprocess.Popen(
                step.argv,
                cwd=step.cwd,
                env=step.environment(),
                stdout=printed,
                stderr=said,
                stdin=stdin or subprocess.DEVNULL,
            )
        except OSError as error:
            raise StepFailed(
                f"{step.argv[0]} cannot be started: {error.strerror}",
                "run `dflash-env rebuild`; in a clone also `make setup`",
            ) from None
        try:
            code = _wait(process, limit_s, meanwhile)
        finally:
            _end(process)
        if code not in accepted:
            said.seek(0)
            tail = said.read().decode("utf-8", "replace").strip().splitlines()[-TAIL_LINES:]
            raise StepFailed(_account(step, code, tail), _remedy("\n".join(tail)))
        printed.seek(0)
        return printed.read()


def _wait(process: subprocess.Popen[bytes], limit_s: float, meanwhile: Callable[[int], None] | None) -> int:
    waited = 0.0
    while True:
        try:
            return process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            waited += 1.0
        if waited >= limit_s:
            return -signal.SIGALRM
        if meanwhile is not None:
            meanwhile(process.pid)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a child of ours that is still there (we were interrupted, or its time is up)."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _account(step: Step, code: int, tail: list[str]) -> str:
    ended = "took too long and was ended" if code == -signal.SIGALRM else f"ended with {code}"
    return "\n".join(
        [f"could not {step.why}: `{Path(step.argv[0]).name} {step.argv[1]}` {ended}", *("  " + t for t in tail)]
    )


def _remedy(said: str) -> str:
    lowered = said.lower()
    if "hash mismatch" in lowered:
        return "an artifact is not the locked one: check the index you use, then run `dflash-env rebuild` again"
    if "no space left" in lowered:
        return "free disk space (`df -h`), then run `dflash-env rebuild` again"
    if any(word in lowered for word in ("dns", "connect", "network", "timed out", "offline", "request")):
        return "check the network, proxy and index settings (UV_INDEX_URL, HTTPS_PROXY), then run the command again"
    return "mend what is said above, then run the command again; nothing half made was kept"


def make_folder(path: Path, mode: int = 0o777) -> None:
    """Make a folder and its parents."""
    try:
        path.mkdir(mode=mode, parents=True, exist_ok=True)
    except OSError as error:
        raise StepFailed(
            f"{path} cannot be made: {error.strerror}",
            "make the folder writable, or set `state = PATH` in [tool.dflash-env] to a place that is",
        ) from None


def make_state(path: Path) -> None:
    """Make the state folder, which no git repository around it shall take up."""
    make_folder(path)
    note = path / ".gitignore"
    if not note.exists():
        note.write_text("*\n")


@contextlib.contextmanager
def exclusive(path: Path, whose: str, wait_s: float) -> Iterator[None]:
    """Hold a lock file. Who finds it held says for whom it waits, and gives up after `wait_s`."""
    make_folder(path.parent)
    try:
        stream = path.open("a+")
    except OSError as error:
        raise StepFailed(f"{path} cannot be written: {error.strerror}", "make the folder writable") from None
    with stream:
        _acquire(stream, path, whose, wait_s)
        stream.truncate(0)
        stream.write(f"process {os.getpid()}, since {now()}")
        stream.flush()
        yield


def _acquire(stream: TextIO, path: Path, whose: str, wait_s: float) -> None:
    end, told = time.monotonic() + wait_s, False
    while True:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            holder = f"{whose} ({path.read_text() or 'unknown'})"
        if time.monotonic() >= end:
            raise StepFailed(f"{holder} did not finish within {wait_s:g} s", "wait for it, or look what it is doing")
        if not told:
            print(f"waiting for {holder}", file=sys.stderr, flush=True)
            told = True
        time.sleep(0.2)


def lease(path: Path) -> int:
    """A shared lock for the life of this process and of what it becomes by exec; whoever would remove sees it held."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    os.set_inheritable(descriptor, True)
    return descriptor


def leased(path: Path) -> bool:
    """Whether any process holds the lease."""
    if not path.exists():
        return False
    with path.open("r+") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


FICLONE = 0x40049409
"""ioctl of Linux (linux/fs.h): make a file share another's blocks, copied when written."""


def reflinks(source: Path, target: Path) -> bool:
    """Whether files can be cloned from one folder to the other. uv would silently hard-link where they cannot."""
    try:
        with _scratch(source) as old, _scratch(target) as new:
            old.write(b"probe")
            old.flush()
            fcntl.ioctl(new.fileno(), FICLONE, old.fileno())
            return True
    except OSError:
        return False


def _scratch(folder: Path) -> IO[bytes]:
    """A nameless file on the file system that a folder is on, or will be."""
    return tempfile.TemporaryFile(dir=next(each for each in (folder, *folder.parents) if each.exists()))


def written(pid: int) -> int:
    """Bytes a process has written, where the kernel tells."""
    try:
        lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("write_bytes")), 0)


def discard(folder: Path) -> None:
    """Remove a folder of ours, whose folders may be write-protected."""
    if folder.exists():
        for here, _, _ in os.walk(folder):
            Path(here).chmod(stat.S_IRWXU)
        shutil.rmtree(folder)


def write_files(root: Path, files: dict[str, tuple[bytes, bool]]) -> None:
    """Write contents below a folder; the flag says whether a file is executable."""
    for name, (content, executable) in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        if executable:
            path.chmod(path.stat().st_mode | 0o111)


def hand_off(step: Step) -> NoReturn:
    """Become the step: from here on signals, terminal and exit code are its own; a `lease` goes along."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.chdir(step.cwd)
    try:
        os.execve(step.argv[0], step.argv, step.environment())
    except OSError as error:
        raise StepFailed(f"{step.argv[0]} cannot be started: {error.strerror}", "run `dflash-env rebuild`") from None


def now() -> str:
    """UTC, ISO 8601, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
