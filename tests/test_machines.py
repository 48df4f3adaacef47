"""Recorded machines and the reports they must get, through the real command line.

`tests/machines/<name>.<exit code>.json` is what `dflash-env doctor --json` wrote there, `.txt` beside it is the report
that people see. `UPDATE=1 pytest tests/test_machines.py` writes the machines built below, and every report, anew.
"""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dflash_env import bundle, gate
from dflash_env.check import examine
from dflash_env.facts import (
    Change,
    Collision,
    Disk,
    Distribution,
    Drift,
    Facts,
    Gpus,
    Hidden,
    Interpreter,
    MachineGpus,
    MachineHost,
    NotApplicable,
    Patch,
    SettingsFile,
    Submodule,
    Unknown,
    Variable,
)
from dflash_env.render import json as render_json
from dflash_env.report import Report
from tests import healthy

MACHINES = Path(__file__).parent / "machines"
UPDATE = bool(os.environ.get("UPDATE"))

NO_DRIVER = Gpus(driver=NotApplicable(why="NVML Shared Library Not Found"), devices=())
HUNG = Unknown(code="timeout", text="python did not answer within 20 s")
LOST = Unknown(code="nvml-15", text="GPU is lost")
NO_CACHE = NotApplicable(why=f"{healthy.CACHE.path} does not exist")
NO_PYTHON = NotApplicable(why=f"{healthy.VENV.path}/bin/python leads to nothing")
UPGRADED = Interpreter(path="/usr/bin/python3.11", version="3.11.7", sha256="0" * 64)
SITE = "lib/python3.11/site-packages"

TINY = replace(
    healthy.FACTS,
    profile=healthy.TINY,
    machine=replace(
        healthy.MACHINE,
        name="tiny",
        gpus=MachineGpus(count=0),
        host=MachineHost(shm_bytes=16 * 2**20, disk_bytes=2 * 10**9),
    ),
    host=replace(
        healthy.HOST,
        cores=8,
        memory_bytes=16 * 2**30,
        shm_bytes=8 * 2**30,
        shm_free_bytes=8 * 2**30,
        disks=(Disk(folder="/home/ada/dflash/.dflash", purpose="venvs, caches and runs", free_bytes=80 * 10**9),),
    ),
    cache=replace(healthy.CACHE, kind=NO_CACHE, owner_uid=NO_CACHE, mode=NO_CACHE),
)

LOST_GPU = replace(healthy.GPUS.devices[3], uuid=LOST, name=LOST, memory_bytes=LOST)
EDIT = Change(path="trainer/loop.py", how="modified", expected="5fe2a30c" * 5)
SWAPPED = (Distribution(name="torch", version="2.11.0+cu130"), Distribution(name="vllm", version="0.11.0"))

CUDA_12 = healthy.VENV
LIBRARIES = ("libcudnn.so.9", "libcudnn_graph.so.9", "libcudnn_ops.so.9")
OVERWRITTEN = tuple(
    Drift(path=f"{SITE}/nvidia/cudnn/lib/{name}", how="changed", owner="nvidia-cudnn-cu12") for name in LIBRARIES
)
OF_13 = (Distribution(name="nvidia-cublas", version="13.0.0"), Distribution(name="nvidia-cudnn-cu13", version="9.19.0"))
SWAPPED_BACK = replace(
    CUDA_12,
    distributions=(*CUDA_12.distributions, *OF_13),
    drift=OVERWRITTEN,
    collisions=tuple(
        Collision(path=each.path, owners=("nvidia-cudnn-cu12", "nvidia-cudnn-cu13"), on_disk="nvidia-cudnn-cu13")
        for each in OVERWRITTEN
    ),
)
"""torch of CUDA 12, then of 13, then of 12 again: its version is right, and its libraries are the other one's."""

