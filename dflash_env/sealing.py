"""Takes stock of a freshly built venv, holds it against the lock, and seals it."""

import os
import platform
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dflash_env import codec, execute
from dflash_env.collect import seal, tree
from dflash_env.collect import venv as venvs
from dflash_env.errors import StepFailed
from dflash_env.facts import Lock, NotApplicable, Seal, Section, Unknown, Venv
from dflash_env.plan import Build
from dflash_env.state import State

PENDING = "pending"
"""A lock's tree digest before the first build was measured."""

WRITE_BITS = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
AGAIN = "run `dflash-env rebuild` again; if it fails again, show the output of `dflash-env rebuild --dry-run`"


@dataclass(frozen=True)
class Stock:
    """What a built folder holds."""

    files: dict[str, tuple[str, int]]
    owned: venvs.Ownership
    packages: dict[str, str]

    def wrong(self, lock: Lock) -> list[str]:
        """The packages whose files are not those that the lock was made from; none while it states no digests."""
        if lock.tree_digest in (PENDING, tree.whole_digest(self.packages)):
            return []
        stated = {package.name: package.tree for package in lock.packages}
        wrong = [name for name, digest in stated.items() if self.packages.get(name, "") != digest]
        return wrong or [tree.OF_NO_PACKAGE]

    def unlike_records(self, packages: list[str]) -> list[str]:
        """The files of these packages that are missing or are not what the package's own RECORD states."""
        return [
            path
            for path, by_owner in sorted(self.owned.stated.items())
            for owner, sha256 in by_owner.items()
            if owner in packages and sha256 and self.files.get(path, ("", 0))[0] != sha256
        ]


def take_stock(folder: Path, lock: Lock, seen: Callable[[int], None]) -> Stock:
    """Hash every file of a built folder. Raises StepFailed where its structure is not that of a clean install."""
    site = venvs.site_packages(folder, lock.python)
    _forget_whence(site)
    there = tree.walk(folder)
    owned = venvs.ownership(folder, site)
    inside = f"{site.relative_to(folder)}/"
    nobodys = [path for path in there if path not in owned.owners and path.startswith(inside)]
    shared = [path for path, status in there.items() if status.st_nlink != 1]
    for wrong, what in (
        (list(owned.broken), "distributions without a readable RECORD"),
        (nobodys, "files that no package owns"),
        (shared, "files that share their content with another name"),
        ([each.path for each in owned.collisions({})], "paths that two packages claim with different content"),
    ):
        if wrong:
            raise StepFailed(f"the new venv holds {what}: {some(wrong)}", AGAIN)
    hashed = tree.digests(folder, there, seen)
    files = {path: (hashed[path], status.st_mode) for path, status in there.items()}
    return Stock(files, owned, tree.package_digests(files, owned.owners))


WHENCE = "uv_cache.json"
"""uv writes the time stamp of a wheel that came from a folder; the same wheel from an index has no such note."""


def _forget_whence(site: Path) -> None:
    for note in site.glob(f"*.dist-info/{WHENCE}"):
        record = note.with_name("RECORD")
        rows = record.read_text("utf-8").splitlines(keepends=True)
        record.write_text("".join(row for row in rows if f"/{WHENCE}," not in row), "utf-8")
        note.unlink()


def close(build: Build, state: State, folder: Path, named: Path, stock: Stock) -> None:
    """Take the write bits off and write manifest and seal, under the name that the folder is about to get."""
    for path in (*stock.files, *_folders(folder)):
        place = folder / path
        if not place.is_symlink():
            place.chmod(place.stat().st_mode & ~WRITE_BITS)
    # The top folder must stay renamable until it has its name; files below are what counts.
    folder.chmod(folder.stat().st_mode | stat.S_IWUSR)
    entries = {path: tree.entry(stock.files[path][0], status) for path, status in tree.walk(folder).items()}
    codec.write_text(state.manifest(named), seal.Manifest(entries, stock.owned.owners).text())
    codec.write_document(state.seal(named), _seal(build, folder))


def _folders(folder: Path) -> list[str]:
    return [os.path.relpath(here, folder) for here, _, _ in os.walk(folder)]


def _seal(build: Build, folder: Path) -> Seal:
    stdlib = venvs.stdlib_digest(venvs.interpreter(folder))
    if not isinstance(stdlib, str):
        raise StepFailed(f"the standard library of {build.interpreter.path} cannot be read: {stdlib}", AGAIN)
    return Seal(
        key=build.key,
        lock=build.lock.name,
        lock_digest=build.lock.digest,
        python=build.interpreter.version,
        interpreter=build.interpreter.path,
        interpreter_sha256=build.interpreter.sha256,
        stdlib_sha256=stdlib,
        platform=f"{platform.system().lower()}-{platform.machine()}",
        libc=" ".join(platform.libc_ver()),
        built=execute.now(),
    )


def broken(found: Section[Venv]) -> str:
    """Why a venv is not the one that was sealed; empty when it is."""
    if isinstance(found, Unknown):
        return found.text
    if isinstance(found.seal, NotApplicable):
        return found.seal.why
    return f"{found.drift[0].path} is {found.drift[0].how}" if found.drift else ""


def differences(found: Section[Venv], lock: Lock) -> list[str]:
    """The distributions that are not the locked ones."""
    if isinstance(found, Unknown):
        return [found.text]
    installed = {one.name: one.version for one in found.distributions}
    locked = lock.versions
    twice = len(found.distributions) != len(installed)
    wrong = sorted(name for name in installed.keys() | locked.keys() if installed.get(name) != locked.get(name))
    return wrong or (["a distribution is installed twice"] if twice else [])


def some(paths: list[str], shown: int = 8) -> str:
    """A list for a sentence: the first few, and how many more."""
    rest = f" and {len(paths) - shown} more" if len(paths) > shown else ""
    return ", ".join(paths[:shown]) + rest
