"""The training venv, read from outside: no interpreter of it is started, nothing in it is imported."""

import contextlib
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from dflash_env.collect import installed, seal, tree
from dflash_env.facts import (
    Collision,
    Drift,
    Interpreter,
    Lock,
    NotApplicable,
    Reading,
    Section,
    Unknown,
    Venv,
)
from dflash_env.state import State

_LIBRARY = re.compile(r"/(?:nvidia/.+/lib|torch/lib|triton)/.*\.so(?:\.\d+)*$")


def collect(
    state: State, lock: Lock, deep: bool = False, seen: Callable[[int], None] = lambda _: None
) -> Section[Venv]:
    """The venv that `current` names for a lock."""
    link = state.current(lock.name)
    if not link.is_symlink():
        return _absent(f"no venv was built for {lock.name}")
    try:
        folder = link.resolve(strict=True)
    except OSError:
        return _absent(f"{link} leads to a folder that is gone")
    return read(state, folder, lock.python, deep, seen)


def read(
    state: State, folder: Path, python: str, deep: bool = False, seen: Callable[[int], None] = lambda _: None
) -> Section[Venv]:
    """A venv by its folder; `python` is the minor version such as `3.11`; `seen` is told the bytes hashed."""
    site = site_packages(folder, python)
    if not site.is_dir():
        # Made for another Python: it is read all the same, and a check says so.
        site = next(iter(sorted(folder.glob("lib/python3.*/site-packages"))), site)
        python = site.parent.name.removeprefix("python")
    if not site.is_dir():
        return Unknown(code="malformed", text=f"{folder} has no lib/python{python}/site-packages")
    try:
        return _read(state, folder, site, python, deep, seen)
    except ValueError as error:
        return Unknown(code="malformed", text=f"{state.seal(folder)} or what it names: {error}")
    except OSError as error:
        return Unknown(code="denied", text=f"{error.filename}: {error.strerror}")


def _read(state: State, folder: Path, site: Path, python: str, deep: bool, seen: Callable[[int], None]) -> Venv:
    sealed, found = seal.read_seal(state.seal(folder)), installed.read(site)
    bare = Venv(
        path=str(folder),
        seal=sealed,
        deep=deep,
        distributions=tuple(sorted((one.distribution for one in found), key=lambda one: (one.name, one.version))),
        unmet=tuple(installed.unmet(found, python)),
        system_packages=_settings(folder).get("include-system-site-packages", "true").lower() == "true",
        tree_digest=NotApplicable(why="the venv has no seal"),
        interpreter=interpreter(folder),
        header=_header(interpreter(folder)),
        stdlib_sha256=NotApplicable(why="read only by --deep"),
    )
    return bare if isinstance(sealed, NotApplicable) else _compared(bare, state, folder, site, seen)


def _compared(bare: Venv, state: State, folder: Path, site: Path, seen: Callable[[int], None]) -> Venv:
    manifest = seal.read_manifest(state.manifest(folder))
    found = seal.compare(folder, manifest, bare.deep, seen)
    owned = ownership(folder, site) if bare.deep or found.drift else Ownership(manifest.owners, {}, ())
    packages = tree.package_digests(found.files, owned.owners)
    return replace(
        bare,
        drift=tuple(_claimed(each, owned.owners) for each in found.drift),
        collisions=tuple(owned.collisions(found.files)),
        broken_records=owned.broken,
        dangling=tuple(dangling(folder, found.files)),
        hard_linked=found.hard_linked,
        libraries=tuple(sorted(path for path in found.files if _LIBRARY.search(path))),
        packages=packages,
        tree_digest=tree.whole_digest(packages),
        stdlib_sha256=stdlib_digest(bare.interpreter) if bare.deep else bare.stdlib_sha256,
    )


def _claimed(drift: Drift, owners: Mapping[str, tuple[str, ...]]) -> Drift:
    """Drift with the distributions that claim a new file now: an extra one claims its own."""
    return replace(drift, owner=", ".join(owners.get(drift.path, ()))) if drift.how == "unowned" else drift


