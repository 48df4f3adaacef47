"""Another number of GPUs than the machine file states."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Gpus, Machine, Profile


@check(
    title="The number of GPUs is not the one the machine has",
    severity=Severity.ERROR,
    why="A missing GPU means a device fell off the bus or was not passed into this container; an extra one "
    "means that this is another machine. Either way the ranks would not stand where the plan puts them.",
    fix="Compare `nvidia-smi -L` with `lspci | grep -i nvidia`; a device that only lspci shows needs a reboot "
    "or service. If this is another machine, name its file in the profile's `machine`.",
)
def count_wrong(gpus: Gpus, machine: Machine, profile: Profile) -> Iterator[Finding]:
    need(gpus.driver)
    found = len(gpus.devices)
    if found != machine.gpus.count:
        yield Finding(f"NVML lists {found} GPUs; machine {machine.name} has {machine.gpus.count}")
    if machine.gpus.count < profile.gpus:
        yield Finding(
            f"profile {profile.name} needs {profile.gpus} GPUs; machine {machine.name} has {machine.gpus.count}",
            "Name a larger machine in the profile, or fewer targets and drafters.",
        )
