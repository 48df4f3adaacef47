"""Public incidents in which a variable or a path of the shell changed what a training ran."""

import os
from pathlib import Path

import pytest

from tests.incidents.conftest import LOCK, SITE, Station, Verdict

LEFT, SHADOWED = "environ-variable-left-over", "environ-library-shadowed"
CUDA_HOME, USER_SITE = "environ-cuda-home-other", "environ-user-site-visible"
ACTIVE, CONDA = "environ-venv-active-elsewhere", "environ-conda-active"


def dropped(station: Station, *checks: str, **variables: str) -> Verdict:
    """Exactly these checks warn, the launch may go on, and what it starts does not see what the shell holds."""
    verdict = station.doctor(**variables)
    assert (verdict.exit_code, verdict.errors, list(verdict.warnings)) == (0, {}, list(checks))
    env = station.planned(verdict).environment(station.shell(**variables))
    kept = {name: env[name] for name, value in variables.items() if env.get(name) == value}
    assert not kept, f"the trainer would inherit {kept}"
    return verdict


def toolkit(folder: Path, **files: str) -> Path:
    """A folder of libraries, as a CUDA toolkit or a driver package has one."""
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_text(content)
    return folder


# ---- libraries ------------------------------------------------------------------------------------------------------


def test_a_search_path_hands_torch_an_older_nvjitlink(shell: Station) -> None:
    """infiniflow/ragflow#4466, pytorch/pytorch#111469, #134929 and #140797: LD_LIBRARY_PATH led to the system's CUDA
    12.1. Its nvJitLink was loaded in the place of the wheel's, and cuSPARSE missed a symbol in it."""
    older = toolkit(shell.home / "cuda-12.1/lib64", **{"libnvJitLink.so.12": "12.1", "libcusparse.so.12": "12.1"})
    verdict = dropped(shell, SHADOWED, LD_LIBRARY_PATH=f"/nowhere:{older}:")
    ours = f"{shell.folder}/{SITE}/nvidia/nvjitlink/lib/libnvJitLink.so.12"
    assert verdict.warnings == {SHADOWED: [f"{older}/libnvJitLink.so.12 would be loaded for {ours}"]}
    verdict.says(SHADOWED, "unset LD_LIBRARY_PATH")


def test_an_empty_part_of_the_search_path_is_the_working_folder(station: Station) -> None:
    """The same incident's path ends with a colon, and the loader takes that for the folder it is started in."""
    (station.root / "libnvJitLink.so.12").write_text("12.1")
    dropped(station, SHADOWED, LD_LIBRARY_PATH="/nowhere:")


def test_a_search_path_without_a_library_of_ours_is_quiet(shell: Station) -> None:
    """No incident: vendors' images set LD_LIBRARY_PATH to folders that hold none of the locked libraries."""
    other = toolkit(shell.home / "lib", **{"libfabric.so.1": "", "libnvJitLink.so.11": "", "libnvJitLink.a": ""})
    dropped(shell, LD_LIBRARY_PATH=f"/usr/local/nvidia/lib64:{other}")


@pytest.mark.parametrize("folder", ["usr/local/cuda/compat", "usr/local/cuda/lib64/stubs"])
def test_another_libcuda_than_the_drivers(shell: Station, folder: str) -> None:
    """ggml-org/llama.cpp#17542 and espressomd/espresso#4090: the libcuda of a forward-compatibility package, or of a
    toolkit's stubs, came before the driver's own, and CUDA refused to start over two drivers that do not match."""
    compat = toolkit(shell.home / folder, **{"libcuda.so.575.57.08": ""})
    (compat / "libcuda.so.1").symlink_to("libcuda.so.575.57.08")
    verdict = dropped(shell, SHADOWED, LD_LIBRARY_PATH=str(compat))
    verdict.says(SHADOWED, f"{compat}/libcuda.so.1", "driver", "unset LD_LIBRARY_PATH")


# ---- settings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True,max_splitsize_mb:128"),
        ("PYTORCH_ALLOC_CONF", "expandable_segments:True"),
    ],
)
def test_an_allocator_option_that_another_torch_understood(shell: Station, name: str, value: str) -> None:
    """pytorch/pytorch#123505: an option for another release's allocator stayed in the shell, and the first use of
    CUDA failed over it."""
    dropped(shell, LEFT, **{name: value}).says(LEFT, f"{name}={value}", f"Run `unset {name}`.")


