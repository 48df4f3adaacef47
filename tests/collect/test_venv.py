"""The training venv read from outside: real small venvs, and everything that was seen to contaminate one."""

import hashlib
import importlib.util
import json
import marshal
import os
import platform
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dflash_env.collect import programs, venv
from dflash_env.facts import Collision, Interpreter, NotApplicable, Seal, Unknown, Unmet, Venv
from dflash_env.state import State
from tests import healthy, wheels
from tests.collect.conftest import Built, settle

SITE = "lib/python3.11/site-packages"


def names(built: Built) -> list[tuple[str, str]]:
    return [(one.name, one.version) for one in built.found().distributions]


# ---- a whole venv, and none -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("deep", [False, True])
def test_a_finished_venv(built: Built, deep: bool) -> None:
    found = built.found(deep)
    assert found.path == str(built.folder)
    assert venv.key(found) == built.folder.name
    assert names(built) == [
        ("alpha", "1.0"),
        ("beta", "2.0"),
        ("nvidia-cudnn-cu12", "9.10"),
        ("nvidia-nccl-cu12", "2.27"),
    ]
    assert {one.origin for one in found.distributions} == {"index"}
    assert (found.drift, found.collisions, found.unmet, found.broken_records) == ((), (), (), ())
    assert (found.dangling, found.hard_linked, found.replaced) == ((), 0, "")
    assert found.libraries == (
        f"{SITE}/nvidia/cudnn/lib/libcudnn.so.9",
        f"{SITE}/nvidia/cudnn/lib/libcudnn_ops.so.9",
        f"{SITE}/nvidia/nccl/lib/libnccl.so.2",
    )
    assert found.tree_digest == built.lock.tree_digest
    assert built.told(deep) == {}
    assert built.report(deep).exit_code == 0


def test_its_interpreter(built: Built) -> None:
    found = built.found()
    assert found.interpreter == programs.find_python("3.11")
    assert isinstance(found.interpreter, Interpreter)
    assert isinstance(found.header, NotApplicable) or Path(found.header).is_file()
    assert found.stdlib_sha256 == NotApplicable(why="read only by --deep")


def test_a_deep_look_reads_the_standard_library_and_counts_every_byte(built: Built) -> None:
    seen: list[int] = []
    found = venv.collect(built.state, built.lock, True, seen.append)
    assert isinstance(found, Venv)
    assert found.deep
    assert isinstance(found.seal, Seal)
    assert found.stdlib_sha256 == found.seal.stdlib_sha256
    assert sum(seen) == sum(
        path.stat().st_size for path in built.folder.rglob("*") if path.is_file() and not path.is_symlink()
    )


def test_no_venv_was_built(tmp_path: Path) -> None:
    absent = venv.collect(State(tmp_path), healthy.LOCK)
    assert absent == healthy.ABSENT_VENV
    assert venv.key(absent) == "none"


def test_a_venv_of_another_lock_is_not_ours(built: Built) -> None:
    absent = venv.collect(built.state, replace(built.lock, name="cu12-cp312"))
    assert isinstance(absent, Venv)
    assert absent.path == NotApplicable(why="no venv was built for cu12-cp312")


def test_current_leads_to_a_folder_that_is_gone(built: Built) -> None:
    built.folder.rename(built.root / "moved")
    path = built.found().path
    assert isinstance(path, NotApplicable)
    assert path.why.endswith("current/small-cp311 leads to a folder that is gone")
    assert list(built.told()) == ["venv-not-built"]


def test_a_folder_in_place_of_the_link_is_no_venv_of_ours(built: Built) -> None:
    built.state.current(built.lock.name).unlink()
    built.state.current(built.lock.name).mkdir()
    assert isinstance(built.found().path, NotApplicable)


def test_the_seal_is_missing(built: Built) -> None:
    built.state.seal(built.folder).unlink()
    seal = built.found().seal
    assert isinstance(seal, NotApplicable)
    assert seal.why.endswith(f"{built.folder.name}.seal.json does not exist: the build was not finished")
    assert len(names(built)) == 4
    assert list(built.told()) == ["venv-unsealed"]


def test_a_venv_without_site_packages_is_unknown(built: Built) -> None:
    shutil.rmtree(built.folder / "lib")
    section = built.collect()
    assert isinstance(section, Unknown)
    assert section.text.endswith("has no lib/python3.11/site-packages")


def test_a_venv_of_another_python_is_read_and_told(built: Built) -> None:
    other = replace(built, lock=replace(built.lock, python="3.12", digest="0" * 64))
    assert other.found().drift == ()
    seal = other.found().seal
    assert not isinstance(seal, NotApplicable)
    assert other.told() == {
        "venv-python-wrong": [f"small-cp311 was built with Python {seal.python}; small-cp311 is for Python 3.12"]
    }


