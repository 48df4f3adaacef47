"""A library on LD_LIBRARY_PATH that has the name of a locked one."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Environ, Venv


@check(
    title="LD_LIBRARY_PATH holds a library of the training venv's names",
    severity=Severity.WARNING,
    why="The loader looks there before the folders of the venv for everything that is found by name, such as "
    "cuDNN's parts: one release then runs with parts of another. `run` drops the variable; in this shell it acts.",
    fix="Run `unset LD_LIBRARY_PATH`, and remove it from your shell's start-up files.",
)
def library_shadowed(environ: Environ, venv: Venv) -> Iterator[Finding]:
    if not environ.libraries:
        return
    need(venv.seal)
    locked = {path.rpartition("/")[2]: path for path in venv.libraries}
    for library in environ.libraries:
        if ours := locked.get(library.rpartition("/")[2]):
            yield Finding(f"{library} would be loaded for {venv.path}/{ours}")
