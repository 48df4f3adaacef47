"""Makes the training venv of a lock: beside the one in use, verified, sealed, and then made current by one rename."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import click

from dflash_env import execute, plan, sealing
from dflash_env.collect import programs
from dflash_env.collect import venv as venvs
from dflash_env.errors import StepFailed
from dflash_env.facts import Interpreter, Lock, Venv
from dflash_env.progress import Meter, Tally
from dflash_env.state import State, uv_cache

BUILDING = ".building"
"""Where a venv stands until it is whole. Whatever an interrupted build left there is nobody's."""


@dataclass(frozen=True, kw_only=True)
class Supply:
    """Where the wheels come from, and how long to wait for another rebuild."""

    offline: bool = False
    find_links: str = ""
    wait_s: float = 3600.0


INDEX = Supply()
"""The user's index, as uv is set up."""


def provide(state: State, lock: Lock, lockfile: Path, supply: Supply = INDEX) -> Path:
    """The venv of a lock, built if there is none that is whole, and made current."""
    interpreter = programs.find_python(lock.python)
    execute.make_state(state.root)
    with execute.exclusive(state.venvs / ".lock", "another rebuild", supply.wait_s):
        folder = _whole(state, lock, interpreter)
        if folder is None:
            folder = _build(planned(state, lock, lockfile, interpreter, supply), state)
        else:
            click.echo(f"· the venv {folder.name} is whole; nothing to build", err=True)
        switch(state, lock.name, folder)
    execute.make_folder(state.compile_cache(folder.name), mode=0o700)
    return folder


def planned(state: State, lock: Lock, lockfile: Path, interpreter: Interpreter, supply: Supply = INDEX) -> plan.Build:
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
        link_mode="clone" if execute.reflinks(uv_cache(), state.venvs) else "copy",
        offline=supply.offline,
        find_links=supply.find_links,
    )


def whole(state: State, lock: Lock) -> Path | None:
    """The venv that `provide` would keep; None where it would build one."""
    return _whole(state, lock, programs.find_python(lock.python))


def _whole(state: State, lock: Lock, interpreter: Interpreter) -> Path | None:
    key = plan.venv_key(lock, interpreter)
    for folder in sorted(state.venvs.glob(f"{key}*/")):
        if not complaint(state, lock, folder):
            return folder
    return None


def complaint(state: State, lock: Lock, folder: Path) -> str:
    """Why a venv is not, in every file, what the lock says; empty when it is."""
    found = venvs.read(state, folder, lock.python)
    if why := sealing.broken(found):
        return why
    if wrong := sealing.differences(found, lock):
        return f"not as locked: {', '.join(wrong)}"
    same = isinstance(found, Venv) and lock.tree_digest in (sealing.PENDING, found.tree_digest)
    return "" if same else "another tree digest than the lock's"


def _build(build: plan.Build, state: State) -> Path:
    folder = Path(build.folder)
    _check_space(build, state)
    execute.discard(folder)
    try:
        stock = _fill(build, state, folder)
        if wrong := stock.wrong(build.lock):
            stock = _fill_again(build, state, folder, stock, wrong)
        named = _free_name(build, state)
        sealing.close(build, state, folder, named, stock)
        folder.rename(named)
    except BaseException:
        execute.discard(folder)
        raise
    if os.geteuid() == 0:
        click.echo("  sealed: write bits are off, which does not stop root; doctor sees every change", err=True)
    return named


def _check_space(build: plan.Build, state: State) -> None:
    free = shutil.disk_usage(state.venvs).free
    if free < build.lock.unpacked_bytes:
        raise StepFailed(
            f"the venv takes {build.lock.unpacked_bytes / 1e9:.1f} GB, and {state.venvs} has {free / 1e9:.1f} GB free",
            "run `dflash-env gc`, or set `state = PATH` in [tool.dflash-env] to a folder on a larger disk",
        )


