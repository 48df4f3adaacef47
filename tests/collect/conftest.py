"""A small project in a git repository of its own, made anew for each test."""

import os
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from dflash_env.collect import repo
from dflash_env.facts import Repo, Section
from tests import healthy

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
