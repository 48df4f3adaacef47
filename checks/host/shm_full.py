"""Shared memory of the right size, filled by somebody else."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Host, Machine


@check(
    title="/dev/shm is nearly full",
    severity=Severity.ERROR,
    why="A run that was killed leaves its segments in /dev/shm. The next one finds the size that it needs and not the "
    "room, and dies with a bus error; what the machine file states must be free by half at least.",
    fix="Look with `ls -lt /dev/shm` for what no running process needs, and remove it.",
)
def shm_full(host: Host, machine: Machine) -> Iterator[Finding]:
    total, free, stated = need(host.shm_bytes), need(host.shm_free_bytes), machine.host.shm_bytes
    # Where even the whole of it is less than that, host-shm-too-small says so.
    if total >= stated and free < stated / 2:
        yield Finding(
            f"/dev/shm has {free / 2**20:,.0f} MiB of {total / 2**20:,.0f} MiB free; "
            f"machine {machine.name} states {stated / 2**20:,.0f} MiB"
        )
