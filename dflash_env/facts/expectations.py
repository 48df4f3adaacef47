"""What is expected of a machine: what the user committed."""

from dataclasses import dataclass


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
    tree: str = ""
    """The digest of the files it unpacks to; empty until a build was measured."""


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
    uv: str
    tree_digest: str
    """Of every file of the venv that is the same on all machines; `pending` until a build was measured."""
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