CROWDED = replace(
    healthy.shell(
        CONDA_PREFIX="/opt/conda",
        CUDA_HOME="/usr/local/cuda",
        CUDA_LAUNCH_BLOCKING="1",
        NCCL_ASYNC_ERROR_HANDLING="1",
        NCCL_P2P_DISABLE="1",
        PYTORCH_ALLOC_CONF="expandable_segments:True",
        PYTORCH_CUDA_ALLOC_CONF="max_split_size_mb:128",
        RANK="0",
        VIRTUAL_ENV="/home/ada/vllm/.venv",
    ),
    libraries=("/usr/local/cuda/lib64/libcudnn_graph.so.9",),
    toolkit="13.0.2",
    user_site="/home/ada/.local/lib/python3.11/site-packages",
)
"""Everything that a launch drops and a command typed by hand does not."""

BUILT: dict[str, Facts] = {
    "healthy-node8.0": healthy.FACTS,
    "tiny-laptop.0": replace(TINY, gpus=HUNG),
    "shell-leftovers.0": replace(
        TINY,
        gpus=NO_DRIVER,
        environ=replace(healthy.ENVIRON, variables=(Variable(name="PYTHONPATH", value="/opt/lib"),)),
    ),
    "no-driver.1": replace(healthy.FACTS, gpus=NO_DRIVER),
    "seven-of-eight.1": replace(healthy.FACTS, gpus=replace(healthy.GPUS, devices=healthy.GPUS.devices[:7])),
    "lost-gpu.1": replace(
        healthy.FACTS,
        gpus=replace(healthy.GPUS, devices=(*healthy.GPUS.devices[:3], LOST_GPU, *healthy.GPUS.devices[4:])),
    ),
    "nvml-timeout.1": replace(healthy.FACTS, gpus=HUNG),
    "foreign-package.1": replace(healthy.FACTS, venv=replace(healthy.VENV, distributions=SWAPPED)),
    "edited-file.1": replace(healthy.FACTS, repo=replace(healthy.REPO, changes=(EDIT,))),
    "another-branch.1": replace(
        healthy.FACTS,
        repo=replace(healthy.REPO, changes=tuple(replace(EDIT, path=f"trainer/part{n}.py") for n in range(7))),
    ),
    "mid-merge.1": replace(
        healthy.FACTS,
        repo=replace(
            healthy.REPO,
            changes=(replace(EDIT, how="unmerged"),),
            checkout=replace(healthy.CHECKOUT, operation="merge", unmerged=("trainer/loop.py",)),
        ),
    ),
    "odd-clone.0": replace(
        healthy.FACTS,
        repo=replace(
            healthy.REPO,
            checkout=replace(
                healthy.CHECKOUT,
                branch="",
                shallow=True,
                staged=("trainer/data.py",),
                hidden=(Hidden(path="trainer/loop.py", flag="assume-unchanged"),),
            ),
        ),
    ),
    "partial-clone.1": replace(
        healthy.FACTS,
        repo=replace(
            healthy.REPO,
            changes=(
                replace(EDIT, path="lockfiles/cu12-cp312.txt", how="sparse"),
                replace(EDIT, path="trainer/sample/sentences.bin", how="pointer"),
                replace(EDIT, path="trainer/secret.py", how="filtered", filter="git-crypt"),
            ),
            checkout=replace(
                healthy.CHECKOUT, submodules=(Submodule(path="trainer/kernels", expected="5fe2a30c" * 5, found=""),)
            ),
            links=("trainer/data → /mnt/data",),
        ),
    ),
    "monkey-patched.1": replace(
        healthy.FACTS,
        repo=replace(
            healthy.REPO,
            patches=(
                Patch(path="trainer/loop.py", line=31, what="sets torch.fx._symbolic_trace.is_fx_symbolic_tracing"),
            ),
            bytecode=("trainer/__pycache__/loop.cpython-311.pyc",),
        ),
    ),
    "somebody-elses-clone.1": replace(
        healthy.FACTS,
        repo=Unknown(
            code="ownership",
            text="git refuses /data/dflash, which belongs to another user; "
            "`git config --global --add safe.directory /data/dflash`",
        ),
    ),
    "damaged-index.1": replace(
        healthy.FACTS,
        repo=replace(
            healthy.REPO,
            checkout=Unknown(code="failed", text="git ended with 128: fatal: index file smaller than expected"),
        ),
    ),
    "lost-cache.1": replace(
        healthy.FACTS, cache=replace(healthy.CACHE, kind=NO_CACHE, owner_uid=NO_CACHE, mode=NO_CACHE)
    ),
    "cuda-swapped-and-back.1": replace(healthy.FACTS, venv=SWAPPED_BACK),
    "repaired-in-place.1": replace(
        healthy.FACTS, venv=replace(CUDA_12, drift=tuple(replace(each, how="missing") for each in OVERWRITTEN))
    ),
    "edited-venv.1": replace(
        healthy.FACTS,
        venv=replace(
            healthy.VENV,
            tree_digest="0" * 64,
            drift=(
                Drift(path=f"{SITE}/torch/_inductor/config.py", how="changed", owner="torch"),
                Drift(path=f"{SITE}/torch/__pycache__/_meta.cpython-311.pyc", how="unowned", owner=""),
                Drift(path=f"{SITE}/zz-patch.pth", how="unowned", owner=""),
            ),
        ),
    ),
    "sealed-after-an-edit.1": replace(
        healthy.FACTS, venv=replace(healthy.VENV, tree_digest="0" * 64, packages={"transformers": "2" * 64})
    ),
    "upgraded-python.1": replace(
        healthy.FACTS,
        venv=replace(healthy.VENV, interpreter=UPGRADED),
    ),
    "removed-python.1": replace(
        healthy.FACTS,
        venv=replace(
            healthy.VENV,
            interpreter=NO_PYTHON,
            header=NO_PYTHON,
            dangling=("bin/python", "bin/python3"),
        ),
    ),
    "nothing-to-compile-with.1": replace(
        healthy.FACTS,
        host=replace(healthy.HOST, compiler=NotApplicable(why="none of gcc, clang, cc is on the PATH")),
        venv=replace(healthy.VENV, header=NotApplicable(why="there is no /usr/include/python3.11/Python.h")),
    ),
    "moved-venv.1": replace(healthy.FACTS, host=replace(healthy.HOST, libc="glibc 2.9")),
    "unreadable-preload.1": replace(
        healthy.FACTS,
        environ=replace(
            healthy.ENVIRON,
            preload_file=Unknown(code="denied", text="/etc/ld.so.preload: Permission denied"),
            toolkit=Unknown(code="missing", text="/opt/cuda has no version.json"),
        ),
    ),
    "nccl-file.0": replace(
        healthy.FACTS,
        environ=replace(
            healthy.ENVIRON, nccl_files=(SettingsFile(path="/etc/nccl.conf", lines=("NCCL_P2P_DISABLE=1",)),)
        ),
    ),
    "crowded-shell.0": replace(healthy.FACTS, environ=CROWDED),
    "filled-up.1": replace(
        healthy.FACTS,
        host=replace(
            healthy.HOST,
            shm_bytes=16 * 2**30,
            shm_free_bytes=6 * 2**20,
            disks=(
                replace(healthy.HOST.disks[0], purpose="venvs and caches"),
                Disk(folder="/data/.dflash/runs", purpose="runs", free_bytes=8 * 10**6),
            ),
        ),
    ),
    "fresh-container.1": replace(
        healthy.FACTS,
        host=replace(healthy.HOST, shm_bytes=64 * 2**20, shm_free_bytes=64 * 2**20),
        venv=healthy.ABSENT_VENV,
        repo=Unknown(code="missing", text="git cannot be started: No such file or directory"),
    ),
}

