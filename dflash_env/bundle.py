"""Where checks, trainer and lockfiles are: beside the package in a clone, inside it in an installed wheel."""

import importlib.util
import sys
from functools import cache
from pathlib import Path

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
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} cannot be loaded as a check")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    made = getattr(module, file.stem, None)
    if not isinstance(made, Check):
        raise TypeError(f"{file} must define a check named {file.stem}")
    return made
