"""The bundle finds its folders and loads every check by path, from its source and nothing else."""

import importlib.util
import json
import os
import py_compile
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from dflash_env import bundle

LOAD = """
import json
from dflash_env import bundle
print(json.dumps([str(bundle.root()), {check.id: check.title for check in bundle.checks()}]))
"""


@dataclass(frozen=True)
class Copy:
    """The package and the checks in a folder of their own, laid out as a clone or as an installed wheel."""

    package: Path
    root: Path

    def load(self) -> dict[str, str]:
        """The titles of the checks that a new process loads, by id."""
        env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        env["PYTHONPATH"] = str(self.package.parent)
        done = subprocess.run([sys.executable, "-P", "-c", LOAD], env=env, capture_output=True, check=True)
        root, titles = json.loads(done.stdout)
        assert Path(root) == self.root
        return titles

    def forge(self, family: str, stem: str, source: str) -> None:
        """Leave bytecode of another source beside a check, marked so that Python never compares it with the source."""
        other = self.package.parent / "forged.py"
        other.write_text(source)
        cached = importlib.util.cache_from_source(str(self.root / "checks" / family / f"{stem}.py"))
        unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(str(other), cfile=cached, doraise=True, invalidation_mode=unchecked)


@pytest.fixture(params=["clone", "wheel"])
def copy(request: pytest.FixtureRequest, tmp_path: Path) -> Copy:
    """A copy without any bytecode."""
    package = tmp_path / "dflash_env"
    no_bytecode = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(bundle.__file__).parent, package, ignore=no_bytecode)
    root = tmp_path if request.param == "clone" else package / "_bundled"
    shutil.copytree(bundle.root() / "checks", root / "checks", ignore=no_bytecode)
    return Copy(package, root)


def test_in_a_clone_the_bundle_is_the_clone() -> None:
    assert not bundle.installed()
    assert (bundle.root() / "trainer").is_dir() and (bundle.root() / "pyproject.toml").is_file()


def test_checks_are_loaded_by_path_and_no_generic_name_is_taken() -> None:
    before = set(sys.modules)
    bundle.checks.cache_clear()
    assert bundle.checks()
    assert not {name for name in set(sys.modules) - before if name.partition(".")[0] == "checks"}


def test_ids_are_unique_and_in_the_order_of_families() -> None:
    ids = [check.id for check in bundle.checks()]
    assert len(set(ids)) == len(ids)
    assert ids[0].startswith("gpu-") and ids[-1].startswith("cache-")


def test_a_copy_has_the_same_checks(copy: Copy) -> None:
    assert copy.load() == {check.id: check.title for check in bundle.checks()}


def test_loading_the_checks_writes_no_bytecode_beside_them(copy: Copy) -> None:
    copy.load()
    assert (copy.package / "__pycache__").is_dir(), "this Python writes bytecode"
    assert not list((copy.root / "checks").rglob("__pycache__"))


def test_forged_bytecode_beside_a_check_is_never_run(copy: Copy) -> None:
    ran = copy.package.parent / "ran"
    source = (copy.root / "checks" / "gpu" / "count_wrong.py").read_text("utf-8")
    title = next(check.title for check in bundle.checks() if check.id == "gpu-count-wrong")
    assert title in source
    copy.forge("gpu", "count_wrong", f"open({str(ran)!r}, 'w').close()\n{source.replace(title, 'Forged')}")
    assert copy.load()["gpu-count-wrong"] == title
    assert not ran.exists()


def test_a_file_that_defines_no_check_of_its_name_is_refused(copy: Copy) -> None:
    (copy.root / "checks" / "gpu" / "strange.py").write_text("strange = 1\n")
    with pytest.raises(subprocess.CalledProcessError) as refused:
        copy.load()
    assert b"strange.py must define a check named strange" in refused.value.stderr
