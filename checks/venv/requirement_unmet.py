"""An installed distribution whose requirement nothing installed meets."""

import re
from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Lock, Venv
from packaging.utils import canonicalize_name


@check(
    title="A requirement of an installed distribution is not met",
    severity=Severity.ERROR,
    why="Everything is installed as locked, and yet a package asks for what is not there: the lock itself was "
    "edited, or made with an override. The import fails at a launch, or only in the branch that needs it.",
    fix="Run `dflash-env lock`, commit the lock, then run `dflash-env rebuild`.",
)
def requirement_unmet(venv: Venv, lock: Lock) -> Iterator[Finding]:
    need(venv.path)
    foreign = venv.foreign(lock)
    for one in venv.unmet:
        named = re.match(r"[\w.-]+", one.requirement)
        # What is missing or swapped against the lock is told by its own finding.
        if foreign.isdisjoint({one.distribution, canonicalize_name(named[0]) if named else ""}):
            there = f"version {one.found} is installed" if one.found else "nothing installed is that"
            yield Finding(f"{one.distribution} requires {one.requirement}; {there}")
