"""What a shell and a home would inject; only what is known by name is read, since a report travels."""

import errno
import os
import sys
from pathlib import Path

import pytest

from dflash_env import codec
from dflash_env.collect import environ
from dflash_env.facts import Environ, NotApplicable, SettingsFile, Unknown
from tests import healthy


def collect(tmp_path: Path, etc: Path | None = None, **variables: str) -> Environ:
    """What is found in a shell of these variables, a home in `tmp_path`, and an `/etc` that holds nothing."""
    return environ.collect(healthy.LOCK, {"HOME": str(tmp_path / "home"), **variables}, etc or tmp_path / "etc")


def named(found: Environ) -> dict[str, str]:
    return {one.name: one.value for one in found.variables}


# ---- variables ------------------------------------------------------------------------------------------------------


def test_only_variables_known_by_name_or_prefix_are_read(tmp_path: Path) -> None:
    known = {
        "CONDA_PREFIX": "/opt/conda",
        "CUDA_HOME": "/usr/local/cuda",
        "GLOO_SOCKET_IFNAME": "eth0",
        "INDUCTOR_TEST": "1",
        "LD_PRELOAD": "",
        "NCCL_P2P_DISABLE": "1",
        "PYTHONPATH": "/opt",
        "PYTORCH_ALLOC_CONF": "a:1",
        "RANK": "0",
        "TORCHINDUCTOR_CACHE_DIR": "/tmp",
        "TORCH_NCCL_BLOCKING_WAIT": "1",
        "TRITON_INTERPRET": "1",
        "UV_PROJECT_ENVIRONMENT": "/u",
        "VIRTUAL_ENV": "/v",
    }
    found = collect(tmp_path, **known, PATH="/bin", EDITOR="vi", PYTHONPATHS="/x", UV_INDEX="u", XNCCL_DEBUG="1")
    assert named(found) == known
    assert list(named(found)) == sorted(known)


SECRETS = {
    "AWS_ACCESS_KEY_ID": "hunter2",
    "AWS_SECRET_ACCESS_KEY": "hunter2",
    "CUDA_REGISTRY_PASSWORD": "hunter2",
    "HF_TOKEN": "hunter2",
    "GLOO_TOKEN": "hunter2",
    "NCCL_NET_AUTH_TOKEN": "hunter2",
    "NCCL_auth": "hunter2",
    "NCCL_passwd": "hunter2",
    "PYTORCH_API_KEY": "hunter2",
    "TORCH_HUB_SECRET": "hunter2",
    "TRITON_CREDENTIALS": "hunter2",
    "WANDB_API_KEY": "hunter2",
}


def test_a_secret_is_never_read(tmp_path: Path) -> None:
    document = codec.document(collect(tmp_path, **SECRETS))
    assert "hunter2" not in document
    assert not [name for name in SECRETS if name in document]


def test_it_reads_this_process_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHOME", "/opt/python")
    assert environ.collect(healthy.LOCK).value("PYTHONHOME") == "/opt/python"


def test_it_knows_the_venv_of_this_tool(tmp_path: Path) -> None:
    assert collect(tmp_path).tool_prefix == sys.prefix


# ---- the user's site-packages ---------------------------------------------------------------------------------------


def user_site(tmp_path: Path, python: str = "3.11") -> Path:
    folder = tmp_path / f"home/.local/lib/python{python}/site-packages"
    folder.mkdir(parents=True)
    return folder


def test_there_is_no_user_site(tmp_path: Path) -> None:
    folder = tmp_path / "home/.local/lib/python3.11/site-packages"
    assert collect(tmp_path).user_site == NotApplicable(why=f"there is no {folder}")


def test_an_empty_user_site(tmp_path: Path) -> None:
    folder = user_site(tmp_path)
    assert collect(tmp_path).user_site == NotApplicable(why=f"{folder} is empty")


def test_a_user_site_with_packages(tmp_path: Path) -> None:
    folder = user_site(tmp_path)
    (folder / "vllm").mkdir()
    assert collect(tmp_path).user_site == str(folder)


