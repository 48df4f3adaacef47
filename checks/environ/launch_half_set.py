"""Some of a launcher's variables without the others."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check
from dflash_env.facts import Environ

NEEDED = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")


@check(
    title="Half a distributed launch is set in this shell",
    severity=Severity.WARNING,
    why="A program that finds RANK takes itself for one of many and waits for the others, or for an address that "
    "nobody set, until it times out. `run` drops them all and sets its own.",
    fix="Run `unset RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE MASTER_ADDR MASTER_PORT`.",
)
def launch_half_set(environ: Environ) -> Iterator[Finding]:
    there = [name for name in NEEDED if environ.value(name)]
    absent = [name for name in NEEDED if name not in there]
    if there and absent:
        stated = " ".join(f"{name}={environ.value(name)}" for name in there)
        yield Finding(f"{stated} without {', '.join(absent)}")
