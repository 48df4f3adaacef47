"""The wheel owns one top-level name, carries what it needs inside, and works far from any clone."""

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import uv

from dflash_env.state import uv_cache
from tests.conftest import git

ROOT = Path(__file__).parent.parent.parent
BUNDLED = "dflash_env/_bundled/"


@pytest.fixture(scope="session")
def sdist(pristine: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("sdist", pristine, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="session")
def wheel(pristine: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", pristine, tmp_path_factory.mktemp("wheel"))


def build(target: str, source: Path, folder: Path) -> Path:
    argv = [sys.executable, "-P", "-m", "hatchling", "build", "-t", target, "-d", folder]
    subprocess.run(argv, cwd=source, check=True, capture_output=True)
    (made,) = folder.iterdir()
    return made


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh venv with the wheel in it; the path of its `dflash-env`."""
    folder = tmp_path_factory.mktemp("installed") / "venv"
    install = [uv.find_uv_bin(), "pip", "install", "--quiet", "--python", folder / "bin" / "python"]
    env = os.environ | {"UV_CACHE_DIR": str(uv_cache())}
    subprocess.run([uv.find_uv_bin(), "venv", "--quiet", "--python", sys.executable, folder], check=True, env=env)
    subprocess.run([*install, "--require-hashes", "-r", ROOT / "lockfiles" / "tool.txt"], check=True, env=env)
    subprocess.run([*install, "--no-deps", wheel], check=True, env=env)
    return folder / "bin" / "dflash-env"


@pytest.fixture
def decoys(tmp_path: Path) -> Path:
    """An unrelated folder, full of packages that must not be touched."""
    for name in ("checks", "trainer", "lockfiles"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('the decoy was imported')\n")
    return tmp_path


def test_one_top_level_name(wheel: Path) -> None:
    tops = {name.partition("/")[0] for name in contents(wheel)}
    assert tops == {"dflash_env", "dflash_env-0.1.0.dist-info"}


def test_carries_every_tracked_file_of_the_bundle_and_nothing_else(wheel: Path, pristine: Path) -> None:
    tracked = git(pristine, "ls-files", "checks", "trainer", "lockfiles", "pyproject.toml").split("\n")
    bundled = {name.removeprefix(BUNDLED) for name in contents(wheel) if name.startswith(BUNDLED)}
    assert bundled == {name for name in tracked if name} | {"manifest.json"}


def test_an_edited_tree_builds_no_wheel(pristine: Path, tmp_path: Path) -> None:
    edited = tmp_path / "edited"
    subprocess.run(["git", "clone", "--quiet", pristine, edited], check=True)
    (edited / "trainer" / "loop.py").write_text("print('laundered')\n")
    with pytest.raises(subprocess.CalledProcessError) as failure:
        build("wheel", edited, tmp_path)
    assert b"commit these first" in failure.value.stderr


def test_needs_no_torch(wheel: Path) -> None:
    metadata = contents(wheel)["dflash_env-0.1.0.dist-info/METADATA"].decode()
    needed = {line.split()[1].partition(">")[0] for line in metadata.splitlines() if line.startswith("Requires-Dist")}
    assert needed == {"click", "nvidia-ml-py", "packaging", "psutil", "uv"}


def test_the_manifest_names_the_commit_it_was_built_from(wheel: Path, pristine: Path) -> None:
    manifest = json.loads(contents(wheel)[f"{BUNDLED}manifest.json"])
    assert manifest["commit"] == git(pristine, "rev-parse", "HEAD").strip()
    assert "trainer/__init__.py" in manifest["files"]


def test_the_sdist_builds_the_same_wheel(sdist: Path, wheel: Path, tmp_path: Path) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    again = build("wheel", unpacked, tmp_path / "again")
    first, second = contents(wheel), contents(again)
    assert first.keys() == second.keys()
    assert {name for name in first if first[name] != second[name]} == set()


def doctor(installed: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "GIT_"))}
    return subprocess.run(
        [installed, "doctor", *arguments], cwd=cwd, env=kept, capture_output=True, text=True, check=False
    )


def test_works_in_a_folder_of_decoys(installed: Path, decoys: Path, pristine: Path) -> None:
    done = doctor(installed, decoys, "--json")
    document = json.loads(done.stdout)
    assert done.returncode == 1, done.stderr
    assert [each["check"] for each in document["results"] if each["outcome"] == "failed"] == ["venv-not-built"]
    repo = document["facts"]["repo"]
    assert (repo["vouched_by"], repo["commit"]) == ("manifest", git(pristine, "rev-parse", "HEAD").strip())
    assert repo["files"] > 50


@pytest.mark.parametrize("name", [f"{BUNDLED}trainer/attention.py", "dflash_env/progress.py"])
def test_an_edit_of_the_installed_files_is_seen(installed: Path, decoys: Path, name: str) -> None:
    site = next(installed.parent.parent.glob("lib/python*/site-packages"))
    edited = site / name
    before = edited.read_bytes()
    try:
        edited.write_bytes(before + b"\n")
        done = doctor(installed, decoys)
        assert f"{name.removeprefix(BUNDLED)} is modified" in done.stdout and "Reinstall dflash-env" in done.stdout
    finally:
        edited.write_bytes(before)
