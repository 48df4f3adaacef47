"""Variables and files that inject code into a Python or a process started from this shell."""

import os
from collections.abc import Mapping
from pathlib import Path

from dflash_env.facts import Environ, Reading, Unknown, Variable

KNOWN = ("PYTHONPATH", "PYTHONHOME", "LD_PRELOAD")
"""The only names whose values are read: a report travels, and other variables hold secrets."""


def collect(environ: Mapping[str, str] = os.environ, preload: Path = Path("/etc/ld.so.preload")) -> Environ:
    """Read the known variables and the loader's preload list."""
    return Environ(
        variables=tuple(Variable(name=name, value=environ[name]) for name in KNOWN if name in environ),
        preload_file=_preload(preload),
    )


def _preload(path: Path) -> Reading[tuple[str, ...]]:
    try:
        text = path.read_text("utf-8", "replace")
    except FileNotFoundError:
        return ()
    except OSError as error:
        return Unknown(code="denied", text=f"{path}: {error.strerror}")
    lines = (line.partition("#")[0] for line in text.splitlines())
    return tuple(word for line in lines for word in line.replace(":", " ").split())