names = pytest.mark.parametrize("name", sorted({path.stem for path in MACHINES.glob("*.json")} | set(BUILT)))


def recorded(name: str) -> Path:
    """A machine's document; written first where it is built here and `UPDATE` asks for it."""
    path = MACHINES / f"{name}.json"
    if UPDATE and name in BUILT:
        report = Report(taken="2026-11-30T20:00:00Z", facts=BUILT[name], results=examine(bundle.checks(), BUILT[name]))
        path.write_text(render_json.report(report), "utf-8")
    return path


def doctor(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """This tree's command, where it can look at nothing: no PATH, no home, an empty folder."""
    argv = [sys.executable, "-m", "dflash_env", "doctor", *arguments]
    env = {"PYTHONUTF8": "1", "PYTHONPATH": str(bundle.root())}
    return subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=True, encoding="utf-8", check=False)


@names
def test_a_recorded_machine_gets_its_report(name: str, tmp_path: Path) -> None:
    replayed = doctor("--replay", recorded(name), cwd=tmp_path)
    said = re.sub(r"\(\d+\.\d+ s\)", "(… s)", replayed.stdout)
    golden = MACHINES / f"{name}.txt"
    if UPDATE:
        golden.write_text(said, "utf-8")
    assert replayed.stderr == ""
    assert said == golden.read_text("utf-8")
    assert replayed.returncode == int(name.rpartition(".")[2])


