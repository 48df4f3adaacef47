"""A committed copy of the working tree to run the real command in: tests judge what is written, not only HEAD."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
INJECTED = ("PYTHONPATH", "PYTHONHOME", "LD_PRELOAD", "VIRTUAL_ENV", "GIT_DIR", "NO_COLOR", "COLUMNS")


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder as somebody with a name."""
    named = ["-c", "user.name=test", "-c", "user.email=test@example.invalid", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", "-C", folder, *named, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


@dataclass(frozen=True)
class Clone:
    """A clone of the project, and the command run in it."""

    root: Path
    home: Path

    def environment(self, **more: str) -> dict[str, str]:
        """A newcomer's environment: an empty home, nothing injected; this clone's code and no other."""
        kept = {name: value for name, value in os.environ.items() if name not in INJECTED}
        return kept | {"HOME": str(self.home), "PYTHONPATH": str(self.root)} | more

    def run(self, *arguments: str, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
        """`dflash-env ARGUMENTS`; PYTHONPATH is dropped again before the code under test looks at it."""
        start = "import os, sys; os.environ.pop('PYTHONPATH'); from dflash_env.cli import main; main()"
        argv = [sys.executable, "-P", "-c", start, *arguments]
        return subprocess.run(
            argv, cwd=cwd or self.root, env=self.environment(**env), capture_output=True, text=True, check=False
        )

    def commit(self) -> None:
        """Commit everything in the clone."""
        git(self.root, "add", "--all")
        git(self.root, "commit", "--quiet", "--allow-empty", "--message", "a change")


@pytest.fixture(scope="session")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The working tree's files, committed in a repository of their own."""
    folder = tmp_path_factory.mktemp("pristine")
    listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in listed.split("\0"):
        if name and (ROOT / name).is_file():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "the project")
    return folder


@pytest.fixture
def make_clone(pristine: Path, tmp_path: Path) -> Callable[[str], Clone]:
    """Clone the project into a folder of this name."""

    def make(name: str = "clone") -> Clone:
        subprocess.run(["git", "clone", "--quiet", pristine, tmp_path / name], check=True)
        home = tmp_path / "home"
        home.mkdir(exist_ok=True)
        return Clone(tmp_path / name, home)

    return make


@pytest.fixture
def clone(make_clone: Callable[[str], Clone]) -> Clone:
    """A fresh clone: nothing built, nothing cached."""
    return make_clone("clone")


@pytest.fixture
def built(clone: Clone) -> Clone:
    """A clone that shares the one full training venv and the caches of this working tree; its runs are its own."""
    state = ROOT / ".dflash"
    assert (state / "venvs" / "current" / "cu12-cp311").exists(), "no training venv: run the tests with `make test`"
    (clone.root / ".dflash").mkdir()
    for shared in ("venvs", "caches"):
        (clone.root / ".dflash" / shared).symlink_to(state / shared)
    return clone


@pytest.fixture
def wheelhouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels that uv takes for the whole world, and a uv cache of this test's own."""
    folder = tmp_path / "wheelhouse"
    folder.mkdir()
    monkeypatch.setenv("UV_FIND_LINKS", str(folder))
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder
