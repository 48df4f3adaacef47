"""A machine to have an accident on: a committed project with a small training venv, judged by the real command."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from dflash_env import build, config, gate, launch, plan
from dflash_env import lock as locks
from dflash_env.collect import programs, seal, tree, venv
from dflash_env.facts import Locked, Venv
from dflash_env.state import State
from tests import wheels
from tests.conftest import git

LOCK = "stack-cp311"
PROFILES = """
[tool.dflash-env.profiles.{name}]
lock = "stack-cp311"
machine = "{name}"
config = "tiny"
gpus = 0
targets = 1
drafters = 1
colocated = true
compile = false
"""
MACHINE = "schema = 1\n[gpus]\ncount = 0\n[host]\nshm_bytes = {shm}\ndisk_bytes = {disk}\n"
MACHINES = {"bench": (67_108_864, 1_000_000), "large": (17_179_869_184, 2_000_000_000)}
"""Shared memory and disk: of a default container, and of a node that trains in earnest."""

HEADER = {
    "schema": "1",
    "input": "stack.in sha256:0",
    "exclude-newer": "2026-11-30",
    "python": "3.11",
    "platform": "x86_64-manylinux_2_28",
    "cuda": "12.8",
    "uv": "0",
    "unpacked-bytes": "100000",
    "tree-digest": "pending",
}
SITE = "lib/python3.11/site-packages"
NVIDIA = {"nvidia/__init__.py": ""}
NCCL, NVSHMEM = "nvidia/nccl/lib/libnccl.so.2", "nvidia/nvshmem/lib/libnvshmem_host.so.3"
TRIPWIRE = (
    "import os\nif 'TRIPWIRE' in os.environ:\n    open(os.environ['TRIPWIRE'], 'a').write(str(os.getpid()) + '\\n')\n"
)
REQUIRED = ("triton==3.5.1; platform_system == 'Linux'", "nvidia-nccl-cu12==2.27.5", "winpty; sys_platform == 'win32'")


def stack(house: Path) -> list[wheels.Wheel]:
    """The wheels of the lock: the parts of a CUDA 12 training stack that accidents happen to, in miniature."""
    torch = {"torch/__init__.py": TRIPWIRE, "torch/version.py": "cuda = '12.8'\n"}
    cutlass = {"nvidia_cutlass_dsl.pth": "nvidia_cutlass_dsl\n", "nvidia_cutlass_dsl/cute/__init__.py": ""}
    jitlink = {"nvidia/nvjitlink/lib/libnvJitLink.so.12": "12.8"}
    return [
        wheels.make(house, "torch", "2.9.1+cu128", REQUIRED, files=torch),
        wheels.make(house, "triton", "3.5.1"),
        wheels.make(house, "flash-attn", "2.8.3+cu12torch2.9", ("torch",)),
        wheels.make(house, "nvidia-nccl-cu12", "2.27.5", files=NVIDIA | {NCCL: "NCCL for 12"}),
        wheels.make(house, "nvidia-nvshmem-cu12", "3.4.5", files=NVIDIA | {NVSHMEM: "NVSHMEM for 12"}),
        wheels.make(house, "nvidia-nvjitlink-cu12", "12.8.93", files=NVIDIA | jitlink),
        wheels.make(house, "nvidia-cutlass-dsl", "4.3.0", files=cutlass),
    ]


@dataclass(frozen=True)
class Verdict:
    """What a whole report says."""

    exit_code: int
    errors: dict[str, list[str]]
    """The messages of each check that blocks, by its id."""
    warnings: dict[str, list[str]]
    fixes: dict[str, list[str]]
    printed: str

    def says(self, check: str, *words: str) -> None:
        """That a finding of a check, or its remedy, holds all of these words."""
        told = [*self.errors.get(check, ()), *self.warnings.get(check, ()), *self.fixes.get(check, ())]
        lacking = [word for word in words if not any(word in each for each in told)]
        assert not lacking, f"{check} says {told}, and nothing of {lacking}"


@dataclass(frozen=True)
class Station:
    """A committed project, its sealed training venv, the user's home, and the wheels that the world offers."""

    root: Path
    home: Path
    house: Path

    @property
    def lockfile(self) -> Path:
        return self.root / "lockfiles" / f"{LOCK}.txt"

    @property
    def state(self) -> State:
        return State(self.root / ".dflash")

    @property
    def folder(self) -> Path:
        """The training venv."""
        return self.state.current(LOCK).resolve()

    @property
    def site(self) -> Path:
        return self.folder / SITE

    def shell(self, **variables: str) -> dict[str, str]:
        """The shell of a user with these variables, and no more than a shell must have."""
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8"} | variables

    def run(self, *arguments: str, before: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
        """`dflash-env ARGUMENTS` of this project; `before` are shell commands in a mount namespace of its own."""
        start = f"import sys; sys.path.insert(0, {str(self.root)!r}); from dflash_env.cli import main; main()"
        argv = [sys.executable, "-P", "-c", start, *arguments]
        if before:
            argv = ["unshare", "-Urm", "sh", "-ec", f'{before}\nexec "$@"', "sh", *argv]
        env = self.shell(**variables)
        return subprocess.run(argv, cwd=self.root, env=env, capture_output=True, text=True, check=False)

    def doctor(self, profile: str = "bench", before: str = "", **variables: str) -> Verdict:
        """The whole verdict in a shell with these variables."""
        done = self.run("doctor", "--json", "--profile", profile, before=before, **variables)
        assert done.stdout, done.stderr
        document = json.loads(done.stdout)
        assert document["exit_code"] == done.returncode
        wrong = [each for each in document["results"] if each["findings"] or each["outcome"] == "crashed"]

        def told(what: str, severity: str) -> dict[str, list[str]]:
            return {
                each["check"]: [finding[what] for finding in each["findings"]]
                for each in wrong
                if severity in ("any", each["severity"])
            }

        return Verdict(
            done.returncode, told("message", "error"), told("message", "warning"), told("fix", "any"), done.stdout
        )

    def planned(self, verdict: Verdict) -> plan.Step:
        """The trainer that such a verdict lets start."""
        saved = self.home / "report.json"
        saved.write_text(verdict.printed)
        settings, report = config.load(self.root), gate.again(saved)
        return launch.planned(settings, report, launch.folder(settings, report, "train"), ()).trainer

    def python(self, code: str, **variables: str) -> str:
        """What the training venv's own Python prints, started by hand; it leaves no bytecode behind."""
        argv = [self.folder / "bin" / "python", "-c", code]
        env = self.shell(PYTHONDONTWRITEBYTECODE="1", **variables)
        done = subprocess.run(argv, cwd=self.home, env=env, capture_output=True, text=True, check=False)
        return done.stdout.strip() or done.stderr.strip()

    def uv(self, *arguments: str | Path) -> str:
        """`uv pip …` on the training venv, as somebody types it who does not know better; what it said."""
        offered = ("--no-index", "--find-links", self.house, "--link-mode", "copy")
        argv = [programs.find_uv(), "pip", *arguments, "--no-config", "--python", self.folder / "bin" / "python"]
        argv += offered if arguments[0] == "install" else ()
        env = self.shell(UV_CACHE_DIR=str(self.home / "uv"))
        return subprocess.run(argv, env=env, check=True, capture_output=True, text=True).stderr

    def offer(self, name: str, version: str, *requires: str, **files: str) -> None:
        """Put a wheel on the index that `uv` above takes for the whole world."""
        wheels.make(self.house, name, version, requires, files=files or None)

    def relock(self, *packages: Locked) -> None:
        """Lock these packages instead, and commit that."""
        self.lockfile.write_text(locks.LockFile(header=HEADER, packages=packages).text())
        self.commit()

    def commit(self) -> None:
        git(self.root, "add", "--all")
        git(self.root, "commit", "--quiet", "--message", "a change")

    def rebuild(self) -> subprocess.CompletedProcess[str]:
        """The remedy that most findings name."""
        return self.run("rebuild", "--profile", "bench", "--find-links", str(self.house))


@pytest.fixture(scope="session")
def first_station(pristine: Path, tmp_path_factory: pytest.TempPathFactory) -> Station:
    """The one that every test copies, since a build takes a while. Its lock states the digests of its tree."""
    folder = tmp_path_factory.mktemp("station")
    station = Station(folder / "project", folder / "home", folder / "house")
    station.home.mkdir()
    station.house.mkdir()
    git(folder, "clone", "--quiet", str(pristine), str(station.root))
    with (station.root / "pyproject.toml").open("a") as settings:
        settings.write("".join(PROFILES.format(name=name) for name in MACHINES))
    for name, (shm, disk) in MACHINES.items():
        machine = station.root / "lockfiles" / "machines" / f"{name}.toml"
        machine.write_text(MACHINE.format(shm=shm, disk=disk))
    made = locks.LockFile(header=HEADER, packages=tuple(each.locked for each in stack(station.house)))
    station.lockfile.write_text(made.text())
    lock = locks.read(station.lockfile)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        build.provide(station.state, lock, station.lockfile, build.Supply(find_links=str(station.house)))
    found = venv.collect(station.state, lock)
    assert isinstance(found, Venv) and isinstance(found.tree_digest, str)
    packages = tuple(replace(each, tree=found.packages[each.name]) for each in lock.packages)
    header = HEADER | {"tree-digest": found.tree_digest}
    station.lockfile.write_text(locks.LockFile(header=header, packages=packages).text())
    station.commit()
    return station


@pytest.fixture
def shell(first_station: Station, tmp_path: Path) -> Station:
    """A healthy machine that is not this test's own: only the home and the shell are."""
    (tmp_path / "home").mkdir()
    return replace(first_station, home=tmp_path / "home")


@pytest.fixture
def station(first_station: Station, tmp_path: Path) -> Station:
    """A healthy machine of this test's own; whoever uses it is root, or has given himself the write bits."""
    copy = Station(tmp_path / "project", tmp_path / "home", tmp_path / "house")
    for was, now in ((first_station.root, copy.root), (first_station.house, copy.house)):
        shutil.copytree(was, now, symlinks=True)
    copy.home.mkdir()
    for here, _, files in os.walk(copy.folder):
        for path in (Path(here), *(Path(here) / name for name in files)):
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | 0o200)
    # A copy has inodes and times of its own; the seal is to be of this tree, so that a quick look sees what follows.
    sealed = copy.state.manifest(copy.folder)
    manifest = seal.read_manifest(sealed)
    entries = {path: tree.entry(manifest.entries[path].sha256, now) for path, now in tree.walk(copy.folder).items()}
    sealed.write_text(seal.Manifest(entries, manifest.owners).text())
    return copy
