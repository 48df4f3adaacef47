"""Every noun of the tool: what is expected of a machine and what was read from it, frozen."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from dflash_env.facts.cache import Cache
from dflash_env.facts.environ import Environ, SettingsFile, Variable
from dflash_env.facts.expectations import Lock, Locked, Machine, MachineGpus, MachineHost, Profile
from dflash_env.facts.gpus import Gpu, Gpus
from dflash_env.facts.host import SYSTEM_PATH, Disk, Host
from dflash_env.facts.reading import NotApplicable, Reading, Section, T, Unknown
from dflash_env.facts.repo import Change, Checkout, Hidden, Patch, Repo, Submodule
from dflash_env.facts.venv import Collision, Distribution, Drift, Interpreter, Seal, Unmet, Venv

__all__ = [
    "SECTIONS",
    "SYSTEM_PATH",
    "Cache",
    "Change",
    "Checkout",
    "Collision",
    "Disk",
    "Distribution",
    "Drift",
    "Environ",
    "Facts",
    "Gpu",
    "Gpus",
    "Hidden",
    "Host",
    "Interpreter",
    "Lock",
    "Locked",
    "Machine",
    "MachineGpus",
    "MachineHost",
    "NotApplicable",
    "Patch",
    "Profile",
    "Reading",
    "Repo",
    "Seal",
    "Section",
    "SettingsFile",
    "Submodule",
    "T",
    "Unknown",
    "Unmet",
    "Variable",
    "Venv",
]


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
