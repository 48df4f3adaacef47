"""What the tool keeps on a machine, and where (docs/design.md, state)."""

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class State:
    """The state folder's layout; `.dflash/` in the project unless `state = PATH` says otherwise."""

    root: Path

    @property
    def venvs(self) -> Path:
        """Training venvs, each in a folder named by its key."""
        return self.root / "venvs"

    def venv(self, key: str) -> Path:
        """The folder of one venv."""
        return self.venvs / key

    def seal(self, venv: Path) -> Path:
        """The seal of a venv: beside it, since a file inside would be one that no package owns."""
        return venv.with_name(f"{venv.name}.seal.json")

    def manifest(self, venv: Path) -> Path:
        """Every file of a venv as it was when sealed."""
        return venv.with_name(f"{venv.name}.files.json")

    def current(self, lock: str) -> Path:
        """The link to the venv in use for a lock."""
        return self.venvs / "current" / lock

    @property
    def history(self) -> Path:
        """Which venv became current when: `time lock folder`, a line a switch."""
        return self.venvs / "history"

    def lease(self, venv: Path) -> Path:
        """Locked, shared, by every process that a venv must stay for."""
        return venv.with_name(f"{venv.name}.lease")

    @property
    def caches(self) -> Path:
        """Everything that can be made again."""
        return self.root / "caches"

    def compile_cache(self, venv_key: str) -> Path:
        """Inductor's and Triton's files for one venv."""
        return self.caches / "compile" / venv_key

    @property
    def runs(self) -> Path:
        """One folder a launch."""
        return self.root / "runs"


def uv_cache() -> Path:
    """The tool's own uv cache: never the user's, which other tools' hard links can poison, and shared by clones."""
    base = os.environ.get("XDG_CACHE_HOME")
    return Path(base if base and Path(base).is_absolute() else Path.home() / ".cache") / "dflash-env" / "uv"
