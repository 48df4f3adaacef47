"""A library on LD_LIBRARY_PATH that has the name of a locked one, or of the driver's."""

import re
from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Environ, Venv


@check(
    title="LD_LIBRARY_PATH holds a library of the training venv's or the driver's names",
    severity=Severity.WARNING,
    why="The loader looks there before the folders of the venv for everything that is found by name, such as "
    "cuDNN's parts: one release then runs with parts of another. CUDA refuses to start over a libcuda that is not "
    "of the driver in the kernel. `run` drops the variable; in this shell it acts.",
    fix="Run `unset LD_LIBRARY_PATH`, and remove it from your shell's start-up files.",
)
def library_shadowed(environ: Environ, venv: Venv) -> Iterator[Finding]:
    if not environ.libraries:
        return
    of_driver: dict[str, list[str]] = {}
    for library in environ.libraries:
        folder, _, name = library.rpartition("/")
        if re.fullmatch(r"libcuda\.so(\.\d+)*", name):
            of_driver.setdefault(folder or ".", []).append(name)
    for folder, names in of_driver.items():
        yield Finding(f"{folder}/{', '.join(names)} would be loaded for the driver's own")
    need(venv.seal)
    locked = {path.rpartition("/")[2]: path for path in venv.libraries}
    for library in environ.libraries:
        if ours := locked.get(library.rpartition("/")[2]):
            yield Finding(f"{library} would be loaded for {venv.path}/{ours}")
