"""The training venv, read from outside: no interpreter of it is started, nothing in it is imported."""

import contextlib
import json
import os
from importlib.metadata import distributions
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from dflash_env import codec
from dflash_env.facts import Distribution, Lock, NotApplicable, Seal, Section, Unknown, Venv
from dflash_env.state import State


def collect(state: State, lock: Lock) -> Section[Venv]:
    """The venv that `current` names for a lock."""
    link = state.current(lock.name)
    if not link.is_symlink():
        return _absent(f"no venv was built for {lock.name}")
    try:
        folder = link.resolve(strict=True)
    except OSError:
        return _absent(f"{link} leads to a folder that is gone")
    return read(folder, state.seal(folder), lock.python)


def read(folder: Path, seal: Path, python: str) -> Section[Venv]:
    """A venv by its folder; `python` is the minor version such as `3.11`."""
    site = site_packages(folder, python)
    if not site.is_dir():
        return Unknown(code="malformed", text=f"{folder} has no lib/python{python}/site-packages")
    try:
        return Venv(path=str(folder), seal=_seal(seal), distributions=_distributions(site))
    except ValueError as error:
        return Unknown(code="malformed", text=f"{seal}: {error}")
    except OSError as error:
        return Unknown(code="denied", text=f"{error.filename}: {error.strerror}")


def site_packages(folder: Path, python: str) -> Path:
    """Where a venv keeps its distributions."""
    return folder / "lib" / f"python{python}" / "site-packages"


def _absent(why: str) -> Venv:
    return Venv(path=NotApplicable(why=why), seal=NotApplicable(why=why), distributions=())


def _seal(path: Path) -> Seal | NotApplicable:
    if not path.exists():
        return NotApplicable(why=f"{path} does not exist: the build was not finished")
    return codec.decode(Seal, codec.open_document(json.loads(path.read_text("utf-8"))))


def _distributions(site: Path) -> tuple[Distribution, ...]:
    found = (
        Distribution(name=_name(one.name), version=_version(one.version)) for one in distributions(path=[str(site)])
    )
    return tuple(sorted(found, key=lambda one: (one.name, one.version)))


def _name(written: str | None) -> str:
    # A dist-info folder whose METADATA was deleted has no name; it must still be seen.
    return canonicalize_name(written) if written else "(nameless)"


def _version(written: str | None) -> str:
    try:
        return str(Version(written or ""))
    except InvalidVersion:
        return written or "(none)"


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
