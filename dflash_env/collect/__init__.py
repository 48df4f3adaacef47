"""The only readers of the machine: one section, one file, and no exception leaves."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from dflash_env import bundle
from dflash_env.collect import cache, environ, gpus, host, repo, venv
from dflash_env.config import Config
from dflash_env.facts import Facts, Profile, Section, T, Unknown
from dflash_env.state import State


def collect(
    config: Config, profile: Profile, deep: bool = False, seen: Callable[[int], None] = lambda _: None
) -> Facts:
    """Read everything that the checks judge; with `deep` every byte of the venv, telling `seen` how many."""
    state, lock, machine = State(config.state), config.lock(profile), config.machine(profile)
    with ThreadPoolExecutor() as pool:
        # These two wait for other processes, NVML's child and git's, while the rest is read here.
        gpus_read = pool.submit(_guarded, gpus.collect)
        repo_read = pool.submit(
            _guarded, lambda: repo.collect(bundle.root(), config.source, lock, config.expectations(profile))
        )
        found_venv = _guarded(lambda: venv.collect(state, lock, deep, seen))
        return Facts(
            profile=profile,
            lock=lock,
            machine=machine,
            host=_guarded(lambda: host.collect(state)),
            gpus=gpus_read.result(),
            venv=found_venv,
            repo=repo_read.result(),
            cache=_guarded(lambda: cache.collect(state.compile_cache(venv.key(found_venv)))),
            environ=_guarded(lambda: environ.collect(lock)),
        )


def _guarded(read: Callable[[], Section[T]]) -> Section[T]:
    try:
        return read()
    except Exception as error:
        return Unknown(code="crashed", text=f"{type(error).__name__}: {error}")
