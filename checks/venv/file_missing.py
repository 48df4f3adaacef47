"""Files of the venv that are gone."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Lock, Venv


@check(
    title="Files of the training venv are missing",
    severity=Severity.ERROR,
    why="Uninstalling a package removes every path in its RECORD, also those that another package owns too: "
    "after a swap of CUDA 12 for 13 and back libcudnn is gone, and an installer still says that all is well.",
    fix="Run `dflash-env rebuild`: a new venv is built beside this one, never repaired in place.",
)
def file_missing(venv: Venv, lock: Lock) -> Iterator[Finding]:
    need(venv.seal)
    gone: dict[str, list[str]] = {}
    for each in venv.unexplained("missing", lock):
        gone.setdefault(each.owner or "the venv itself", []).append(each.path)
    for owner, paths in gone.items():
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        yield Finding(f"{paths[0]}{more} of {owner}: missing")
