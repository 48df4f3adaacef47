"""Packages of two CUDA majors in one venv."""

import re
from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Lock, Venv

# From CUDA 13 on NVIDIA's own packages carry no suffix, but for cuDNN, NCCL and their like.
UNSUFFIXED = re.compile(
    r"nvidia-(cublas|cuda-(cccl|crt|cupti|nvcc|nvrtc|runtime)|cudnn|cufft|cufile|curand|cusolver|cusparse|cusparselt"
    r"|nccl|nvjitlink|nvshmem|nvtx|nvvm)"
)
SUFFIXED = re.compile(r".+-cu(\d\d)(\d\d?)?")


@check(
    title="Packages of two CUDA majors are in one venv",
    severity=Severity.ERROR,
    why="They hold libraries of the same names (libcudnn.so.9, libnccl.so.2), and which one is loaded depends on "
    "the order of installation. torch prints the version that it was compiled with, not the one that it got.",
    fix="Run `dflash-env rebuild`; keep serving packages in a venv of their own.",
)
def cuda_mixed(venv: Venv, lock: Lock) -> Iterator[Finding]:
    need(venv.path)
    majors: dict[str, list[str]] = {}
    for one in venv.distributions:
        if major := major_of(one.name):
            majors.setdefault(major, []).append(f"{one.name} {one.version}")
    wanted = lock.cuda.partition(".")[0] if lock.cuda != "none" else ""
    others = sorted(majors.keys() - {wanted})
    if others and (wanted or len(majors) > 1):
        told = "; ".join(f"CUDA {major}: {', '.join(sorted(majors[major]))}" for major in sorted(majors))
        yield Finding(f"{told}; the lock is for CUDA {lock.cuda}")


def major_of(name: str) -> str:
    """The CUDA major that a package belongs to by its name; empty where the name says nothing."""
    if found := SUFFIXED.fullmatch(name):
        return found[1]
    return "13" if UNSUFFIXED.fullmatch(name) else ""
