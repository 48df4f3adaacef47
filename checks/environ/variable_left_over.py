"""Settings of CUDA, torch, Triton, NCCL and Gloo left over in the shell."""

import re
from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check
from dflash_env.facts import Environ

HARMLESS = re.compile(
    r"CUDA_(HOME|PATH|VERSION|VISIBLE_DEVICES|DEVICE_ORDER)|NCCL_VERSION|PYTORCH_VERSION|TORCH_CUDA_ARCH_LIST"
)
"""Judged by another check, said by an image about itself, or of use to a build only."""

ALLOCATOR = re.compile(r"PYTORCH_(CUDA_|HIP_)?ALLOC_CONF")

CLASSES = (
    (
        r"TRITON_INTERPRET|TORCHDYNAMO_DISABLE|TORCH_COMPILE_DISABLE|TORCHINDUCTOR_FORCE_DISABLE_CACHES|PYTORCH_JIT"
        r"|CUDA_LAUNCH_BLOCKING|PYTORCH_NO_CUDA_MEMORY_CACHING|PYTORCH_NVML_BASED_CUDA_CHECK",
        "changes results, disables the compiler or disables checks",
    ),
    (r"NCCL_(ASYNC_ERROR_HANDLING|BLOCKING_WAIT)", "was renamed: torch reads TORCH_NCCL_… now"),
    (r"(TORCH_)?NCCL_.*", "tunes or breaks the communication between GPUs"),
    (r"GLOO_.*", "tunes or breaks the communication between processes"),
    (
        r"CUDA_INJECTION(32|64)_PATH|NSIGHT_CUDA_DEBUGGER|CUDA_.*COREDUMP.*|CUDA_DEVICE_WAITS_ON_EXCEPTION"
        r"|CUDA_PROFILE|COMPUTE_PROFILE|OPENCL_PROFILE|CUDA_AUTO_BOOST",
        "injects a profiler or debugger",
    ),
    (r"TRITON_(PTXAS.*|LIBCUDA|CUOBJDUMP|NVDISASM)_PATH", "redirects Triton to another program or library"),
    (r"(CUDA_|INDUCTOR_|PYTORCH_|TORCH|TRITON_).*", "is a setting of CUDA, torch or Triton"),
)


@check(
    title="Settings of CUDA, torch, Triton, NCCL or Gloo are left over in this shell",
    severity=Severity.WARNING,
    why="They act on everything that is started by hand from here, and make it another experiment than the run. "
    "`run` drops them: what the trainer needs is in its configuration.",
    fix="Unset them, and remove them from your shell's start-up files.",
)
def variable_left_over(environ: Environ) -> Iterator[Finding]:
    left = {one.name: one.value for one in environ.variables if one.value and not HARMLESS.fullmatch(one.name)}
    allocator = [name for name in left if ALLOCATOR.fullmatch(name)]
    if len(allocator) > 1:
        yield finding({name: left.pop(name) for name in allocator}, "set the allocator twice, and one is ignored")
    for pattern, what in CLASSES:
        if found := {name: left.pop(name) for name in [*left] if re.fullmatch(pattern, name)}:
            yield finding(found, what)


def finding(found: dict[str, str], what: str) -> Finding:
    """One class: what is set, and what it does."""
    stated = " ".join(f"{name}={value}" for name, value in found.items())
    return Finding(f"{stated}: {what}", f"Run `unset {' '.join(found)}`.")
