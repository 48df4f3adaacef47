"""What the collectors are shown: a small project in git, and a small real venv; both made anew for each test."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from dflash_env import build, bundle
from dflash_env.check import examine
from dflash_env.collect import programs, repo, seal, tree, venv
from dflash_env.facts import Lock, Repo, Seal, Section, Venv
from dflash_env.report import Report
from dflash_env.state import State
from tests import healthy, wheels

SOURCE = ("trainer", "checks", "pyproject.toml")


@dataclass(frozen=True)
class Project:
    """A project's folder, which may stand below the repository's."""

    root: Path
    repository: Path

    def git(self, *arguments: str, data: bytes = b"") -> str:
        """Run git in the repository, as its user would."""
        done = subprocess.run(
            ["git", "-C", self.repository, *arguments], input=data, capture_output=True, check=True, env=self.env()
        )
        return done.stdout.decode().strip()

    def env(self) -> dict[str, str]:
        """What git is started with: a name, and no settings but the repository's own."""
        who = {
            f"GIT_{role}_{what}": "test@example.invalid"
            for role in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        return {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull} | who

    def write(self, name: str | bytes, content: str | bytes = "pass\n") -> Path:
        """Write a file below the root."""
        path = self.root / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def commit(self) -> str:
        """Commit everything, ignored files too; the commit's id."""
        self.git("add", "--all", "--force")
        self.git("commit", "--quiet", "--allow-empty", "--message", "a change")
        return self.git("rev-parse", "HEAD")

    def collect(self, *used: Path) -> Section[Repo]:
        """What the collector says of it, and of the files in use as expectations."""
        return repo.collect(self.root, SOURCE, healthy.LOCK, used)

    def found(self, *used: Path) -> Repo:
        """The same, where an Unknown would be a failure of the test."""
        section = self.collect(*used)
        assert isinstance(section, Repo), section
        return section

    def changes(self) -> dict[str, str]:
        """How each changed file differs."""
        return {change.path: change.how for change in self.found().changes}

    def below(self, folder: str) -> "Project":
        """The project in a subfolder of the same repository."""
        return replace(self, root=self.repository / folder)


@pytest.fixture
def empty(tmp_path: Path) -> Project:
    """A repository without a commit."""
    made = Project(root=tmp_path / "project", repository=tmp_path / "project")
    made.root.mkdir()
    made.git("init", "--quiet", "--initial-branch=main")
    return made


@pytest.fixture
def project(empty: Project) -> Project:
    """A committed project of four files."""
    empty.write("trainer/loop.py", "print('loop')\n")
    empty.write("trainer/run.sh", "#!/bin/sh\n").chmod(0o755)
    empty.write("checks/gpu/lost.py")
    empty.write("pyproject.toml", "[project]\n")
    empty.commit()
    return empty


@dataclass(frozen=True)
class Built:
    """A training venv of small wheels, really built, sealed and made current, and the wheels it came from."""

    root: Path
    lock: Lock
    wheelhouse: Path

    @property
    def state(self) -> State:
        return State(self.root)

    @property
    def folder(self) -> Path:
        return self.state.current(self.lock.name).resolve()

    @property
    def site(self) -> Path:
        return venv.site_packages(self.folder, "3.11")

    def name(self, path: Path) -> str:
        """A path as the facts name it."""
        return str(path.relative_to(self.folder))

    def collect(self, deep: bool = False) -> Section[Venv]:
        return venv.collect(self.state, self.lock, deep)

    def found(self, deep: bool = False) -> Venv:
        """What the collector says; an Unknown would be a failure of the test."""
        section = self.collect(deep)
        assert isinstance(section, Venv), section
        return section

    def drift(self, deep: bool = False) -> dict[str, str]:
        """How each file drifted, by its path in site-packages (or in the venv, where it lies elsewhere)."""
        inside = f"{self.name(self.site)}/"
        return {each.path.removeprefix(inside): each.how for each in self.found(deep).drift}

    def report(self, deep: bool = False) -> Report:
        """The whole verdict on an otherwise healthy machine that this venv is at home on."""
        found = self.collect(deep)
        host = healthy.HOST
        if isinstance(found, Venv) and isinstance(found.seal, Seal):
            host = replace(host, platform=found.seal.platform, libc=found.seal.libc)
        facts = replace(healthy.FACTS, profile=healthy.TINY, lock=self.lock, host=host, venv=found)
        return Report(taken="2026-11-30T20:00:00Z", facts=facts, results=examine(bundle.checks(), facts))

    def told(self, deep: bool = False) -> dict[str, list[str]]:
        """The findings by check."""
        results = self.report(deep).results
        return {each.check: [one.message for one in each.findings] for each in results if each.findings}

    def unlock(self) -> "Built":
        """Give the write bits back, as root would not even have to."""
        for here, _, files in os.walk(self.folder):
            for path in (Path(here), *(Path(here) / name for name in files)):
                if not path.is_symlink():
                    path.chmod(path.stat().st_mode | 0o200)
        return self

    def uv(self, *arguments: str | Path) -> None:
        """`uv pip …` as its user would type it, on this venv."""
        here = () if "--target" in arguments else ("--python", self.folder / "bin" / "python")
        # Neither the network nor the settings of whoever runs the tests: only the wheelhouse.
        only = ("--no-index", "--find-links", self.wheelhouse) if arguments[0] in ("install", "sync") else ()
        argv = [programs.find_uv(), "pip", *arguments, "--no-config", *here, *only]
        subprocess.run(argv, check=True, capture_output=True)


def _wheels(folder: Path) -> list[wheels.Wheel]:
    shared = {"nvidia/__init__.py": ""}
    cudnn = {"nvidia/cudnn/lib/libcudnn.so.9": "cuDNN for 12", "nvidia/cudnn/lib/libcudnn_ops.so.9": "ops for 12"}
    tools = {"beta/__init__.py": "", "beta/tool.sh": "#!/bin/sh\n", "beta/data.bin": "0123456789"}
    return [
        wheels.make(folder, "alpha", requires=("beta>=2",)),
        wheels.make(folder, "beta", "2.0", files=tools, executable=("beta/tool.sh",)),
        wheels.make(folder, "nvidia-cudnn-cu12", "9.10", files=shared | cudnn),
        wheels.make(folder, "nvidia-nccl-cu12", "2.27", files=shared | {"nvidia/nccl/lib/libnccl.so.2": "NCCL"}),
    ]


@pytest.fixture(scope="session")
def small_venv(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    """The venv that `built` copies, since a build takes most of a second. Its lock states the digests of its tree."""
    folder = tmp_path_factory.mktemp("small")
    wheelhouse, lockfile = folder / "wheelhouse", folder / "small-cp311.txt"
    wheelhouse.mkdir()
    with pytest.MonkeyPatch.context() as patched:
        for name, value in _world(wheelhouse, folder / "cache").items():
            patched.setenv(name, value)
        lock = wheels.write_lock(lockfile, *(each.locked for each in _wheels(wheelhouse)))
        build.provide(State(folder / "state"), lock, lockfile, build.Supply(find_links=str(wheelhouse)))
        made = Built(folder / "state", replace(lock, cuda="12.8"), wheelhouse)
        yield replace(made, lock=measured(made.lock, made.found()))


def _world(wheelhouse: Path, cache: Path) -> dict[str, str]:
    return {"UV_FIND_LINKS": str(wheelhouse), "XDG_CACHE_HOME": str(cache)}


def measured(lock: Lock, found: Venv) -> Lock:
    """A lock that states the digests of a venv."""
    assert isinstance(found.tree_digest, str)
    packages = tuple(replace(each, tree=found.packages[each.name]) for each in lock.packages)
    return replace(lock, tree_digest=found.tree_digest, packages=packages)


@pytest.fixture
def built(small_venv: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Built:
    """A venv of this test's own, sealed, whole, and with a wheelhouse to install more from."""
    shutil.copytree(small_venv.root, tmp_path / "state", symlinks=True)
    shutil.copytree(small_venv.wheelhouse, tmp_path / "wheelhouse")
    for name, value in _world(tmp_path / "wheelhouse", tmp_path / "cache").items():
        monkeypatch.setenv(name, value)
    made = replace(small_venv, root=tmp_path / "state", wheelhouse=tmp_path / "wheelhouse").unlock()
    settle(made)
    return made


def settle(made: Built) -> None:
    """Write the seal's inodes and times anew for a copy, so that a quick look has to notice what happens after it."""
    manifest = seal.read_manifest(made.state.manifest(made.folder))
    entries = {path: tree.entry(manifest.entries[path].sha256, now) for path, now in tree.walk(made.folder).items()}
    made.state.manifest(made.folder).write_text(seal.Manifest(entries, manifest.owners).text())
