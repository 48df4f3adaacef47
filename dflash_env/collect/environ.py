"""Variables and files that inject code or settings into a Python or a library started from this shell."""

import contextlib
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from dflash_env.collect import child
from dflash_env.facts import Environ, Lock, NotApplicable, Reading, SettingsFile, Unknown, Variable

KNOWN = (
    "COMPUTE_PROFILE",
    "CONDA_PREFIX",
    "CONDA_SHLVL",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "MASTER_ADDR",
    "MASTER_PORT",
    "NSIGHT_CUDA_DEBUGGER",
    "NVIDIA_VISIBLE_DEVICES",
    "OPENCL_PROFILE",
    "PYTHONHOME",
    "PYTHONPATH",
    "RANK",
    "UV_PROJECT_ENVIRONMENT",
    "VIRTUAL_ENV",
    "WORLD_SIZE",
)
PREFIXES = ("CUDA_", "GLOO_", "INDUCTOR_", "NCCL_", "PYTORCH_", "TORCH", "TRITON_")
"""Names that CUDA, torch, Triton, NCCL and Gloo act on. A report travels, so nothing else of the shell is read."""

NVCC_LIMIT_S = 10.0

SECRET = re.compile(r"TOKEN|KEY|SECRET|PASSW|CREDENTIAL|AUTH", re.IGNORECASE)

_LIBRARY = re.compile(r"lib(?:cuda|cudart|cu[a-z]+|nv[a-zA-Z-]+|nccl|torch|c10)\w*\.so(?:\.\d+)*")


def collect(lock: Lock, environ: Mapping[str, str] = os.environ, etc: Path = Path("/etc")) -> Environ:
    """Read the known variables, what they lead to, and the files that need no variable."""
    home = Path(environ.get("HOME", "/nonexistent"))
    return Environ(
        variables=tuple(Variable(name=name, value=environ[name]) for name in sorted(environ) if _known(name)),
        tool_prefix=sys.prefix,
        user_site=_user_site(home, lock.python),
        libraries=tuple(_libraries(environ.get("LD_LIBRARY_PATH", ""))),
        toolkit=_toolkit(environ.get("CUDA_HOME") or environ.get("CUDA_PATH") or ""),
        preload_file=_preload(etc / "ld.so.preload"),
        nccl_files=_nccl_files([environ.get("NCCL_CONF_FILE", ""), str(home / ".nccl.conf"), str(etc / "nccl.conf")]),
    )


def _known(name: str) -> bool:
    return (name in KNOWN or name.startswith(PREFIXES)) and not SECRET.search(name)


def _user_site(home: Path, python: str) -> Reading[str]:
    folder = home / ".local" / "lib" / f"python{python}" / "site-packages"
    try:
        return str(folder) if any(folder.iterdir()) else NotApplicable(why=f"{folder} is empty")
    except FileNotFoundError:
        return NotApplicable(why=f"there is no {folder}")
    except OSError as error:
        return Unknown(code="denied", text=f"{folder}: {error.strerror}")


def _libraries(search_path: str) -> Iterator[str]:
    # An empty component means the working folder, to the loader.
    for name in search_path.split(":") if search_path else ():
        folder = Path(name or ".")
        # A folder that is not there, or that we may not list, is none that a library of ours is looked up in.
        with contextlib.suppress(OSError):
            yield from (str(each) for each in sorted(folder.iterdir()) if _LIBRARY.fullmatch(each.name))


def _toolkit(folder: str) -> Reading[str]:
    if not folder:
        return NotApplicable(why="neither CUDA_HOME nor CUDA_PATH is set")
    try:
        if not Path(folder).is_dir():
            return Unknown(code="missing", text=f"{folder} is no folder")
        stated = json.loads((Path(folder) / "version.json").read_text("utf-8"))
        return str(stated["cuda"]["version"])
    except FileNotFoundError:
        named = re.search(r"cuda-(\d+\.\d+)", os.path.realpath(folder))
        return named[1] if named else _release(folder)
    except (OSError, ValueError, KeyError, TypeError) as error:
        return Unknown(code="malformed", text=f"{folder}/version.json: {type(error).__name__}")


def _release(folder: str) -> Reading[str]:
    """What the nvcc of a toolkit says of itself, where no file of it does."""
    nvcc = f"{folder}/bin/nvcc"
    said = child.run([nvcc, "--version"], limit_s=NVCC_LIMIT_S, env=child.environment())
    if isinstance(said, Unknown):
        return Unknown(code=said.code, text=f"{folder} has no version.json, and its {said.text}")
    release = re.search(rb"release (\d+\.\d+)", said)
    return release[1].decode() if release else Unknown(code="malformed", text=f"{nvcc} --version states no release")


def _preload(path: Path) -> Reading[tuple[str, ...]]:
    lines = _lines(path)
    if isinstance(lines, Unknown):
        return lines
    return tuple(word for line in lines for word in line.replace(":", " ").split())


def _nccl_files(paths: list[str]) -> Reading[tuple[SettingsFile, ...]]:
    found = []
    for path in dict.fromkeys(filter(None, paths)):
        lines = _lines(Path(path))
        if isinstance(lines, Unknown):
            return lines
        if lines:
            found.append(SettingsFile(path=path, lines=lines))
    return tuple(found)


def _lines(path: Path) -> tuple[str, ...] | Unknown:
    """The lines of a settings file without comments; none where there is no file."""
    try:
        text = path.read_text("utf-8", "replace")
    except FileNotFoundError:
        return ()
    except OSError as error:
        return Unknown(code="denied", text=f"{path}: {error.strerror}")
    return tuple(line for each in text.splitlines() if (line := each.partition("#")[0].strip()))
