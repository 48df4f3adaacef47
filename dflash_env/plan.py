"""What will be done, as data: `--dry-run` prints exactly what would run."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from dflash_env.facts import SYSTEM_PATH, Interpreter, Lock, Profile
from dflash_env.state import State

UV_PASSES = (
    "ALL_PROXY",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NETRC",
    "NO_PROXY",
    "PATH",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "SSL_CLIENT_CERT",
    "TMPDIR",
    "UV_DEFAULT_INDEX",
    "UV_EXTRA_INDEX_URL",
    "UV_FIND_LINKS",
    "UV_HTTP_TIMEOUT",
    "UV_INDEX",
    "UV_INDEX_*",
    "UV_INSECURE_HOST",
    "UV_KEYRING_PROVIDER",
    "UV_NATIVE_TLS",
    "UV_OFFLINE",
    "UV_SYSTEM_CERTS",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
)
"""The user's own index and network settings. They reach uv by name and are written nowhere: a URL may hold secrets."""

LAUNCH_PASSES = (
    "COLORTERM",
    "COLUMNS",
    "HOME",
    "LANG",
    "LC_ALL",
    "LINES",
    "LOGNAME",
    "NO_COLOR",
    "TERM",
    "TMPDIR",
    "USER",
)
"""What the trainer inherits from the shell. Everything else it sees is set by the plan."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One process: what is run, where, with which variables set and which passed on by name, and why."""

    why: str
    argv: tuple[str, ...]
    cwd: str
    env: dict[str, str] = field(default_factory=dict)
    passes: tuple[str, ...] = ()

    def environment(self, ours: Mapping[str, str] = os.environ) -> dict[str, str]:
        """The process's whole environment."""
        passed = {name: value for name, value in ours.items() if any(fnmatchcase(name, each) for each in self.passes)}
        return passed | self.env


@dataclass(frozen=True, kw_only=True)
class Build:
    """A venv to be built: two processes, then verified, sealed and made current by this tool itself."""

    key: str
    folder: str
    """Where it is built; it gets its name when it is whole."""
    lock: Lock
    interpreter: Interpreter
    steps: tuple[Step, ...]

    def forget(self, packages: tuple[str, ...]) -> Step:
        """Empties uv's cache of some packages, so that they are fetched again."""
        uv, cache = self.steps[0].argv[0], self.steps[0].argv[2:4]
        return Step(
            why=f"empty the tool's uv cache of {', '.join(packages)}",
            argv=(uv, "cache", "clean", *cache, *packages),
            cwd=self.steps[0].cwd,
            passes=UV_PASSES,
        )


@dataclass(frozen=True, kw_only=True)
class Launch:
    """A run to be started: its folder, its trainer and who does what."""

    run: str
    profile: str
    venv: str
    placement: dict[str, int | bool]
    config: str
    overrides: tuple[str, ...]
    resolve: Step
    trainer: Step

    @property
    def steps(self) -> tuple[Step, ...]:
        """Both processes, in their order."""
        return (self.resolve, self.trainer)


def venv_key(lock: Lock, interpreter: Interpreter) -> str:
    """The name of the venv that a lock and an interpreter make: 16 hex digits over everything that enters it."""
    what = [lock.digest, interpreter.version, interpreter.sha256]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]


def build(
    *,
    uv: str,
    cache: Path,
    lockfile: Path,
    lock: Lock,
    interpreter: Interpreter,
    folder: Path,
    user_config: Path | None,
    link_mode: str = "copy",
    offline: bool = False,
    find_links: str = "",
) -> Build:
    """The plan that makes `folder` the venv of `lock`; `find_links` is a folder of wheels that stands for any index."""
    # --cache-dir comes first: Build.forget takes it from there.
    common = ["--cache-dir", str(cache), "--no-python-downloads"]
    common += ["--config-file", str(user_config)] if user_config else ["--no-config"]
    common += ["--offline"] if offline else []
    source = ["--no-index", "--find-links", find_links] if find_links else []
    make = Step(
        why=f"make an empty venv with Python {interpreter.version}",
        argv=(uv, "venv", *common, "--relocatable", "--python", interpreter.path, str(folder)),
        cwd=str(folder.parent),
        passes=UV_PASSES,
    )
    # Never hard links: an edit in the venv would reach the cache and every later build (docs/decisions/0003).
    install = ["--require-hashes", "--no-build", "--link-mode", link_mode, "--python", str(folder / "bin" / "python")]
    fill = Step(
        why=f"install the {len(lock.packages)} packages of {lock.name}, every hash required",
        argv=(uv, "pip", "sync", *common, *source, *install, str(lockfile)),
        cwd=str(folder.parent),
        passes=UV_PASSES,
    )
    return Build(
        key=venv_key(lock, interpreter), folder=str(folder), lock=lock, interpreter=interpreter, steps=(make, fill)
    )


def launch(
    *,
    state: State,
    profile: Profile,
    venv: Path,
    run: Path,
    config: str,
    overrides: tuple[str, ...],
    gpus: tuple[str, ...],
    cores: int,
) -> Launch:
    """The plan that starts the trainer from `run`; `gpus` are the UUIDs it may see, in rank order."""
    ranks = profile.targets if profile.colocated else profile.targets + profile.drafters
    env = _launch_environment(state, venv, run, gpus, max(1, cores // ranks))
    python = str(venv / "bin" / "python")
    resolve = Step(
        why="complete and validate the trainer's configuration before any GPU is touched",
        argv=(python, "-m", "trainer", "resolve", str(run / "resolve.json"), str(run / "resolved.json")),
        cwd=str(run),
        env=env,
        passes=LAUNCH_PASSES,
    )
    trainer = Step(
        why="become the trainer",
        argv=(python, "-m", "trainer", "train", str(run / "train.json")),
        cwd=str(run),
        env=env,
        passes=LAUNCH_PASSES,
    )
    return Launch(
        run=str(run),
        profile=profile.name,
        venv=str(venv),
        placement={"targets": profile.targets, "drafters": profile.drafters, "colocated": profile.colocated},
        config=config,
        overrides=overrides,
        resolve=resolve,
        trainer=trainer,
    )


def _launch_environment(state: State, venv: Path, run: Path, gpus: tuple[str, ...], threads: int) -> dict[str, str]:
    compiled = state.compile_cache(venv.name)
    return {
        "CUDA_VISIBLE_DEVICES": ",".join(gpus),
        "HF_HOME": str(state.caches / "huggingface"),
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": str(threads),
        "PATH": f"{venv / 'bin'}:{SYSTEM_PATH}",
        "PYTHONNOUSERSITE": "1",
        "PYTHONPATH": str(run / "src"),
        "PYTHONPYCACHEPREFIX": str(state.caches / "bytecode" / venv.name),
        "PYTHONSAFEPATH": "1",
        "PYTHONUNBUFFERED": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "TORCHINDUCTOR_CACHE_DIR": str(compiled / "inductor"),
        "TRITON_CACHE_DIR": str(compiled / "triton"),
    }
