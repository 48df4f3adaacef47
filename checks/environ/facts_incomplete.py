"""The owner of every environment reading that could not be taken."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, missing
from dflash_env.facts import Environ, Unknown


@check(
    title="What the loader injects could not be read",
    severity=Severity.ERROR,
    why="A library preloaded into every process can replace NCCL or cuDNN; a list of them that cannot be read "
    "may hold one.",
    fix="Make /etc/ld.so.preload readable (`sudo chmod 644 /etc/ld.so.preload`).",
)
def facts_incomplete(environ: Environ | Unknown) -> Iterator[Finding]:
    if isinstance(environ, Unknown):
        yield from missing({"environ": environ})
        return
    yield from missing({"environ.preload_file": environ.preload_file})
