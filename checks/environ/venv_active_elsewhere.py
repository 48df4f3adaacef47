"""Another venv that is active in the shell, or that uv would act on."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check
from dflash_env.facts import Environ, Lock, Venv

REMEDIES = {"VIRTUAL_ENV": "deactivate", "UV_PROJECT_ENVIRONMENT": "unset UV_PROJECT_ENVIRONMENT"}


@check(
    title="Another venv is active in this shell",
    severity=Severity.WARNING,
    why="`python`, `pip` and `uv` typed here act on that venv, and what one learns from them is not true of the "
    "training venv. `run` drops it: the trainer is started from the training venv by its full path.",
    fix="Run `deactivate`, and `unset UV_PROJECT_ENVIRONMENT`.",
)
def venv_active_elsewhere(environ: Environ, venv: Venv, lock: Lock) -> Iterator[Finding]:
    ours = {environ.tool_prefix}
    if isinstance(venv.path, str):
        # Activated through the link to it, its name is that of the link.
        ours |= {venv.path, f"{venv.path.rpartition('/')[0]}/current/{lock.name}"}
    takes = venv.path if isinstance(venv.path, str) else "a training venv, which is not there"
    for name, remedy in REMEDIES.items():
        active = environ.value(name).rstrip("/")
        # uv takes a relative name from the project's folder, which this tool's own venv usually lies in.
        if active and active not in ours and not environ.tool_prefix.endswith(f"/{active}"):
            yield Finding(f"{name}={active}; a run takes {takes}", f"Run `{remedy}`.")
