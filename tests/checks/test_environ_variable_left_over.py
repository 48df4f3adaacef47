"""environ-variable-left-over: settings that act on what is typed here, and not on a run."""

from checks.environ.variable_left_over import variable_left_over
from tests import healthy


def told(**variables: str) -> list[str]:
    return [finding.message for finding in variable_left_over(environ=healthy.shell(**variables))]


def test_fires_once_for_each_class() -> None:
    assert told(
        CUDA_LAUNCH_BLOCKING="1",
        TORCHDYNAMO_DISABLE="1",
        NCCL_ASYNC_ERROR_HANDLING="1",
        NCCL_P2P_DISABLE="1",
        TORCH_NCCL_BLOCKING_WAIT="1",
        CUDA_INJECTION64_PATH="/opt/prof.so",
        TRITON_PTXAS_PATH="/usr/local/cuda/bin/ptxas",
        TORCHINDUCTOR_CACHE_DIR="/tmp/cache",
    ) == [
        "CUDA_LAUNCH_BLOCKING=1 TORCHDYNAMO_DISABLE=1: changes results, disables the compiler or disables checks",
        "NCCL_ASYNC_ERROR_HANDLING=1: was renamed: torch reads TORCH_NCCL_… now",
        "NCCL_P2P_DISABLE=1 TORCH_NCCL_BLOCKING_WAIT=1: tunes or breaks the communication between GPUs",
        "CUDA_INJECTION64_PATH=/opt/prof.so: injects a profiler or debugger",
        "TRITON_PTXAS_PATH=/usr/local/cuda/bin/ptxas: redirects Triton to another program or library",
        "TORCHINDUCTOR_CACHE_DIR=/tmp/cache: is a setting of CUDA, torch or Triton",
    ]


def test_fires_for_gloo_as_for_nccl() -> None:
    [finding] = variable_left_over(environ=healthy.shell(GLOO_SOCKET_IFNAME="eth2"))
    assert finding.message == "GLOO_SOCKET_IFNAME=eth2: tunes or breaks the communication between processes"
    assert finding.fix == "Run `unset GLOO_SOCKET_IFNAME`."


def test_fires_with_the_command_that_unsets_them() -> None:
    [finding] = variable_left_over(environ=healthy.shell(NCCL_ALGO="Ring", NCCL_PROTO="LL"))
    assert finding.fix == "Run `unset NCCL_ALGO NCCL_PROTO`."


def test_fires_for_an_allocator_that_is_set_twice() -> None:
    assert told(PYTORCH_ALLOC_CONF="a:1", PYTORCH_CUDA_ALLOC_CONF="b:2") == [
        "PYTORCH_ALLOC_CONF=a:1 PYTORCH_CUDA_ALLOC_CONF=b:2: set the allocator twice, and one is ignored"
    ]


def test_fires_for_an_allocator_that_is_set_once_as_for_any_setting() -> None:
    assert told(PYTORCH_CUDA_ALLOC_CONF="a:1") == ["PYTORCH_CUDA_ALLOC_CONF=a:1: is a setting of CUDA, torch or Triton"]


def test_fires_for_a_file_that_nccl_would_read() -> None:
    assert told(NCCL_CONF_FILE="/opt/nccl.conf") == [
        "NCCL_CONF_FILE=/opt/nccl.conf: tunes or breaks the communication between GPUs"
    ]


def test_quiet_on_the_healthy_machine() -> None:
    assert told() == []


def test_quiet_about_what_is_harmless_or_told_elsewhere() -> None:
    assert (
        told(
            CUDA_HOME="/usr/local/cuda",
            CUDA_PATH="/usr/local/cuda",
            CUDA_VERSION="12.8.1",
            CUDA_VISIBLE_DEVICES="0",
            NCCL_VERSION="2.27.5",
            TORCH_CUDA_ARCH_LIST="9.0",
            LD_PRELOAD="/a.so",
            RANK="0",
            TRITON_INTERPRET="",
        )
        == []
    )
