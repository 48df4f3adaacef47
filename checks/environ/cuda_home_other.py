"""CUDA_HOME of another CUDA than the lock's."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, missing
from dflash_env.facts import Environ, Lock, NotApplicable, Unknown


@check(
    title="CUDA_HOME is no toolkit of the lock's CUDA major",
    severity=Severity.WARNING,
    why="Extensions built in this shell are compiled with that nvcc and those headers, and fail or misbehave "
    "beside the locked libraries. `run` drops CUDA_HOME and CUDA_PATH.",
    fix="Run `unset CUDA_HOME CUDA_PATH`, or set CUDA_HOME to a toolkit of the lock's CUDA.",
)
def cuda_home_other(environ: Environ, lock: Lock) -> Iterator[Finding]:
    if isinstance(environ.toolkit, NotApplicable) or lock.cuda == "none":
        return
    toolkit = environ.toolkit
    if isinstance(toolkit, Unknown):
        # Of a toolkit that is gone, or says nothing of itself, nobody knows that it is the lock's.
        yield from missing({"environ.toolkit": toolkit})
    elif toolkit.partition(".")[0] != lock.cuda.partition(".")[0]:
        folder = environ.value("CUDA_HOME") or environ.value("CUDA_PATH")
        yield Finding(f"{folder} is CUDA {toolkit}; the lock is for CUDA {lock.cuda}")
