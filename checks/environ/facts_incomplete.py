"""The owner of every environment reading that could not be taken."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, missing
from dflash_env.facts import Environ, Unknown


@check(
    title="What this user's files inject could not be read",
    severity=Severity.ERROR,
    why="A preloaded library can replace NCCL or cuDNN, an nccl.conf can turn the links between GPUs off; what "
    "cannot be read may do either.",
    fix="Make the named file or folder readable (`ls -ld PATH` shows whose it is, `chmod a+r PATH` helps).",
)
def facts_incomplete(environ: Environ | Unknown) -> Iterator[Finding]:
    if isinstance(environ, Unknown):
        yield from missing({"environ": environ})
        return
    yield from missing(
        {
            "environ.user_site": environ.user_site,
            "environ.preload_file": environ.preload_file,
            "environ.nccl_files": environ.nccl_files,
        }
    )
