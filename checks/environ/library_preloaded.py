"""A library preloaded into every process."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Environ


@check(
    title="A library is preloaded into every process",
    severity=Severity.ERROR,
    why="The loader maps it before anything else, so it can replace functions of CUDA, NCCL or libc. "
    "LD_PRELOAD is dropped from the trainer's environment, but it is already at work in this shell; "
    "/etc/ld.so.preload cannot be dropped at all.",
    fix="Run `unset LD_PRELOAD`; for /etc/ld.so.preload, ask the machine's administrator what put the line there.",
)
def library_preloaded(environ: Environ) -> Iterator[Finding]:
    if value := environ.value("LD_PRELOAD"):
        yield Finding(f"LD_PRELOAD={value}", "Run `unset LD_PRELOAD`.")
    for library in need(environ.preload_file):
        yield Finding(f"/etc/ld.so.preload names {library}")