def test_nothing_in_the_venv_is_started(built: Built) -> None:
    mark = built.root / "sprung"
    (built.site / "sitecustomize.py").write_text(f"open({str(mark)!r}, 'w')\n")
    (built.site / "evil.pth").write_text(f"import os; open({str(mark)!r}, 'w')\n")
    built.report(deep=True)
    assert not mark.exists()


def test_the_key_of_what_could_not_be_read_is_none() -> None:
    assert venv.key(Unknown(code="denied", text="no")) == "none"


def test_a_venv_weighs_its_files_and_not_what_links_lead_to(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below/a").write_bytes(b"12345")
    (tmp_path / "b").write_bytes(b"678")
    (tmp_path / "link").symlink_to("b")
    assert venv.weigh(tmp_path) == 5 + 3 + len("b")


# ---- contamination: each vector that was seen in the wild -----------------------------------------------------------


def same_size_edit(built: Built) -> None:
    path = built.site / "beta/data.bin"
    before = path.stat()
    path.write_text("987654321_")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def edit_and_record(built: Built) -> None:
    (built.site / "beta/data.bin").write_text("other")
    record = built.site / "beta-2.0.dist-info/RECORD"
    rows = [row for row in record.read_text().splitlines() if "data.bin" not in row]
    digest = wheels._digest("other")
    record.write_text("\n".join([*rows, f"beta/data.bin,sha256={digest},5", ""]))


def deleted(built: Built) -> None:
    (built.site / "beta/data.bin").unlink()


def foreign_pth(built: Built) -> None:
    (built.site / "zz.pth").write_text("import os\n")


def sitecustomize(built: Built) -> None:
    (built.site / "sitecustomize.py").write_text("")


def usercustomize(built: Built) -> None:
    (built.site / "usercustomize.py").write_text("")


def sourceless(built: Built) -> None:
    (built.site / "mm.pyc").write_bytes(
        importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(compile("", "mm", "exec"))
    )


def unchecked_bytecode(built: Built) -> None:
    cached = built.site / "alpha/__pycache__/__init__.cpython-311.pyc"
    cached.parent.mkdir()
    code = marshal.dumps(compile("version = 'stale'", "alpha", "exec"))
    cached.write_bytes(importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8) + code)


def executable(built: Built) -> None:
    (built.site / "beta/data.bin").chmod(0o755)


def file_for_link(built: Built) -> None:
    path = built.site / "beta/data.bin"
    path.rename(built.root / "data.bin")
    path.symlink_to(built.root / "data.bin")


def folder_for_link(built: Built) -> None:
    (built.site / "beta").rename(built.root / "beta")
    (built.site / "beta").symlink_to(built.root / "beta")


def dangling_library(built: Built) -> None:
    path = built.site / "nvidia/cudnn/lib/libcudnn.so.9"
    path.unlink()
    path.symlink_to("libcudnn.so.9.10")


def system_packages(built: Built) -> None:
    path = built.folder / "pyvenv.cfg"
    text = path.read_text()
    assert "include-system-site-packages = false" in text
    path.write_text(text.replace("include-system-site-packages = false", "include-system-site-packages = true"))


def tilde(built: Built) -> None:
    shutil.copytree(built.site / "beta-2.0.dist-info", built.site / "~eta-2.0.dist-info")
    shutil.copytree(built.site / "beta", built.site / "~eta")


def record_gone(built: Built) -> None:
    (built.site / "beta-2.0.dist-info/RECORD").unlink()


def record_garbage(built: Built) -> None:
    (built.site / "beta-2.0.dist-info/RECORD").write_text("beta/data.bin\n")


def leftover_library(built: Built) -> None:
    (built.site / "nvidia/cu13/lib").mkdir(parents=True)
    (built.site / "nvidia/cu13/lib/libcublas.so.13").write_text("")


def pipe(built: Built) -> None:
    os.mkfifo(built.site / "alpha/pipe")


