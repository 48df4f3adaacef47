"""Another venv that is active in the shell."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check
from dflash_env.facts import Environ, Lock, Venv


@check(
    title="Another venv is active in this shell",
    severity=Severity.WARNING,
    why="`python` and `pip` typed here act on that venv, and what one learns from them is not true of the "
    "training venv. `run` drops it: the trainer is started from the training venv by its full path.",
    fix="Run `deactivate`.",
)
def venv_active_elsewhere(environ: Environ, venv: Venv, lock: Lock) -> Iterator[Finding]:
    active = environ.value("VIRTUAL_ENV").rstrip("/")
    ours = {environ.tool_prefix}
    if isinstance(venv.path, str):
        # Activated through the link to it, its name is that of the link.
        ours |= {venv.path, f"{venv.path.rpartition('/')[0]}/current/{lock.name}"}
    if active and active not in ours:
        yield Finding(f"VIRTUAL_ENV={active}")
