"""What the user wrote: `[tool.dflash-env]` of the nearest project, over the profiles that come with the tool."""

import os
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dflash_env import bundle, codec
from dflash_env import lock as locks
from dflash_env.errors import Failure
from dflash_env.facts import Lock, Machine, MachineGpus, MachineHost, Profile


@dataclass(frozen=True, kw_only=True)
class ProfileTable:
    """`[tool.dflash-env.profiles.<name>]`."""

    lock: str
    machine: str
    config: str
    gpus: int
    targets: int
    drafters: int
    colocated: bool = False
    compile: bool = True


@dataclass(frozen=True, kw_only=True)
class Table:
    """`[tool.dflash-env]`."""

    default_profile: str = "tiny"
    state: str = ".dflash"
    source: tuple[str, ...] = ()
    profiles: dict[str, ProfileTable] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class MachineTable:
    """`lockfiles/machines/<name>.toml`."""

    gpus: MachineGpus
    host: MachineHost


SOURCE = ("dflash_env", "trainer", "checks", "lockfiles", "pyproject.toml")
"""What is always held against HEAD: the gate, what it hands off to, and what it judges by. Settings only add to it."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """The decoded settings and the folders they are relative to."""

    project: Path
    """The folder whose pyproject.toml was read, or the working folder where none has a `[tool.dflash-env]`."""
    state: Path
    table: Table

    def profile(self, name: str | None) -> Profile:
        """A profile by name; the default one for None."""
        wanted = name or self.table.default_profile
        if wanted not in self.table.profiles:
            raise Failure(
                f"there is no profile {wanted!r}{codec.did_you_mean(wanted, self.table.profiles)}",
                f"use one of {', '.join(self.table.profiles)}, or add [tool.dflash-env.profiles.{wanted}] to "
                f"{self.project / 'pyproject.toml'}",
            )
        profile = Profile(name=wanted, **vars(self.table.profiles[wanted]))
        ranks = profile.targets if profile.colocated else profile.targets + profile.drafters
        place = f"change it in [tool.dflash-env.profiles.{wanted}]"
        if min(profile.targets, profile.drafters) < 1 or profile.gpus < 0:
            raise Failure(f"profile {wanted}: targets and drafters are 1 or more, gpus 0 or more", place)
        if profile.gpus not in (0, ranks):
            raise Failure(
                f"profile {wanted} asks for {profile.gpus} GPUs, and its split takes {ranks} (one process a GPU)",
                f"make gpus equal to {ranks}, or change targets and drafters, in [tool.dflash-env.profiles.{wanted}]",
            )
        return profile

    def lockfile(self, relative: str) -> Path:
        """A file below `lockfiles/`: the project's own, else the bundled one."""
        own, bundled = self.project / "lockfiles" / relative, bundle.root() / "lockfiles" / relative
        return bundled if bundled.exists() and not own.exists() else own

    @property
    def source(self) -> tuple[str, ...]:
        """The files and folders of the tool's own tree that are held against HEAD."""
        return tuple(dict.fromkeys((*SOURCE, *self.table.source)))

    def expectations(self, profile: Profile) -> tuple[Path, ...]:
        """The files that a profile's verdict and its training rest on."""
        files = [self.lockfile(f"{profile.lock}.txt"), self.lockfile(f"machines/{profile.machine}.toml")]
        if _section(self.project) is not None:
            files.append(self.project / "pyproject.toml")
        if profile.config.endswith(".toml"):
            files.append(self.project / profile.config)
        return tuple(files)

    def lock(self, profile: Profile) -> Lock:
        """The profile's training lock."""
        return locks.read(self.lockfile(f"{profile.lock}.txt"))

    def machine(self, profile: Profile) -> Machine:
        """The profile's machine file."""
        path = self.lockfile(f"machines/{profile.machine}.toml")
        if not path.exists():
            raise Failure(
                f"profile {profile.name} names the machine {profile.machine!r}, and there is no {path}",
                f"write lockfiles/machines/{profile.machine}.toml (see lockfiles/README.md), or name one of "
                + ", ".join(sorted(self._machines())),
            )
        table = _decode(MachineTable, _toml(path), path, document=True)
        return Machine(name=profile.machine, gpus=table.gpus, host=table.host)

    def _machines(self) -> set[str]:
        folders = (root / "lockfiles" / "machines" for root in (self.project, bundle.root()))
        return {path.stem for folder in folders for path in folder.glob("*.toml")}


def load(start: Path) -> Config:
    """Find the project at or above `start`, and read its settings over the bundled ones."""
    own = next((folder for folder in (start, *start.parents) if _section(folder) is not None), None)
    built_in = _table(bundle.root())
    project = own or start
    table = built_in
    if own is not None and own != bundle.root():
        table = _table(own)
        table = replace(table, profiles={**built_in.profiles, **table.profiles})
    state = Path(os.path.expandvars(table.state)).expanduser()
    return Config(project=project, state=project / state, table=table)


def _section(folder: Path) -> dict[str, Any] | None:
    path = folder / "pyproject.toml"
    if not path.is_file():
        return None
    tools = _toml(path).get("tool", {})
    if "dflash_env" in tools:
        raise Failure(f"{path}: tool.dflash_env: unknown; did you mean 'tool.dflash-env'?", "write it with a hyphen")
    section = tools.get("dflash-env")
    return section if isinstance(section, dict) else None


def _table(folder: Path) -> Table:
    return _decode(Table, _section(folder) or {}, folder / "pyproject.toml", "tool.dflash-env")


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Failure(f"{path} is not valid TOML: {error}", "correct the file at that place") from None
    except OSError as error:
        raise Failure(f"{path} cannot be read: {error.strerror}", "make the file readable") from None


def _decode(kind: type[codec.T], data: object, path: Path, where: str = "", document: bool = False) -> codec.T:
    try:
        return codec.decode(kind, codec.open_document(data) if document else data, where)
    except codec.DecodeError as error:
        raise Failure(f"{path}: {error}", "correct that key; docs/settings.md lists what may stand there") from None
