"""Packages in the user's own site-packages."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Environ, NotApplicable


@check(
    title="There are packages in the user's site-packages",
    severity=Severity.WARNING,
    why="Every Python of that version that is not in a venv imports them, and so does a venv whose pyvenv.cfg "
    "was edited to include the system's packages. `run` sets PYTHONNOUSERSITE; a command typed by hand does not.",
    fix="Run `export PYTHONNOUSERSITE=1`, or remove what `pip install --user` put there.",
)
def user_site_visible(environ: Environ) -> Iterator[Finding]:
    if not isinstance(environ.user_site, NotApplicable):
        yield Finding(f"{need(environ.user_site)} is not empty")
