"""Files of the venv that have a second name."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Lock, Venv


@check(
    title="Files of the training venv share their content with another name",
    severity=Severity.WARNING,
    why="Whoever edits the other name, in a cache, a backup or a second venv, edits this venv; and an edit here "
    "reaches the cache and every later build. This tool builds with private copies only.",
    fix="Run `find PATH -type f -links +1` to see which; then `dflash-env rebuild`.",
)
def hard_linked(venv: Venv, lock: Lock) -> Iterator[Finding]:
    need(venv.seal)
    # What an installer links from its cache beside the locked packages is told by what it installed.
    if venv.hard_linked and not venv.foreign(lock):
        files = "1 file has" if venv.hard_linked == 1 else f"{venv.hard_linked} files have"
        look = f"Run `find {venv.path} -type f -links +1` to see which; then `dflash-env rebuild`."
        yield Finding(f"{files} a second name outside of what was built", look)
