"""Shared memory below what the machine file states."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Host, Machine


@check(
    title="/dev/shm is too small",
    severity=Severity.ERROR,
    why="NCCL and data workers exchange through /dev/shm. Where it is too small they die with a bus error, "
    "often at the first all-reduce; a container gets 64 MiB unless told otherwise.",
    fix="Start the container with `--shm-size=16g` (or `--ipc=host`); on the host: `sudo mount -o "
    "remount,size=16g /dev/shm`.",
)
def shm_too_small(host: Host, machine: Machine) -> Iterator[Finding]:
    found, needed = need(host.shm_bytes), machine.host.shm_bytes
    if found < needed:
        yield Finding(
            f"/dev/shm holds {found / 2**20:,.0f} MiB; machine {machine.name} states {needed / 2**20:,.0f} MiB"
        )
