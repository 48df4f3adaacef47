"""The only readers of the machine: one section, one file, and no exception leaves."""

from collections.abc import Callable

from dflash_env import bundle
from dflash_env.collect import cache, environ, gpus, host, repo, venv
from dflash_env.config import Config
from dflash_env.facts import Facts, Profile, Section, T, Unknown
from dflash_env.state import State


def collect(
    config: Config, profile: Profile, deep: bool = False, seen: Callable[[int], None] = lambda _: None
) -> Facts:
    """Read everything that the checks judge; with `deep` every byte of the venv, telling `seen` how many."""
    state = State(config.state)
    lock = config.lock(profile)
    found_venv = _guarded(lambda: venv.collect(state, lock, deep, seen))
    return Facts(
        profile=profile,
        lock=lock,
        machine=config.machine(profile),
        host=_guarded(lambda: host.collect(state)),
        gpus=_guarded(gpus.collect),
        venv=found_venv,
        repo=_guarded(lambda: repo.collect(bundle.root(), config.source, lock, config.expectations(profile))),
        cache=_guarded(lambda: cache.collect(state.compile_cache(venv.key(found_venv)))),
        environ=_guarded(lambda: environ.collect(lock)),
    )


def _guarded(read: Callable[[], Section[T]]) -> Section[T]:
    try:
        return read()
    except Exception as error:
        return Unknown(code="crashed", text=f"{type(error).__name__}: {error}")
