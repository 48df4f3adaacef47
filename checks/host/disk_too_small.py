"""Free disk below what the machine file states."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Host, Machine


@check(
    title="A disk that the run writes to is nearly full",
    severity=Severity.ERROR,
    why="A checkpoint that does not fit is lost with the hours before it, and a full disk also breaks the "
    "compile cache halfway.",
    fix="Free space on that file system, or set `state = PATH` in [tool.dflash-env] to a folder on a larger, "
    "node-local disk.",
)
def disk_too_small(host: Host, machine: Machine) -> Iterator[Finding]:
    needed = machine.host.disk_bytes
    for disk in (each for each in host.disks if each.judged):
        free = need(disk.free_bytes)
        if free < needed:
            yield Finding(
                f"{disk.folder} ({disk.purpose}) has {free / 1e9:,.1f} GB free; "
                f"machine {machine.name} states {needed / 1e9:,.1f} GB"
            )