@pytest.mark.parametrize(
    ("name", "value"),
    [("NCCL_SOCKET_IFNAME", "=eth2zz"), ("NCCL_SOCKET_IFNAME", "^lo,docker"), ("GLOO_SOCKET_IFNAME", "eth2zz")],
)
def test_an_interface_of_another_host(shell: Station, name: str, value: str) -> None:
    """NVIDIA/nccl#1837 and marin-community/marin#6940: the name of a network interface came along from another host.
    None was found, and what failed afterwards spoke of an address family. Here no such name reaches a training, right
    or wrong, so that one which excludes what is there is told as left over too, and never as an error."""
    dropped(shell, LEFT, **{name: value}).says(LEFT, f"{name}={value}", f"unset {name}")


def test_the_compiler_was_switched_off_and_nobody_remembered(shell: Station) -> None:
    """unslothai/unsloth-zoo#1183, vllm-project/vllm#40715 and pytorch/pytorch#99155: a switch set for debugging
    stayed in the shell, and everything ran eagerly and slowly without a word."""
    off = {"TORCH_COMPILE_DISABLE": "1", "CUDA_LAUNCH_BLOCKING": "1", "TORCHDYNAMO_DISABLE": "1"}
    verdict = dropped(shell, LEFT, **off)
    [message] = verdict.warnings[LEFT]
    assert "disables the compiler" in message
    [unset] = verdict.fixes[LEFT]
    assert set(off) == set(unset.removeprefix("Run `unset ").removesuffix("`.").split())


def test_switches_that_only_slow_a_run_down(shell: Station) -> None:
    """The same incidents: logs, a search for NaN, and a cache in another place."""
    slow = {"TORCH_LOGS": "recompiles", "TORCH_NCCL_NAN_CHECK": "1", "TORCHINDUCTOR_CACHE_DIR": "/tmp/elsewhere"}
    dropped(shell, LEFT, **slow).says(LEFT, "unset TORCH_NCCL_NAN_CHECK", "TORCH_LOGS=recompiles")


def test_a_switch_that_is_empty_is_off(shell: Station) -> None:
    """No incident: an empty variable is how a script takes a setting back."""
    dropped(shell, TORCH_COMPILE_DISABLE="", NCCL_SOCKET_IFNAME="", PYTORCH_ALLOC_CONF="")


# ---- Python ---------------------------------------------------------------------------------------------------------


def test_the_launcher_never_opens_cuda_itself(shell: Station) -> None:
    """vllm-project/vllm#15951 and #32611: a parent asked torch whether there is a GPU, and the processes that it
    forked could not use one. Neither the gate nor a planned launch imports torch, in whatever process."""
    wire = shell.home / "wire"
    shell.python("import torch", TRIPWIRE=str(wire))
    assert wire.read_text(), "the wire works"
    wire.unlink()
    traps = {"TRIPWIRE": str(wire), "PYTHONPATH": str(shell.site)}
    assert shell.doctor(**traps).exit_code == 0
    assert shell.run("run", "train", "--dry-run", "--profile", "bench", **traps).returncode == 0
    assert not wire.exists()


def home_packages(station: Station) -> Path:
    """`pip install --user`, long ago."""
    folder = station.home / ".local/lib/python3.11/site-packages"
    (folder / "einops").mkdir(parents=True)
    (folder / "einops/__init__.py").write_text("")
    return folder


def test_packages_from_the_home_get_into_an_opened_venv(station: Station) -> None:
    """rwth-i6/returnn#1802 and python/importlib_metadata#106: the user's own site-packages held another torch and
    NCCL, and the venv had been opened to what is outside of it."""
    folder = home_packages(station)
    settings = station.folder / "pyvenv.cfg"
    text = settings.read_text()
    settings.write_text(text.replace("include-system-site-packages = false", "include-system-site-packages = true"))
    assert station.python("import einops; print(einops.__file__)") == f"{folder}/einops/__init__.py"

    verdict = station.doctor()
    assert (verdict.exit_code, list(verdict.errors), list(verdict.warnings)) == (1, ["venv-file-changed"], [USER_SITE])
    verdict.says("venv-file-changed", "pyvenv.cfg", "lets the system's", "dflash-env rebuild")
    verdict.says(USER_SITE, str(folder), "PYTHONNOUSERSITE=1")