def _fill(build: plan.Build, state: State, folder: Path) -> sealing.Stock:
    make, fill = build.steps
    meter = Meter()
    try:
        click.echo(f"· {make.why}", err=True)
        execute.run(make, limit_s=120)
        click.echo(f"· {fill.why}", err=True)
        execute.run(fill, limit_s=3600, meanwhile=Watch(meter, build).show)
        if wrong := sealing.differences(venvs.read(state, folder, build.lock.python), build.lock):
            raise StepFailed(f"the new venv is not what the lock says: {', '.join(wrong)}", sealing.AGAIN)
        hashed = Tally(meter, "verifying ", build.lock.unpacked_bytes)
        return sealing.take_stock(folder, build.lock, hashed.add)
    finally:
        meter.close()


def _fill_again(build: plan.Build, state: State, folder: Path, first: sealing.Stock, wrong: list[str]) -> sealing.Stock:
    """Once more, past the cache: uv never looks again at what it once unpacked there."""
    damaged = first.unlike_records(wrong)
    click.echo(f"· not what the lock was made from: {', '.join(wrong)}; fetching it again", err=True)
    execute.run(build.forget(tuple(wrong)), limit_s=120)
    execute.discard(folder)
    second = _fill(build, state, folder)
    if still := second.wrong(build.lock):
        files = sealing.some(second.unlike_records(still) or still)
        raise StepFailed(
            f"{', '.join(still)}: even fresh from the index not the files that the lock was made from ({files})",
            f"it is not the cache: look at the index, at the lock, and whether uv is {build.lock.uv} as in its header",
        )
    click.echo(f"  the cache was damaged ({sealing.some(damaged) or ', '.join(wrong)}) and is mended", err=True)
    return second


class Watch:
    """Shows a running uv by what it has written: first it unpacks what its cache lacks, then it copies all of that."""

    def __init__(self, meter: Meter, build: plan.Build) -> None:
        self._meter, self._total, self._before = meter, build.lock.unpacked_bytes, 0
        self._site = venvs.site_packages(Path(build.folder), build.lock.python)

    def show(self, pid: int) -> None:
        """Called every second with uv's process. Weighing the folder would walk all of it each time."""
        written = execute.written(pid)
        if next(self._site.glob("*/"), None) is None:
            self._before = written
            self._meter.show("fetching  ", written, self._total)
        else:
            self._meter.show("installing", written - self._before, self._total)


def _free_name(build: plan.Build, state: State) -> Path:
    number = 1
    while (named := state.venv(build.key if number == 1 else f"{build.key}-{number}")).exists():
        number += 1
    return named


def switch(state: State, lock: str, folder: Path) -> None:
    """Make a venv the current one of a lock by one rename, and remember it."""
    link = state.current(lock)
    execute.make_folder(link.parent)
    if link.is_symlink() and link.resolve() == folder:
        return
    fresh = link.with_name(f".{link.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(os.path.relpath(folder, link.parent))
    fresh.replace(link)
    with state.history.open("a") as history:
        history.write(f"{execute.now()} {lock} {folder.name}\n")


def roll_back(state: State, lock: Lock, wait_s: float) -> Path:
    """Return to the venv that was current before this one, if it is still what was sealed."""
    with execute.exclusive(state.venvs / ".lock", "another rebuild", wait_s):
        now = state.current(lock.name).resolve().name
        used = (line.split() for line in state.history.read_text().splitlines()) if state.history.exists() else ()
        before = [name for _, of, name in used if of == lock.name and name != now and state.venv(name).is_dir()]
        if not before:
            raise StepFailed(f"there is no earlier venv of {lock.name} to go back to", "run `dflash-env rebuild`")
        folder = state.venv(before[-1])
        if why := sealing.broken(venvs.read(state, folder, lock.python)):
            raise StepFailed(
                f"the earlier venv {folder.name} is not what was sealed: {why}", "run `dflash-env rebuild`"
            )
        switch(state, lock.name, folder)
    return folder
