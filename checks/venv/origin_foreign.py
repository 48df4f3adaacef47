"""A locked distribution that was installed from somewhere else."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Lock, Venv

SOURCES = {"editable": "is an editable install: its code lies in a folder that anybody may edit"}


@check(
    title="A locked distribution was installed from a folder or a URL",
    severity=Severity.ERROR,
    why="Its name and version are the locked ones, its files are not: the lock's hash vouches for a wheel, not "
    "for a working copy.",
    fix="Run `dflash-env rebuild`; to train with a patched package, make a wheel of it and lock that.",
)
def origin_foreign(venv: Venv, lock: Lock) -> Iterator[Finding]:
    need(venv.path)
    for one in venv.distributions:
        # One that is not locked, or not in this version, is told by its own finding.
        if one.origin != "index" and lock.versions.get(one.name) == one.version:
            source = SOURCES.get(one.origin, "was installed from a URL or a file, not from the lock")
            yield Finding(f"{one.name} {one.version} {source}")
