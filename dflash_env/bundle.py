"""Where checks, trainer and lockfiles are: beside the package in a clone, inside it in an installed wheel."""

import sys
from functools import cache
from pathlib import Path
from types import ModuleType

from dflash_env.check import FAMILIES, Check

_PACKAGE = Path(__file__).parent
_INSTALLED = _PACKAGE / "_bundled"

MANIFEST = "manifest.json"
"""In a wheel: the commit it was built from and the sha256 of each bundled file (made by hatch_build.py)."""


def root() -> Path:
    """The folder that holds `checks/`, `trainer/`, `lockfiles/` and `pyproject.toml`."""
    return _INSTALLED if installed() else _PACKAGE.parent


def installed() -> bool:
    """Whether this is an installed wheel rather than a clone."""
    return _INSTALLED.is_dir()


@cache
def checks() -> tuple[Check[...], ...]:
    """Every check, in the order of families and names. Loaded by path: no generic module name is ever imported."""
    return tuple(
        _load(family, file) for family in FAMILIES for file in sorted((root() / "checks" / family).glob("[!_]*.py"))
    )


def _load(family: str, file: Path) -> Check[...]:
    name = f"_dflash_env_checks.{family}.{file.stem}"
    module = ModuleType(name)
    module.__file__ = str(file)
    sys.modules[name] = module
    # From the source alone: a stale or forged .pyc beside it could judge in its place.
    exec(compile(file.read_bytes(), file, "exec", dont_inherit=True), vars(module))  # noqa: S102
    made = getattr(module, file.stem, None)
    if not isinstance(made, Check):
        raise TypeError(f"{file} must define a check named {file.stem}")
    return made
