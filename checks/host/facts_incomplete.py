"""The owner of every host reading that could not be taken."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, missing
from dflash_env.facts import Host, Unknown


@check(
    title="What the host offers could not be read",
    severity=Severity.ERROR,
    why="Shared memory, a disk or a compiler that cannot be looked at may be absent; the run would find out "
    "hours later.",
    fix="Look at the named path by hand (`df -h PATH`); mount it, or make it readable.",
)
def facts_incomplete(host: Host | Unknown) -> Iterator[Finding]:
    if isinstance(host, Unknown):
        yield from missing({"host": host})
        return
    disks = {f"host.disks[{at}].free_bytes": disk.free_bytes for at, disk in enumerate(host.disks) if disk.judged}
    memory = {"host.shm_bytes": host.shm_bytes, "host.shm_free_bytes": host.shm_free_bytes}
    yield from missing({**memory, "host.compiler": host.compiler, **disks})
