"""The owner of every GPU reading that could not be taken."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, missing
from dflash_env.facts import Gpus, Unknown


@check(
    title="What the GPUs are could not be read",
    severity=Severity.ERROR,
    why="A GPU that does not answer is not a healthy GPU. NVML that hangs or fails is how a driver that needs "
    "a reset, a lost device, or a library of another version than the kernel module first shows.",
    fix="Run `nvidia-smi` by hand and read its error; `sudo dmesg | grep -i nvrm` names the device and the reason.",
)
def facts_incomplete(gpus: Gpus | Unknown) -> Iterator[Finding]:
    if isinstance(gpus, Unknown):
        yield from missing({"gpus": gpus})
        return
    yield from missing({"gpus.driver": gpus.driver})
    for index, gpu in enumerate(gpus.devices):
        where = f"gpus.devices[{index}]"
        yield from missing(
            {f"{where}.uuid": gpu.uuid, f"{where}.name": gpu.name, f"{where}.memory_bytes": gpu.memory_bytes}
        )
