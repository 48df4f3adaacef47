"""Every noun of the tool: what is expected of a machine and what was read from it, frozen."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, TypeAlias, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Unknown:
    """A reading that could not be taken. It is never a pass."""

    TAG: ClassVar[str] = "unknown"
    code: str
    """A stable word: `timeout`, `denied`, `failed`, `malformed`, `missing`."""
    text: str


@dataclass(frozen=True, kw_only=True)
class NotApplicable:
    """A reading that this machine does not have, such as the driver version where no driver is."""

    TAG: ClassVar[str] = "not_applicable"
    why: str


Reading: TypeAlias = T | NotApplicable | Unknown
Section: TypeAlias = T | Unknown


# ---- expectations: what the user committed -------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Profile:
    """One way to use a machine: which lock, which machine file, how many GPUs, and who does what on them."""

    name: str
    lock: str
    machine: str
    config: str
    """The trainer's configuration: a name in `trainer/configs/`, or a path."""
    gpus: int
    targets: int
    drafters: int
    colocated: bool = False
    """Each rank is both target and drafter."""
    compile: bool = True

    def spares(self, family: str) -> str:
        """Why this profile does not need a family of checks; empty when it does."""
        if family == "gpu" and self.gpus == 0:
            return f"profile {self.name} uses no GPU"
        if family == "cache" and not self.compile:
            return f"profile {self.name} trains eager, nothing is compiled"
        return ""


@dataclass(frozen=True, kw_only=True)
class Locked:
    """One package of a lock: its normalised name, version, and the sha256 of the one artifact that may be installed."""

    name: str
    version: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Lock:
    """A training lock (lockfiles/README.md)."""

    name: str
    digest: str
    """sha256 over what is to be installed where: the package lines, Python, platform."""
    python: str
    platform: str
    cuda: str
    unpacked_bytes: int
    """The size of the venv it unpacks to."""
    packages: tuple[Locked, ...]

    @property
    def versions(self) -> dict[str, str]:
        """Version by normalised name."""
        return {package.name: package.version for package in self.packages}


@dataclass(frozen=True, kw_only=True)
class MachineGpus:
    """What a machine file says of the GPUs."""

    count: int


@dataclass(frozen=True, kw_only=True)
class MachineHost:
    """What a machine file says of the host."""

    shm_bytes: int
    disk_bytes: int


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What the machine must be: `lockfiles/machines/<name>.toml`."""

    name: str
    gpus: MachineGpus
    host: MachineHost


# ---- readings: what was found --------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Disk:
    """The file system under a folder that a run writes to."""

    folder: str
    purpose: str
    free_bytes: Reading[int]


@dataclass(frozen=True, kw_only=True)
class Host:
    """The machine without its GPUs."""

    platform: str
    python: str
    cores: int
    memory_bytes: Reading[int]
    shm_bytes: Reading[int]
    disks: tuple[Disk, ...]


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """One device as NVML lists it."""

    index: int
    uuid: Reading[str]
    name: Reading[str]
    memory_bytes: Reading[int]


@dataclass(frozen=True, kw_only=True)
class Gpus:
    """What NVML answers. No driver is a fact, not an Unknown."""

    driver: Reading[str]
    devices: tuple[Gpu, ...]


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """An installed distribution, by the metadata in site-packages."""

    name: str
    version: str


@dataclass(frozen=True, kw_only=True)
class Seal:
    """Written last, beside a finished venv: what it was built from."""

    key: str
    lock: str
    lock_digest: str
    python: str
    interpreter: str
    interpreter_sha256: str
    built: str
    """UTC, ISO 8601."""


@dataclass(frozen=True, kw_only=True)
class Interpreter:
    """The Python that a venv is made with: its base executable, so that no venv stands behind a venv."""

    path: str
    version: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Venv:
    """The training venv that `current` names for the profile's lock."""

    path: str | NotApplicable
    """The resolved folder; not applicable when none was built."""
    seal: Seal | NotApplicable
    distributions: tuple[Distribution, ...]


@dataclass(frozen=True, kw_only=True)
class Change:
    """A tracked file that is not the committed one."""

    path: str
    how: str
    """`modified`, `deleted`, `mode`, or `replaced` (by a link or a folder)."""
    expected: str
    """The committed content's id."""


@dataclass(frozen=True, kw_only=True)
class Repo:
    """The code and lockfiles against what vouches for them: git HEAD in a clone, a manifest in an installed wheel."""

    vouched_by: str
    commit: str
    files: int
    changes: tuple[Change, ...]
    strays: tuple[str, ...]
    """Files nobody committed that Python would import from the source folders or the project's top level."""
    uncommitted: tuple[str, ...]
    """The expectations in use (lock, machine file) that no commit vouches for, and why."""


@dataclass(frozen=True, kw_only=True)
class Cache:
    """The compile cache's folder."""

    path: str
    kind: Reading[str]
    """`folder`, `link` or `file`; not applicable when nothing is there."""
    owner_uid: Reading[int]
    our_uid: int
    mode: Reading[int]
    """Permission bits."""


@dataclass(frozen=True, kw_only=True)
class Variable:
    """An environment variable that this tool knows by name; no other is ever read."""

    name: str
    value: str


@dataclass(frozen=True, kw_only=True)
class Environ:
    """What the shell and the loader would inject into a Python started here."""

    variables: tuple[Variable, ...]
    preload_file: Reading[tuple[str, ...]]
    """Libraries listed in /etc/ld.so.preload."""

    def value(self, name: str) -> str:
        """A variable's value, empty when it is not set."""
        return next((variable.value for variable in self.variables if variable.name == name), "")


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Everything a verdict rests on: expectations first, then readings."""

    profile: Profile
    lock: Lock
    machine: Machine
    host: Section[Host]
    gpus: Section[Gpus]
    venv: Section[Venv]
    repo: Section[Repo]
    cache: Section[Cache]
    environ: Section[Environ]

    def unknowns(self) -> Iterator[tuple[str, Unknown]]:
        """Every reading that could not be taken, with its dotted name."""
        yield from _unknowns("", self)


def _unknowns(where: str, value: object) -> Iterator[tuple[str, Unknown]]:
    if isinstance(value, Unknown):
        yield where, value
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            name = f"{where}.{field.name}" if where else field.name
            yield from _unknowns(name, getattr(value, field.name))
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from _unknowns(f"{where}[{index}]", item)


SECTIONS: tuple[str, ...] = tuple(field.name for field in dataclasses.fields(Facts))
