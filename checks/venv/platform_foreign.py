"""A venv that was built for another machine."""

import re
from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Host, Venv


@check(
    title="The training venv was built for another machine",
    severity=Severity.ERROR,
    why="A venv copied or mounted from elsewhere holds programs for that architecture and links to that Python; "
    "what was made with a newer glibc does not load with an older one.",
    fix="Run `dflash-env rebuild` here, with `state` in [tool.dflash-env] on a disk of this machine.",
)
def platform_foreign(venv: Venv, host: Host) -> Iterator[Finding]:
    seal = need(venv.seal)
    if seal.platform != host.platform:
        yield Finding(f"built on {seal.platform}; this host is {host.platform}")
    elif _name(seal.libc) != _name(host.libc) or _release(seal.libc) > _release(host.libc):
        yield Finding(f"built with {seal.libc or 'an unnamed libc'}; this host has {host.libc or 'an unnamed one'}")


def _name(libc: str) -> str:
    return libc.partition(" ")[0]


def _release(libc: str) -> list[int]:
    """2.9 is older than 2.36."""
    return [int(part) for part in re.findall(r"\d+", libc.partition(" ")[2])]
