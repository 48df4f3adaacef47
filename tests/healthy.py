"""A healthy machine as facts; a test replaces only what its case is about, by `dataclasses.replace`."""

from dataclasses import replace

from dflash_env import facts

PROFILE = facts.Profile(
    name="node8", lock="cu12-cp311", machine="hgx-h100", config="qwen3-8b", gpus=8, targets=5, drafters=3
)
TINY = facts.Profile(
    name="tiny",
    lock="cu12-cp311",
    machine="tiny",
    config="tiny",
    gpus=0,
    targets=1,
    drafters=1,
    colocated=True,
    compile=False,
)
LOCK = facts.Lock(
    name="cu12-cp311",
    digest="d" * 64,
    python="3.11",
    platform="x86_64-manylinux_2_28",
    cuda="12.8",
    unpacked_bytes=7_000_000_000,
    uv="0.13.9",
    tree_digest="f" * 64,
    packages=(
        facts.Locked(name="torch", version="2.10.0", sha256="a" * 64, tree="1" * 64),
        facts.Locked(name="transformers", version="5.24.0", sha256="b" * 64, tree="2" * 64),
    ),
)
MACHINE = facts.Machine(
    name="hgx-h100",
    gpus=facts.MachineGpus(count=8),
    host=facts.MachineHost(shm_bytes=16 * 2**30, disk_bytes=200_000_000_000),
)
HOST = facts.Host(
    platform="linux-x86_64",
    libc="glibc 2.36",
    compiler="/usr/bin/gcc",
    python="3.11.7",
    cores=128,
    memory_bytes=2**41,
    shm_bytes=2**39,
    shm_free_bytes=2**39,
    disks=(facts.Disk(folder="/data/.dflash", purpose="venvs, caches and runs", free_bytes=10**13),),
)
GPUS = facts.Gpus(
    driver="570.133.20",
    devices=tuple(
        facts.Gpu(index=index, uuid=f"GPU-{index}", name="NVIDIA H100 80GB HBM3", memory_bytes=85_520_809_984)
        for index in range(8)
    ),
)
SEAL = facts.Seal(
    key="37d4bfe4184d9e46",
    lock="cu12-cp311",
    lock_digest="d" * 64,
    python="3.11.7",
    interpreter="/usr/bin/python3.11",
    interpreter_sha256="c" * 64,
    stdlib_sha256="e" * 64,
    platform="linux-x86_64",
    libc="glibc 2.36",
    built="2026-11-30T20:00:00Z",
)
VENV = facts.Venv(
    path="/data/.dflash/venvs/37d4bfe4184d9e46",
    seal=SEAL,
    distributions=(
        facts.Distribution(name="torch", version="2.10.0"),
        facts.Distribution(name="transformers", version="5.24.0"),
    ),
    libraries=(
        "lib/python3.11/site-packages/nvidia/cudnn/lib/libcudnn_graph.so.9",
        "lib/python3.11/site-packages/torch/lib/libtorch_cuda.so",
    ),
    packages={"torch": "1" * 64, "transformers": "2" * 64},
    tree_digest="f" * 64,
    interpreter=facts.Interpreter(path="/usr/bin/python3.11", version="3.11.7", sha256="c" * 64),
    header="/usr/include/python3.11/Python.h",
    stdlib_sha256=facts.NotApplicable(why="read only by --deep"),
)
NO_VENV = facts.NotApplicable(why="no venv was built for cu12-cp311")
ABSENT_VENV = facts.Venv(
    path=NO_VENV,
    seal=NO_VENV,
    distributions=(),
    tree_digest=NO_VENV,
    interpreter=NO_VENV,
    header=NO_VENV,
    stdlib_sha256=NO_VENV,
)
"""Of a machine on which nothing was built yet."""
CHECKOUT = facts.Checkout(branch="main", operation="", shallow=False)
REPO = facts.Repo(
    vouched_by="git",
    commit="1a2b3c4d5e6f" + "0" * 28,
    files=120,
    changes=(),
    strays=(),
    uncommitted=(),
    checkout=CHECKOUT,
)
CACHE = facts.Cache(
    path="/data/.dflash/caches/compile/37d4bfe4184d9e46", kind="folder", owner_uid=1000, our_uid=1000, mode=0o700
)
ENVIRON = facts.Environ(
    variables=(),
    tool_prefix="/data/dflash-env/.venv",
    user_site=facts.NotApplicable(why="there is no such folder"),
    libraries=(),
    toolkit=facts.NotApplicable(why="neither CUDA_HOME nor CUDA_PATH is set"),
    preload_file=(),
    nccl_files=(),
)


def shell(**variables: str) -> facts.Environ:
    """The healthy shell with variables set."""
    named = tuple(facts.Variable(name=name, value=value) for name, value in sorted(variables.items()))
    return replace(ENVIRON, variables=named)


FACTS = facts.Facts(
    profile=PROFILE,
    lock=LOCK,
    machine=MACHINE,
    host=HOST,
    gpus=GPUS,
    venv=VENV,
    repo=REPO,
    cache=CACHE,
    environ=ENVIRON,
)