CHANGED, GONE, STRAY = "venv-file-changed", "venv-file-missing", "venv-file-unowned"
VECTORS: list[tuple[Callable[[Built], None], dict[str, str], dict[str, int]]] = [
    (same_size_edit, {"beta/data.bin": "changed"}, {CHANGED: 1}),
    (edit_and_record, {"beta/data.bin": "changed", "beta-2.0.dist-info/RECORD": "changed"}, {CHANGED: 2}),
    (deleted, {"beta/data.bin": "missing"}, {GONE: 1}),
    (executable, {"beta/data.bin": "changed"}, {CHANGED: 1}),
    (foreign_pth, {"zz.pth": "unowned"}, {STRAY: 1}),
    (sitecustomize, {"sitecustomize.py": "unowned"}, {STRAY: 1}),
    (usercustomize, {"usercustomize.py": "unowned"}, {STRAY: 1}),
    (sourceless, {"mm.pyc": "unowned"}, {STRAY: 1}),
    (unchecked_bytecode, {"alpha/__pycache__/__init__.cpython-311.pyc": "unowned"}, {STRAY: 1}),
    (leftover_library, {"nvidia/cu13/lib/libcublas.so.13": "unowned"}, {STRAY: 1}),
    (pipe, {"alpha/pipe": "unowned"}, {STRAY: 1}),
    (file_for_link, {"beta/data.bin": "changed"}, {CHANGED: 1}),
    (
        folder_for_link,
        {
            "beta": "unowned",
            "beta/__init__.py": "missing",
            "beta/data.bin": "missing",
            "beta/tool.sh": "missing",
        },
        {STRAY: 1},
    ),
    (dangling_library, {"nvidia/cudnn/lib/libcudnn.so.9": "changed"}, {"venv-library-dangling": 1}),
    (system_packages, {"pyvenv.cfg": "changed"}, {CHANGED: 1}),
    (record_gone, {"beta-2.0.dist-info/RECORD": "missing"}, {"venv-record-broken": 1}),
    (record_garbage, {"beta-2.0.dist-info/RECORD": "changed"}, {"venv-record-broken": 1}),
]


@pytest.mark.parametrize(("contaminate", "drift", "told"), VECTORS, ids=[each[0].__name__ for each in VECTORS])
def test_a_contaminated_file_is_seen_at_a_quick_look_and_is_one_finding(
    built: Built, contaminate: Callable[[Built], None], drift: dict[str, str], told: dict[str, int]
) -> None:
    contaminate(built)
    assert built.drift() == drift
    assert {check: len(findings) for check, findings in built.told().items()} == told
    assert built.report().exit_code == 1


def test_a_venv_that_lets_the_systems_packages_in_says_so(built: Built) -> None:
    assert not built.found().system_packages
    settings = built.folder / "pyvenv.cfg"
    text = settings.read_text()
    # Python takes spaces and capitals as they come, and what is not said for true.
    for line in ("Include-System-Site-Packages=TRUE", "# gone"):
        settings.write_text(text.replace("include-system-site-packages = false", line))
        assert built.found().system_packages, line
        [finding] = built.told()["venv-file-changed"]
        assert finding == (
            "pyvenv.cfg (of no package) is not what was sealed; it lets the system's and the user's own packages in"
        )
    settings.write_text(text + "prompt = other\n")
    assert not built.found().system_packages


def test_what_an_uninstall_left_behind(built: Built) -> None:
    tilde(built)
    assert len(names(built)) == 4
    assert venv.ownership(built.folder, built.site).broken == ()
    assert {each.owner for each in built.found().drift} == {""}
    findings = built.told()
    assert list(findings) == [STRAY]
    assert all(message.endswith("what an uninstall that was cut off left behind") for message in findings[STRAY])
    assert len(findings[STRAY]) == 2


def test_a_package_placed_beside_by_target(built: Built) -> None:
    wheels.make(built.wheelhouse, "gamma")
    built.uv("install", "gamma", "--target", built.site)
    assert built.drift()["gamma/__init__.py"] == "unowned"
    assert built.told() == {
        "venv-distribution-extra": ["gamma 1.0 is installed and not locked"],
        "venv-file-unowned": [f"{SITE}/.lock: no package that is locked brought it"],
    }, "uv leaves a lock file of its own beside it"


def test_an_extra_package_of_many_files_is_one_finding(built: Built) -> None:
    many = {f"gamma/part{number}.py": "" for number in range(50)}
    wheels.make(built.wheelhouse, "gamma", files=many | {"gamma.pth": "import gamma"})
    built.uv("install", "gamma")
    assert len(built.drift()) > 50
    assert built.told() == {"venv-distribution-extra": ["gamma 1.0 is installed and not locked"]}


def test_another_version_in_its_place_is_one_finding(built: Built) -> None:
    wheels.make(built.wheelhouse, "beta", "2.1")
    built.uv("install", "beta==2.1")
    assert built.told() == {"venv-distribution-version": ["beta 2.1 is installed; the lock has 2.0"]}


