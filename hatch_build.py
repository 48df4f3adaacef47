"""At build time: the manifest that vouches for a wheel's bundled files, where no git repository stands beside them."""

import atexit
import hashlib
import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUNDLED = "dflash_env/_bundled/"
SETTINGS = "pyproject.toml"
COMMIT = "COMMIT"
"""In an sdist: the commit it was made from, for the wheel that is built from it."""


class ManifestHook(BuildHookInterface):  # type: ignore[type-arg]  # hatchling's generic parameter is its own business
    """Adds `manifest.json` to a wheel and `COMMIT` to an sdist."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it packs."""
        if version == "editable":
            return
        commit = self._commit()
        if self.target_name == "sdist":
            build_data["force_include"][self._write(COMMIT, f"{commit}\n")] = COMMIT
        else:
            # `sources` in pyproject.toml maps folders only, and this one file holds the built-in profiles.
            build_data["force_include"][str(Path(self.root, SETTINGS))] = BUNDLED + SETTINGS
            manifest = json.dumps({"schema": 1, "commit": commit, "files": self._digests()}, indent=2) + "\n"
            build_data["force_include"][self._write("manifest.json", manifest)] = f"{BUNDLED}manifest.json"

    def _commit(self) -> str:
        recorded = Path(self.root, COMMIT)
        if recorded.is_file():
            return recorded.read_text().strip()
        commit = self._git("rev-parse", "HEAD").strip()
        paths = ("dflash_env", "checks", "trainer", "lockfiles", "pyproject.toml")
        if edited := self._git("status", "--porcelain", "--", *paths):
            raise RuntimeError(f"commit these first; a wheel names the commit that it was built from:\n{edited}")
        return commit

    def _git(self, *arguments: str) -> str:
        done = subprocess.run(["git", "-C", self.root, *arguments], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"build dflash-env from a git clone or its sdist: {done.stderr.strip()}")
        return done.stdout

    def _digests(self) -> dict[str, str]:
        files = self.build_config.builder.recurse_included_files()
        packed = {file.distribution_path: file.path for file in files}
        packed[BUNDLED + SETTINGS] = str(Path(self.root, SETTINGS))
        return {
            name.removeprefix(BUNDLED): hashlib.sha256(Path(path).read_bytes()).hexdigest()
            for name, path in sorted(packed.items())
        }

    @staticmethod
    def _write(name: str, text: str) -> str:
        folder = Path(tempfile.mkdtemp(prefix="dflash-env-build-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        (folder / name).write_text(text)
        return str(folder / name)
