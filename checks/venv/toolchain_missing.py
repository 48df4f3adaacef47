"""Nothing to compile with, where the profile compiles."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Host, Lock, NotApplicable, Profile, Venv


@check(
    title="Triton and Inductor cannot compile here",
    severity=Severity.ERROR,
    why="Triton builds its launcher with a C compiler and Python's headers, and Inductor its CPU code. Without "
    "them torch.compile fails at the first step.",
    fix="Run `sudo apt-get install gcc python3-dev` (on Red Hat `sudo dnf install gcc python3-devel`).",
)
def toolchain_missing(venv: Venv, host: Host, profile: Profile, lock: Lock) -> Iterator[Finding]:
    need(venv.path)
    if not profile.compile:
        return
    if isinstance(host.compiler, NotApplicable):
        yield Finding(f"there is no C compiler: {host.compiler.why}", "Run `sudo apt-get install gcc`.")
    # Where the interpreter itself is gone, so are its headers; that is told elsewhere.
    if isinstance(venv.header, NotApplicable) and not isinstance(venv.interpreter, NotApplicable):
        install = f"Run `sudo apt-get install python{lock.python}-dev` (on Red Hat `python{lock.python}-devel`)."
        yield Finding(f"Python's headers are missing: {venv.header.why}", install)
    for reading in (host.compiler, venv.header):
        if not isinstance(reading, NotApplicable):
            need(reading)
