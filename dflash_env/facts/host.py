"""The machine without its GPUs."""

from dataclasses import dataclass

from dflash_env.facts.reading import Reading

SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
"""Where the trainer finds programs besides its venv's; the shell's PATH does not reach it."""


STATE, ROOT, RUNS, DOWNLOADS = "venvs, caches and runs", "venvs and caches", "runs", "downloaded packages"
"""What a folder is for. Runs have a disk of their own only where they lie on another file system."""


@dataclass(frozen=True, kw_only=True)
class Disk:
    """The file system under a folder that a run writes to."""

    folder: str
    purpose: str
    free_bytes: Reading[int]

    @property
    def judged(self) -> bool:
        """Whether a run writes there; packages are downloaded only by a build, which looks for itself."""
        return self.purpose != DOWNLOADS


@dataclass(frozen=True, kw_only=True)
class Host:
    """The machine without its GPUs."""

    platform: str
    libc: str
    """Such as `glibc 2.36`."""
    compiler: Reading[str]
    """The C compiler that Triton and Inductor would start: the first of gcc, clang, cc on SYSTEM_PATH."""
    python: str
    cores: int
    memory_bytes: Reading[int]
    shm_bytes: Reading[int]
    shm_free_bytes: Reading[int]
    disks: tuple[Disk, ...]
