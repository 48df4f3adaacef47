"""No NVIDIA driver where the profile needs GPUs."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Gpus, NotApplicable, Profile


@check(
    title="There is no NVIDIA driver, and the profile needs GPUs",
    severity=Severity.ERROR,
    why="Without a driver CUDA sees no device. Training would have to run on the CPU, which nobody asked for.",
    fix="Install the driver on the host, or start the container with its GPUs (`docker run --gpus all`); to "
    "train without GPUs name a profile that says so (`--profile tiny`).",
)
def driver_missing(gpus: Gpus, profile: Profile) -> Iterator[Finding]:
    if isinstance(gpus.driver, NotApplicable):
        yield Finding(f"profile {profile.name} needs {profile.gpus} GPUs; NVML says: {gpus.driver.why}")
    else:
        need(gpus.driver)