def test_the_user_site_of_another_python_is_not_the_locks(tmp_path: Path) -> None:
    (user_site(tmp_path, "3.12") / "vllm").mkdir()
    assert isinstance(collect(tmp_path).user_site, NotApplicable)


def test_a_user_site_that_cannot_be_read_is_unknown(tmp_path: Path) -> None:
    folder = tmp_path / "home/.local/lib/python3.11/site-packages"
    folder.parent.mkdir(parents=True)
    folder.write_text("")
    found = collect(tmp_path).user_site
    assert found == Unknown(code="denied", text=f"{folder}: {os.strerror(errno.ENOTDIR)}")


# ---- libraries and toolkit ------------------------------------------------------------------------------------------


def test_cuda_and_torch_libraries_on_the_search_path(tmp_path: Path) -> None:
    first, second = tmp_path / "one", tmp_path / "two"
    first.mkdir()
    second.mkdir()
    kept = ["libc10_cuda.so", "libcublas.so.12", "libcudnn_graph.so.9", "libcuda.so.1", "libnccl.so.2"]
    for name in [*kept, "libz.so.1", "libcudnn.a", "README", "xlibnccl.so"]:
        (first / name).write_text("")
    (second / "libtorch_cuda.so").write_text("")
    found = collect(tmp_path, LD_LIBRARY_PATH=f"{first}:{tmp_path / 'gone'}:{first / 'README'}:{second}")
    assert list(found.libraries) == [*(str(first / name) for name in sorted(kept)), str(second / "libtorch_cuda.so")]


def test_an_empty_component_of_the_search_path_is_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "libnccl.so.2").write_text("")
    monkeypatch.chdir(tmp_path)
    assert collect(tmp_path, LD_LIBRARY_PATH="/gone:").libraries == ("libnccl.so.2",)
    assert collect(tmp_path, LD_LIBRARY_PATH="").libraries == ()
    assert collect(tmp_path).libraries == ()


def test_no_toolkit(tmp_path: Path) -> None:
    assert collect(tmp_path).toolkit == NotApplicable(why="neither CUDA_HOME nor CUDA_PATH is set")


def test_the_toolkit_states_its_release(tmp_path: Path) -> None:
    (tmp_path / "version.json").write_text('{"cuda": {"name": "CUDA SDK", "version": "12.8.1"}}')
    assert collect(tmp_path, CUDA_HOME=str(tmp_path)).toolkit == "12.8.1"
    assert collect(tmp_path, CUDA_PATH=str(tmp_path)).toolkit == "12.8.1"
    assert isinstance(collect(tmp_path, CUDA_HOME=str(tmp_path / "x"), CUDA_PATH=str(tmp_path)).toolkit, Unknown)


def test_a_toolkit_named_by_its_release(tmp_path: Path) -> None:
    (tmp_path / "cuda-13.0").mkdir()
    (tmp_path / "cuda").symlink_to("cuda-13.0")
    assert collect(tmp_path, CUDA_HOME=str(tmp_path / "cuda")).toolkit == "13.0"


def nvcc(tmp_path: Path, *lines: str) -> str:
    """A toolkit whose compiler is a script."""
    (tmp_path / "toolkit/bin").mkdir(parents=True)
    program = tmp_path / "toolkit/bin/nvcc"
    program.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    program.chmod(0o755)
    return str(tmp_path / "toolkit")


def test_a_toolkit_that_only_its_nvcc_knows_the_release_of(tmp_path: Path) -> None:
    folder = nvcc(tmp_path, "test $1 = --version", 'echo "Cuda compilation tools, release 11.8, V11.8.89"')
    assert collect(tmp_path, CUDA_HOME=folder).toolkit == "11.8"


def test_a_toolkit_that_is_gone_whatever_its_name(tmp_path: Path) -> None:
    gone = tmp_path / "cuda-11.8"
    assert collect(tmp_path, CUDA_HOME=str(gone)).toolkit == Unknown(code="missing", text=f"{gone} is no folder")


