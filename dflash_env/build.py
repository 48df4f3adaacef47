"""Makes the training venv of a lock: beside the one in use, verified, sealed, and then made current by one rename."""

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import click

from dflash_env import codec, execute, plan
from dflash_env.collect import programs
from dflash_env.collect import venv as venvs
from dflash_env.errors import StepFailed
from dflash_env.facts import Interpreter, Lock, Seal, Unknown, Venv
from dflash_env.progress import Meter
from dflash_env.state import State, uv_cache

BUILDING = ".building"
"""Where a venv stands until it is whole. Whatever an interrupted build left there is nobody's."""


EMPTY_BYTES = 1_000_000
"""More than an empty venv weighs, less than any package worth a progress bar."""


def provide(state: State, lock: Lock, lockfile: Path) -> Path:
    """The venv of a lock, built if there is none that is whole, and made current."""
    interpreter = programs.find_python(lock.python)
    with exclusive(state.venvs / ".lock", "another rebuild is at work in this state folder"):
        folder = _whole(state, lock, interpreter)
        if folder is None:
            folder = _build(planned(state, lock, lockfile, interpreter), state)
        else:
            click.echo(f"· the venv {folder.name} is whole; nothing to build", err=True)
        _switch(state, lock.name, folder)
    execute.make_folder(state.compile_cache(folder.name), mode=0o700)
    return folder


def planned(state: State, lock: Lock, lockfile: Path, interpreter: Interpreter) -> plan.Build:
    """What a build of this lock would run."""
    settings = Path.home() / ".config" / "uv" / "uv.toml"
    return plan.build(
        uv=programs.find_uv(),
        cache=uv_cache(),
        lockfile=lockfile,
        lock=lock,
        interpreter=interpreter,
        folder=state.venvs / BUILDING,
        user_config=settings if settings.is_file() else None,
    )


def _whole(state: State, lock: Lock, interpreter: Interpreter) -> Path | None:
    key = plan.venv_key(lock, interpreter)
    for folder in sorted(state.venvs.glob(f"{key}*/")):
        found = venvs.read(folder, state.seal(folder), lock.python)
        if isinstance(found, Venv) and isinstance(found.seal, Seal) and not _differences(found, lock):
            return folder
    return None


def _build(build: plan.Build, state: State) -> Path:
    folder = Path(build.folder)
    shutil.rmtree(folder, ignore_errors=True)
    try:
        _run(build, folder)
        _verify(folder, build.lock, state)
        return _name(folder, build, state)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _run(build: plan.Build, folder: Path) -> None:
    make, fill = build.steps
    click.echo(f"· {make.why}", err=True)
    execute.run(make, limit_s=120)
    click.echo(f"· {fill.why}", err=True)
    meter = Meter()
    try:
        execute.run(fill, limit_s=3600, meanwhile=lambda pid: _show(meter, build, pid))
    finally:
        meter.close()


def _show(meter: Meter, build: plan.Build, pid: int) -> None:
    """uv first unpacks what its cache lacks, then copies it into the venv; each phase writes the whole size once."""
    total, installed = build.lock.unpacked_bytes, venvs.weigh(Path(build.folder))
    if installed > EMPTY_BYTES:
        meter.show("installing", installed, total)
    else:
        meter.show("fetching  ", _written(pid), total)


def _written(pid: int) -> int:
    """Bytes a process has written, where the kernel tells."""
    try:
        lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("write_bytes")), 0)


def _verify(folder: Path, lock: Lock, state: State) -> None:
    found = venvs.read(folder, state.seal(folder), lock.python)
    again = "run `dflash-env rebuild` again"
    if isinstance(found, Unknown):
        raise StepFailed(f"the new venv cannot be read: {found.text}", again)
    if wrong := _differences(found, lock):
        raise StepFailed(f"the new venv is not what the lock says: {', '.join(wrong)}", again)


def _differences(found: Venv, lock: Lock) -> list[str]:
    installed = {one.name: one.version for one in found.distributions}
    locked = lock.versions
    twice = len(found.distributions) != len(installed)
    wrong = sorted(name for name in installed.keys() | locked.keys() if installed.get(name) != locked.get(name))
    return wrong or (["a distribution is installed twice"] if twice else [])


def _name(folder: Path, build: plan.Build, state: State) -> Path:
    """Seal, then rename: the venv exists under its key only when both are done."""
    number = 1
    while (named := state.venv(build.key if number == 1 else f"{build.key}-{number}")).exists():
        number += 1
    seal = Seal(
        key=build.key,
        lock=build.lock.name,
        lock_digest=build.lock.digest,
        python=build.interpreter.version,
        interpreter=build.interpreter.path,
        interpreter_sha256=build.interpreter.sha256,
        built=execute.now(),
    )
    codec.write_document(state.seal(named), seal)
    folder.rename(named)
    return named


def _switch(state: State, lock: str, folder: Path) -> None:
    link = state.current(lock)
    execute.make_folder(link.parent)
    fresh = link.with_name(f".{link.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(os.path.relpath(folder, link.parent))
    fresh.replace(link)


@contextlib.contextmanager
def exclusive(path: Path, waiting_for: str) -> Iterator[None]:
    """Hold a lock file; a second process says what it waits for."""
    execute.make_folder(path.parent)
    try:
        stream = path.open("w")
    except OSError as error:
        raise StepFailed(f"{path} cannot be written: {error.strerror}", "make the folder writable") from None
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            click.echo(f"waiting: {waiting_for} ({path})", err=True)
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield
