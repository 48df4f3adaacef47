"""Paths that two distributions claim with different content."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Venv


@check(
    title="Two distributions own one path with different content",
    severity=Severity.ERROR,
    why="The one that was installed last wrote its bytes over the other's. The versions of both are as they "
    "should be, and cuDNN or NCCL of another CUDA is loaded; no installer's own check tells.",
    fix="Run `dflash-env rebuild`. An in-place sync removes the shared files with the package that it removes.",
)
def path_contested(venv: Venv) -> Iterator[Finding]:
    need(venv.seal)
    gone = {each.path for each in venv.drift if each.how == "missing"}
    paths: dict[tuple[str, str], list[str]] = {}
    for each in venv.collisions:
        nobodys = "the file is gone" if each.path in gone else "the bytes on disk are nobody's of them"
        whose = f"the bytes on disk are those of {each.on_disk}" if each.on_disk else nobodys
        paths.setdefault((" and ".join(each.owners), whose), []).append(each.path)
    for (owners, whose), shared in paths.items():
        more = f" and {len(shared) - 1} more" if len(shared) > 1 else ""
        yield Finding(f"{shared[0]}{more}: claimed by {owners}; {whose}")