def test_a_toolkit_without_nvcc_is_unknown(tmp_path: Path) -> None:
    found = collect(tmp_path, CUDA_HOME=str(tmp_path)).toolkit
    why = f"{tmp_path} has no version.json, and its nvcc cannot be started: No such file or directory"
    assert found == Unknown(code="missing", text=why)


def test_an_nvcc_that_says_nothing_is_unknown(tmp_path: Path) -> None:
    folder = nvcc(tmp_path, "echo nvcc")
    why = f"{folder}/bin/nvcc --version states no release"
    assert collect(tmp_path, CUDA_HOME=folder).toolkit == Unknown(code="malformed", text=why)


def test_an_nvcc_that_hangs_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environ, "NVCC_LIMIT_S", 0.1)
    found = collect(tmp_path, CUDA_HOME=nvcc(tmp_path, "exec sleep 60")).toolkit
    assert isinstance(found, Unknown)
    assert found.code == "timeout"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"cuda": "12.8"}', "\ufffd"])
def test_a_toolkit_that_says_nothing_is_unknown(tmp_path: Path, text: str) -> None:
    (tmp_path / "version.json").write_text(text)
    found = collect(tmp_path, CUDA_HOME=str(tmp_path)).toolkit
    assert isinstance(found, Unknown)
    assert found.code == "malformed"


# ---- files that need no variable ------------------------------------------------------------------------------------


@pytest.fixture
def etc(tmp_path: Path) -> Path:
    folder = tmp_path / "etc"
    folder.mkdir()
    return folder


def test_no_preload_file_preloads_nothing(tmp_path: Path) -> None:
    assert collect(tmp_path).preload_file == ()


@pytest.mark.parametrize(
    ("text", "libraries"),
    [
        ("", ()),
        ("# /a.so\n\n", ()),
        ("/a.so\n", ("/a.so",)),
        ("/a.so /b.so:/c.so # why\n/d.so", ("/a.so", "/b.so", "/c.so", "/d.so")),
    ],
)
def test_the_preload_file_is_read_as_the_loader_does(
    tmp_path: Path, etc: Path, text: str, libraries: tuple[str, ...]
) -> None:
    (etc / "ld.so.preload").write_text(text)
    assert collect(tmp_path).preload_file == libraries


def test_a_preload_file_that_is_no_text_still_shows(tmp_path: Path, etc: Path) -> None:
    (etc / "ld.so.preload").write_bytes(b"/\xff.so\n")
    assert collect(tmp_path).preload_file == ("/\ufffd.so",)


def test_a_preload_file_that_cannot_be_read_is_unknown(tmp_path: Path, etc: Path) -> None:
    (etc / "ld.so.preload").mkdir()
    found = collect(tmp_path).preload_file
    assert found == Unknown(code="denied", text=f"{etc / 'ld.so.preload'}: {os.strerror(errno.EISDIR)}")


def test_nccl_reads_no_file(tmp_path: Path, etc: Path) -> None:
    (etc / "nccl.conf").write_text("# NCCL_DEBUG=INFO\n\n")
    assert collect(tmp_path).nccl_files == ()


def test_every_file_that_nccl_reads(tmp_path: Path, etc: Path) -> None:
    paths = [tmp_path / "mine.conf", tmp_path / "home/.nccl.conf", etc / "nccl.conf"]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.write_text("# ours\nNCCL_DEBUG=INFO # why\n\n  NCCL_ALGO=Ring\n")
    lines = ("NCCL_DEBUG=INFO", "NCCL_ALGO=Ring")
    found = collect(tmp_path, NCCL_CONF_FILE=str(paths[0])).nccl_files
    assert found == tuple(SettingsFile(path=str(path), lines=lines) for path in paths)
    assert collect(tmp_path, NCCL_CONF_FILE=str(paths[2])).nccl_files == (found[2], found[1]), "each is told once"


def test_a_file_of_nccl_that_cannot_be_read_is_unknown(tmp_path: Path, etc: Path) -> None:
    (etc / "nccl.conf").mkdir()
    found = collect(tmp_path).nccl_files
    assert isinstance(found, Unknown)
    assert found.text.startswith(f"{etc / 'nccl.conf'}: ")
