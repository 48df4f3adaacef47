"""The GPUs as NVML lists them, read in a child process with a limit: a wedged driver hangs whoever calls it."""

import contextlib
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pynvml

from dflash_env import codec
from dflash_env.collect import child
from dflash_env.facts import Gpu, Gpus, NotApplicable, Reading, Section, T, Unknown

LIMIT_S = 20.0


@dataclass(frozen=True)
class Answer:
    """What the child prints."""

    gpus: Section[Gpus]


def collect() -> Section[Gpus]:
    """Ask NVML in a child; a child that hangs, dies or talks nonsense is an Unknown."""
    argv = [sys.executable, "-I", "-m", "dflash_env.collect.gpus"]
    answer = child.run(argv, limit_s=LIMIT_S, env=child.environment())
    if isinstance(answer, Unknown):
        return answer
    try:
        return codec.decode(Answer, json.loads(answer)).gpus
    except (codec.DecodeError, ValueError) as error:
        return Unknown(code="malformed", text=f"the NVML child answered no facts: {error}")


def ask() -> Section[Gpus]:
    """Ask NVML in this process."""
    try:
        pynvml.nvmlInit()
    except (pynvml.NVMLError_LibraryNotFound, pynvml.NVMLError_DriverNotLoaded) as error:
        return Gpus(driver=NotApplicable(why=str(error)), devices=())
    except pynvml.NVMLError as error:
        return _unknown(error)
    try:
        count = _call(pynvml.nvmlDeviceGetCount)
        if not isinstance(count, int):
            return Unknown(code="failed", text=f"NVML does not say how many GPUs there are: {count}")
        return Gpus(driver=_call(pynvml.nvmlSystemGetDriverVersion), devices=tuple(map(_gpu, range(count))))
    finally:
        with contextlib.suppress(pynvml.NVMLError):
            pynvml.nvmlShutdown()


def _gpu(index: int) -> Gpu:
    handle: Reading[object] = _call(lambda: pynvml.nvmlDeviceGetHandleByIndex(index))
    if isinstance(handle, Unknown | NotApplicable):
        return Gpu(index=index, uuid=handle, name=handle, memory_bytes=handle)
    return Gpu(
        index=index,
        uuid=_call(lambda: str(pynvml.nvmlDeviceGetUUID(handle))),
        name=_call(lambda: str(pynvml.nvmlDeviceGetName(handle))),
        memory_bytes=_call(lambda: int(pynvml.nvmlDeviceGetMemoryInfo(handle).total)),
    )


def _call(function: Callable[[], T]) -> Reading[T]:
    try:
        return function()
    except pynvml.NVMLError_NotSupported as error:
        return NotApplicable(why=str(error))
    except pynvml.NVMLError as error:
        return _unknown(error)
    except UnicodeDecodeError as error:
        return Unknown(code="malformed", text=f"NVML answered no UTF-8: {error}")


def _unknown(error: pynvml.NVMLError) -> Unknown:
    return Unknown(code=f"nvml-{error.value}", text=str(error))


if __name__ == "__main__":
    json.dump(codec.encode(Answer(ask())), sys.stdout)
