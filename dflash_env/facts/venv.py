"""The training venv: what it was made from, what is in it, and what became of it."""

import re
from dataclasses import dataclass, field

from dflash_env.facts.expectations import Lock
from dflash_env.facts.reading import NotApplicable, Reading


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """An installed distribution, by the metadata in site-packages."""

    name: str
    version: str
    origin: str = "index"
    """`index`, or `editable` or `url` for what was installed from somewhere else."""


@dataclass(frozen=True, kw_only=True)
class Seal:
    """Written last, beside a finished venv: what it was built from."""

    key: str
    lock: str
    lock_digest: str
    python: str
    interpreter: str
    interpreter_sha256: str
    stdlib_sha256: str
    platform: str
    libc: str
    built: str
    """UTC, ISO 8601."""

    @property
    def python_minor(self) -> str:
        """Such as `3.11`."""
        return ".".join(self.python.split(".")[:2])


@dataclass(frozen=True, kw_only=True)
class Interpreter:
    """The Python that a venv is made with: its base executable, so that no venv stands behind a venv."""

    path: str
    version: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Drift:
    """A file of a sealed venv that is no longer what was sealed."""

    path: str
    how: str
    """`changed`, `missing`, or `unowned`: nobody's, there was no such file."""
    owner: str
    """The distributions it belongs to, or empty; of an unowned file those that claim it now."""

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders that it lies in."""
        parts = self.path.split("/")
        return tuple("/".join(parts[:depth]) for depth in range(1, len(parts)))


@dataclass(frozen=True, kw_only=True)
class Collision:
    """A path that two distributions claim with different content."""

    path: str
    owners: tuple[str, ...]
    on_disk: str
    """Whose bytes are there; empty when they are nobody's."""


@dataclass(frozen=True, kw_only=True)
class Unmet:
    """A requirement of an installed distribution that no installed distribution meets."""

    distribution: str
    requirement: str
    found: str
    """The version that is there, or empty."""


@dataclass(frozen=True, kw_only=True)
class Venv:
    """The training venv that `current` names for the profile's lock."""

    path: str | NotApplicable
    """The resolved folder; not applicable when none was built."""
    seal: Seal | NotApplicable
    deep: bool = False
    """Whether every byte was hashed, or only what moved since the seal."""
    distributions: tuple[Distribution, ...]
    drift: tuple[Drift, ...] = ()
    collisions: tuple[Collision, ...] = ()
    unmet: tuple[Unmet, ...] = ()
    broken_records: tuple[str, ...] = ()
    dangling: tuple[str, ...] = ()
    """Links that lead to nothing."""
    hard_linked: int = 0
    """Files that share their content with another name, such as one in a cache."""
    system_packages: bool = False
    """Whether its pyvenv.cfg lets the system's packages in, and with them the user's."""
    libraries: tuple[str, ...] = ()
    """The CUDA and torch libraries, whose names a search path could shadow."""
    packages: dict[str, str] = field(default_factory=dict)
    """The tree digest of each package; empty where there is no seal."""
    tree_digest: Reading[str]
    interpreter: Reading[Interpreter]
    header: Reading[str]
    """The interpreter's Python.h, without which nothing can be compiled against it."""
    stdlib_sha256: Reading[str]
    """Of the interpreter's standard library; read only when every byte is."""

    @property
    def replaced(self) -> str:
        """How the interpreter is not the one that was sealed; empty when it is, or when there is no seal."""
        seal, python = self.seal, self.interpreter
        if not isinstance(seal, Seal):
            return ""
        if isinstance(python, NotApplicable):
            return f"{python.why}; the venv was sealed with {seal.interpreter} (Python {seal.python})"
        if isinstance(python, Interpreter) and python.sha256 != seal.interpreter_sha256:
            was = f"{seal.interpreter} {seal.interpreter_sha256[:12]}"
            return f"{python.path} is {python.sha256[:12]}; the venv was sealed with {was}"
        if isinstance(self.stdlib_sha256, str) and self.stdlib_sha256 != seal.stdlib_sha256:
            return f"the standard library of {seal.interpreter} is not the one that the venv was sealed with"
        return ""

    def foreign(self, lock: Lock) -> frozenset[str]:
        """The distributions that are not as locked: each has its own finding, and what follows from it has none."""
        as_locked = {
            one.name
            for one in self.distributions
            if one.origin == "index" and lock.versions.get(one.name) == one.version
        }
        return frozenset({*lock.versions, *(one.name for one in self.distributions)} - as_locked)

    def unexplained(self, how: str, lock: Lock) -> tuple[Drift, ...]:
        """The drift of one kind that no other finding tells: one cause, one finding."""
        foreign, replaced = self.foreign(lock), bool(self.replaced)
        told = {*self.dangling, *(each.path for each in self.collisions if how == "changed")}
        doubles = [
            _folded(f"/{one.name}-{one.version}.dist-info/")
            for one in self.distributions
            if lock.versions.get(one.name, one.version) != one.version
        ]
        links = {each.path for each in self.drift if each.how == "unowned"} if how == "missing" else set()
        return tuple(
            each
            for each in self.drift
            if each.how == how
            and each.path not in told
            and not (each.owner and foreign.issuperset(each.owner.split(", ")))
            and not (replaced and each.path.startswith("bin/python"))
            and not (each.path.endswith(".dist-info/RECORD") and each.owner in self.broken_records)
            and not any(double in _folded(each.path) for double in doubles)
            and links.isdisjoint(each.folders)
        )


def _folded(text: str) -> str:
    """A name of a distribution however it is written."""
    return re.sub(r"[-_.]+", "-", text).lower()