def test_an_uninstalled_package_is_one_finding_though_another_needs_it(built: Built) -> None:
    built.uv("uninstall", "beta")
    assert built.found().unmet == (Unmet(distribution="alpha", requirement="beta>=2", found=""),)
    assert built.told() == {"venv-distribution-missing": ["beta 2.0 is locked and not installed"]}


def test_a_wheel_installed_by_its_file(built: Built) -> None:
    built.uv("install", "--reinstall", "--no-deps", built.wheelhouse / "beta-2.0-py3-none-any.whl")
    assert {one.name: one.origin for one in built.found().distributions}["beta"] == "url"
    assert built.told() == {"venv-origin-foreign": ["beta 2.0 was installed from a URL or a file, not from the lock"]}


def test_an_editable_install(built: Built, tmp_path: Path) -> None:
    project = tmp_path / "beta-working-copy"
    project.mkdir()
    path = {"__editable__.beta-2.0.pth": f"{project}\n"}
    wheel = wheels.make(project, "beta", "2.0", files=path).path
    (project / "pyproject.toml").write_text(
        "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n"
        "[project]\nname = 'beta'\nversion = '2.0'\n"
    )
    (project / "backend.py").write_text(
        "import shutil\n"
        "def build_editable(folder, config_settings=None, metadata_directory=None):\n"
        f"    return shutil.copy({wheel.name!r}, folder) and {wheel.name!r}\n"
    )
    built.uv("install", "--no-deps", "--editable", project)
    assert {one.name: one.origin for one in built.found().distributions}["beta"] == "editable"
    assert built.drift()["__editable__.beta-2.0.pth"] == "unowned"
    told = built.told()
    assert list(told) == ["venv-origin-foreign"]
    assert told["venv-origin-foreign"][0].startswith("beta 2.0 is an editable install")


CUDNN = "nvidia/cudnn/lib/libcudnn.so.9"


def swap_in_cudnn_13(built: Built) -> None:
    content = {"nvidia/__init__.py": "", CUDNN: "cuDNN for 13"}
    wheels.make(built.wheelhouse, "nvidia-cudnn-cu13", "9.19", files=content)
    built.uv("install", "nvidia-cudnn-cu13", "--link-mode", "copy")


def test_two_packages_on_one_path_name_both_owners_and_whose_bytes_are_there(built: Built) -> None:
    swap_in_cudnn_13(built)
    found = built.found()
    assert found.collisions == (
        Collision(
            path=f"{SITE}/{CUDNN}", owners=("nvidia-cudnn-cu12", "nvidia-cudnn-cu13"), on_disk="nvidia-cudnn-cu13"
        ),
    ), "the empty nvidia/__init__.py is everybody's"
    told = built.told()
    assert list(told) == ["venv-cuda-mixed", "venv-distribution-extra", "venv-path-contested"]
    [contested] = told["venv-path-contested"]
    assert contested == (
        f"{SITE}/{CUDNN}: claimed by nvidia-cudnn-cu12 and nvidia-cudnn-cu13; "
        "the bytes on disk are those of nvidia-cudnn-cu13"
    )
    (built.site / CUDNN).write_text("cuDNN for 12")
    assert built.found().collisions[0].on_disk == "nvidia-cudnn-cu12"
    (built.site / CUDNN).write_text("neither")
    assert built.found().collisions[0].on_disk == ""
    assert built.report().exit_code == 1


def test_the_sync_that_repairs_it_deletes_the_shared_files(built: Built, tmp_path: Path) -> None:
    swap_in_cudnn_13(built)
    lines = (f"{each.name}=={each.version} --hash=sha256:{each.sha256}\n" for each in built.lock.packages)
    (tmp_path / "wanted.txt").write_text("".join(lines))
    built.uv("sync", "--link-mode", "copy", tmp_path / "wanted.txt")
    built.uv("check")
    assert len(names(built)) == 4
    drift = built.drift()
    assert drift[CUDNN] == "missing", "uv's own behaviour; this test tells when it has changed"
    told = built.told()
    assert list(told) == [GONE]
    assert f"{SITE}/{CUDNN} of nvidia-cudnn-cu12: missing" in told[GONE]
    assert built.report().exit_code == 1


def test_an_edit_of_the_other_name_of_a_file_is_an_edit(built: Built, tmp_path: Path) -> None:
    path = built.site / "beta/data.bin"
    (tmp_path / "cache.bin").hardlink_to(path)
    assert (built.found().drift, built.found().hard_linked) == ((), 1)
    assert (list(built.told()), built.report().exit_code) == (["venv-hard-linked"], 0)
    (tmp_path / "cache.bin").write_text("poisoned!!")
    assert built.drift() == {"beta/data.bin": "changed"}
    assert (list(built.told()), built.report().exit_code) == ([CHANGED, "venv-hard-linked"], 1)