def test_packages_from_the_home_do_not_get_into_a_whole_venv(shell: Station) -> None:
    """The same home beside a venv as it was built: nothing of it is imported, and the launch may go on."""
    home_packages(shell)
    assert "No module named 'einops'" in shell.python("import einops")
    assert shell.planned(dropped(shell, USER_SITE)).env["PYTHONNOUSERSITE"] == "1"


def test_an_empty_folder_of_packages_in_the_home_is_quiet(shell: Station) -> None:
    """No incident."""
    (shell.home / ".local/lib/python3.11/site-packages").mkdir(parents=True)
    dropped(shell)


# ---- other toolkits and other venvs ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "folder"), [("CUDA_HOME", "toolkit"), ("CUDA_PATH", "cuda-11.8")])
def test_a_toolkit_of_another_major(shell: Station, name: str, folder: str) -> None:
    """vllm-project/vllm#1453 and deepspeedai/DeepSpeed#3223: nvcc came from the system's CUDA 11.8, torch from wheels
    for 12. An extension refused to compile. The trainer compiles none with nvcc, so it is a warning."""
    stated = {"version.json": '{"cuda": {"version": "11.8.20220929"}}'} if folder == "toolkit" else {}
    path = toolkit(shell.home / folder, **stated)
    verdict = dropped(shell, CUDA_HOME, **{name: str(path)})
    verdict.says(CUDA_HOME, f"{path} is CUDA 11.8", "the lock is for CUDA 12.8")


def test_a_toolkit_that_only_its_nvcc_knows_the_release_of(shell: Station) -> None:
    """The same, of a distribution's or conda's toolkit: no file states the release, nvcc prints it."""
    nvcc = toolkit(shell.home / "toolkit/bin") / "nvcc"
    nvcc.write_text('#!/bin/sh\necho "Cuda compilation tools, release 11.8, V11.8.89"\n')
    nvcc.chmod(0o755)
    folder = str(shell.home / "toolkit")
    dropped(shell, CUDA_HOME, CUDA_HOME=folder).says(CUDA_HOME, folder, "11.8", "12.8")


def test_a_toolkit_that_is_gone(shell: Station) -> None:
    """The same variable, left over from a toolkit that was removed."""
    gone = str(shell.home / "gone")
    dropped(shell, CUDA_HOME, CUDA_HOME=gone).says(CUDA_HOME, gone, "unset CUDA_HOME")


def test_a_toolkit_of_the_same_major_is_quiet(shell: Station) -> None:
    """No incident: what is compiled for 12.4 loads beside 12.8."""
    dropped(shell, CUDA_HOME=str(toolkit(shell.home / "cuda-12.4")))


def test_the_active_venv_is_not_the_one_that_runs(shell: Station) -> None:
    """astral-sh/uv#9939 and johnthagen/python-blueprint#267: one environment was active and another one ran. The
    trainer runs in the locked venv whatever is active, and the shell's other ones are told."""
    other = {"VIRTUAL_ENV": "/srv/serving", "CONDA_PREFIX": "/opt/conda"}
    verdict = dropped(shell, CONDA, ACTIVE, **other)
    assert verdict.warnings == {
        CONDA: ["CONDA_PREFIX=/opt/conda"],
        ACTIVE: [f"VIRTUAL_ENV=/srv/serving; a run takes {shell.folder}"],
    }
    verdict.says(ACTIVE, "deactivate")
    done = shell.run("run", "train", "--dry-run", "--profile", "bench", **other)
    trainer = done.stdout.split("# become the trainer\n")[1]
    assert f"\n{shell.folder}/bin/python -m trainer train " in trainer
    assert f"\nPATH={shell.folder}/bin:" in trainer
    assert "/srv/serving" not in trainer and "/opt/conda" not in trainer


def test_a_project_environment_of_uv_that_is_another(shell: Station) -> None:
    """The same incident by uv's own variable: `uv run` and `uv sync` typed here act on that one."""
    third = {"UV_PROJECT_ENVIRONMENT": "/srv/serving"}
    dropped(shell, ACTIVE, **third).says(ACTIVE, f"UV_PROJECT_ENVIRONMENT=/srv/serving; a run takes {shell.folder}")


def test_the_training_venv_itself_may_be_active(shell: Station) -> None:
    """No incident, by either of its names: the folder, and the link that `activate` goes through."""
    for name in (shell.folder, shell.state.current(LOCK)):
        verdict = shell.doctor(VIRTUAL_ENV=str(name), PATH=f"{name}/bin:{os.environ['PATH']}")
        assert (verdict.exit_code, verdict.errors, verdict.warnings) == (0, {}, {})