@names
def test_a_replay_is_the_same_document_again(name: str) -> None:
    before = json.loads(recorded(name).read_text("utf-8"))
    after = json.loads(render_json.report(gate.again(MACHINES / f"{name}.json")))
    assert after["facts"] == before["facts"]
    assert after["taken"] == before["taken"]
    assert after["exit_code"] == int(name.rpartition(".")[2])
    assert after["verdict"] == ("passed" if name.endswith(".0") else "refused")


@pytest.mark.parametrize("name", sorted(BUILT))
def test_a_built_machine_is_recorded_as_it_is_built(name: str) -> None:
    assert gate.again(recorded(name)).facts == BUILT[name], "write it anew: UPDATE=1 pytest tests/test_machines.py"


def test_every_report_belongs_to_a_machine() -> None:
    assert {path.stem for path in MACHINES.glob("*.txt")} == {path.stem for path in MACHINES.glob("*.json")}


def test_between_them_the_machines_fire_in_every_family() -> None:
    failed = {
        result.family for facts in BUILT.values() for result in examine(bundle.checks(), facts) if result.findings
    }
    assert failed == {check.family for check in bundle.checks()}


def test_json_of_a_replay_is_one_document(tmp_path: Path) -> None:
    replayed = doctor("--json", "--replay", recorded("seven-of-eight.1"), cwd=tmp_path)
    assert (replayed.returncode, replayed.stderr) == (1, "")
    document = json.loads(replayed.stdout)
    assert [result["check"] for result in document["results"] if result["findings"]] == ["gpu-count-wrong"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no report of this version"),
        ("[]", "expected a JSON object"),
        ('{"schema": 1}', "is no report: it has no 'facts'"),
        ('{"schema": 9, "facts": {}}', "expected 1, got 9"),
        ('{"schema": 1, "taken": "", "facts": {"gpu": 1}}', ".facts.gpu: unknown key; did you mean 'gpus'?"),
    ],
)
def test_what_is_no_report_is_refused_in_two_lines(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(text)
    replayed = doctor("--replay", tmp_path / "report.json", cwd=tmp_path)
    error, fix = replayed.stderr.splitlines()
    assert (replayed.returncode, replayed.stdout) == (2, "")
    assert error.startswith("error: ")
    assert said in error
    assert fix.startswith("fix:   ")


def test_a_report_that_is_not_there_is_refused(tmp_path: Path) -> None:
    replayed = doctor("--replay", tmp_path / "gone.json", cwd=tmp_path)
    assert replayed.returncode == 2
    assert "gone.json cannot be read: No such file or directory" in replayed.stderr