@dataclass(frozen=True)
class Ownership:
    """Which distributions claim each file, by their RECORDs, which are claims and no proof."""

    owners: dict[str, tuple[str, ...]]
    stated: dict[str, dict[str, str]]
    """For each path the sha256 that each of its owners states; empty for a RECORD itself."""
    broken: tuple[str, ...]
    """Distributions whose RECORD is missing or cannot be read, and that have no other one that can."""

    def collisions(self, files: Mapping[str, tuple[str, int]]) -> Iterator[Collision]:
        """The paths whose owners state different content."""
        for path, by_owner in sorted(self.stated.items()):
            if len(set(filter(None, by_owner.values()))) > 1:
                there = files.get(path, ("", 0))[0]
                on_disk = next((owner for owner, sha256 in by_owner.items() if sha256 == there), "")
                yield Collision(path=path, owners=tuple(by_owner), on_disk=on_disk)


def ownership(folder: Path, site: Path) -> Ownership:
    """Read every RECORD below `site`."""
    claims: dict[str, dict[str, str]] = {}
    broken, whole = [], set()
    for info in sorted(site.glob("[!~]*.dist-info")):
        owner = installed.named(info)[0]
        try:
            for claim in tree.claims(folder, info / "RECORD"):
                claims.setdefault(claim.path, {})[owner] = claim.sha256
            whole.add(owner)
        except (OSError, ValueError):
            broken.append(owner)
    return Ownership(
        owners={path: tuple(by_owner) for path, by_owner in claims.items()},
        stated=claims,
        broken=tuple(owner for owner in broken if owner not in whole),
    )


def dangling(folder: Path, files: Mapping[str, tuple[str, int]]) -> Iterator[str]:
    """The links among `files` that lead to nothing."""
    for path, (_, mode) in files.items():
        if stat.S_ISLNK(mode) and not (folder / path).exists():
            yield path


def interpreter(folder: Path) -> Reading[Interpreter]:
    """The Python that a venv's links lead to now."""
    link = folder / "bin" / "python"
    try:
        path = link.resolve(strict=True)
    except OSError:
        return NotApplicable(why=f"{link} leads to nothing")
    return Interpreter(path=str(path), version=_settings(folder).get("version_info", ""), sha256=tree.digest(path))


def _settings(folder: Path) -> dict[str, str]:
    """pyvenv.cfg, as Python itself reads it."""
    rows = (line.partition("=") for line in (folder / "pyvenv.cfg").read_text("utf-8").splitlines())
    return {name.strip().lower(): value.strip() for name, equals, value in rows if equals}


def _header(python: Reading[Interpreter]) -> Reading[str]:
    if not isinstance(python, Interpreter):
        return python
    minor = ".".join(python.version.split(".")[:2])
    path = Path(python.path).parent.parent / "include" / f"python{minor}" / "Python.h"
    return str(path) if path.is_file() else NotApplicable(why=f"there is no {path}")


def stdlib_digest(python: Reading[Interpreter]) -> Reading[str]:
    """One sha256 over the source and libraries of an interpreter's standard library."""
    if not isinstance(python, Interpreter):
        return python
    folder = Path(python.path).parent.parent / "lib" / f"python{'.'.join(python.version.split('.')[:2])}"
    try:
        wanted = [path for path in tree.walk(folder) if path.endswith((".py", ".so")) and not _is_site(path)]
        # Debian's sitecustomize.py is a link into /etc: what runs is what it leads to.
        real = {path: os.path.realpath(folder / path) for path in wanted if (folder / path).exists()}
        hashed = tree.digests(folder, real.values())
        return tree.whole_digest({path: hashed[target] for path, target in real.items()})
    except OSError as error:
        return Unknown(code="failed", text=f"{error.filename}: {error.strerror}")


def _is_site(path: str) -> bool:
    return path.startswith(("site-packages/", "dist-packages/"))


def _absent(why: str) -> Venv:
    reason = NotApplicable(why=why)
    return Venv(
        path=reason,
        seal=reason,
        distributions=(),
        tree_digest=reason,
        interpreter=reason,
        header=reason,
        stdlib_sha256=reason,
    )


def site_packages(folder: Path, python: str) -> Path:
    """Where a venv keeps its distributions."""
    return folder / "lib" / f"python{python}" / "site-packages"


def key(venv: Section[Venv]) -> str:
    """The folder name of a venv that was built; `none` where there is none."""
    return Path(venv.path).name if isinstance(venv, Venv) and isinstance(venv.path, str) else "none"


def weigh(folder: Path) -> int:
    """The bytes of all files below a folder; a file that goes away meanwhile counts nothing."""
    total = 0
    for here, _, files in os.walk(folder):
        for name in files:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(here, name)).st_size  # noqa: PTH118 - 25,000 files a second
    return total