def test_a_venv_sealed_again_after_an_edit_is_not_what_the_lock_states(built: Built) -> None:
    path = built.site / "beta/data.bin"
    path.write_text("poisoned!!")
    manifest = built.state.manifest(built.folder)
    text = manifest.read_text()
    manifest.write_text(
        text.replace(hashlib.sha256(b"0123456789").hexdigest(), hashlib.sha256(b"poisoned!!").hexdigest())
    )
    settle(built)
    assert built.drift(deep=True) == {}
    [finding] = built.told()["venv-digest-wrong"]
    assert finding.startswith("beta: ")
    assert built.report().exit_code == 1
    assert replace(built, lock=replace(built.lock, tree_digest="pending")).told() == {}


# ---- the interpreter ------------------------------------------------------------------------------------------------


def point_at(built: Built, target: Path) -> None:
    (built.folder / "bin/python").unlink()
    (built.folder / "bin/python").symlink_to(target)


def test_the_interpreter_is_another_one(built: Built, tmp_path: Path) -> None:
    shutil.copy("/bin/true", tmp_path / "python3.11")
    point_at(built, tmp_path / "python3.11")
    found = built.found()
    assert found.interpreter == replace(
        programs.find_python("3.11"),
        path=str(tmp_path / "python3.11"),
        sha256=hashlib.sha256(Path("/bin/true").read_bytes()).hexdigest(),
    )
    assert list(built.told()) == ["venv-interpreter-replaced"]


def test_the_interpreter_is_gone(built: Built, tmp_path: Path) -> None:
    point_at(built, tmp_path / "gone")
    found = built.found()
    assert found.interpreter == NotApplicable(why=f"{built.folder}/bin/python leads to nothing")
    assert found.header == found.interpreter
    assert "bin/python" in found.dangling
    assert list(built.told(deep=True)) == ["venv-interpreter-replaced"]


def test_the_link_is_another_one_to_the_same_interpreter(built: Built, tmp_path: Path) -> None:
    (tmp_path / "python").symlink_to(programs.find_python("3.11").path)
    point_at(built, tmp_path / "python")
    assert list(built.told()) == [CHANGED]


def test_the_standard_library_was_edited(built: Built, tmp_path: Path) -> None:
    lib = tmp_path / "prefix/lib/python3.11"
    (tmp_path / "prefix/bin").mkdir(parents=True)
    (lib / "site-packages").mkdir(parents=True)
    (tmp_path / "etc.py").write_text("")
    (lib / "sitecustomize.py").symlink_to(tmp_path / "etc.py")
    (lib / "os.py").write_text("")
    (lib / "broken.py").symlink_to("gone")
    python = Interpreter(path=str(tmp_path / "prefix/bin/python3.11"), version="3.11.2", sha256="0" * 64)
    seen = [venv.stdlib_digest(python)]
    (lib / "site-packages/a.py").write_text("not its own")
    assert venv.stdlib_digest(python) == seen[0]
    (lib / "os.py").write_text("import evil")
    seen.append(venv.stdlib_digest(python))
    (tmp_path / "etc.py").write_text("import evil")
    seen.append(venv.stdlib_digest(python))
    (lib / "new.py").write_text("")
    seen.append(venv.stdlib_digest(python))
    assert len(set(seen)) == 4
    assert all(isinstance(each, str) for each in seen)


def test_a_standard_library_that_is_gone_is_unknown(tmp_path: Path) -> None:
    python = Interpreter(path=str(tmp_path / "bin/python3.11"), version="3.11.2", sha256="0" * 64)
    found = venv.stdlib_digest(python)
    assert isinstance(found, Unknown)
    assert found.text == f"{tmp_path}/lib/python3.11: No such file or directory"


def test_the_seal_names_this_machine(built: Built) -> None:
    document = json.loads(built.state.seal(built.folder).read_text())
    assert document["platform"] == f"{platform.system().lower()}-{platform.machine()}"
    assert document["libc"] == " ".join(platform.libc_ver())
    assert document["lock_digest"] == built.lock.digest
    assert document["python"].startswith(f"{sys.version_info.major}.") or document["python"].startswith("3.11")


def test_a_file_that_may_not_be_read_is_unknown(built: Built) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    (built.site / "beta/data.bin").chmod(0)
    section = built.collect()
    assert isinstance(section, Unknown)
    assert section.code == "denied"
