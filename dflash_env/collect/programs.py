"""The two programs that make a training venv: a Python and uv."""

import hashlib
import json
import shutil
import sys
from pathlib import Path

import uv

from dflash_env.collect import child
from dflash_env.errors import Failure, StepFailed
from dflash_env.facts import Interpreter, Unknown

_ASK = "import json,platform,sys; print(json.dumps([sys._base_executable, platform.python_version()]))"


def find_python(python: str) -> Interpreter:
    """The interpreter for a minor version such as `3.11`: our own if it fits, else `python3.11` on the PATH."""
    ours = f"{sys.version_info.major}.{sys.version_info.minor}" == python
    program = sys.executable if ours else shutil.which(f"python{python}")
    remedy = f"install Python {python} (such as Debian's python{python}), or name a lock for another Python"
    if program is None:
        raise Failure(f"the lock is for Python {python}, and there is no python{python} on the PATH", remedy)
    answer = child.run([program, "-I", "-c", _ASK], limit_s=20, env=child.environment())
    if isinstance(answer, Unknown):
        raise Failure(f"{program} does not start: {answer.text}", remedy)
    path, version = json.loads(answer)
    if not version.startswith(f"{python}."):
        raise Failure(f"{program} is Python {version}; the lock is for {python}", remedy)
    real = Path(path).resolve()
    return Interpreter(path=str(real), version=version, sha256=hashlib.sha256(real.read_bytes()).hexdigest())


def find_uv() -> str:
    """The uv that is installed with this tool, never another one from the PATH."""
    try:
        return str(uv.find_uv_bin())
    except FileNotFoundError:
        raise StepFailed(
            f"uv is not installed beside this tool ({sys.executable})",
            "in a clone run `rm -rf .venv && make setup`; elsewhere reinstall dflash-env",
        ) from None
