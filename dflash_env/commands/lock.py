"""`dflash-env lock`: write the lockfiles from their `.in` files."""

from datetime import date
from pathlib import Path

import click

from dflash_env import config, locking
from dflash_env.errors import Failure


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--exclude-newer",
    metavar="DATE",
    help="Resolve as the index stood at DATE (YYYY-MM-DD); by default the date in each lock, or today for a new one.",
)
@click.option(
    "--wheelhouse",
    type=click.Path(file_okay=False, path_type=Path, resolve_path=True),
    help="Collect the training locks' wheels in this folder, for `rebuild --find-links` where there is no network.",
)
@click.option("--upgrade", is_flag=True, help="Resolve as the index stands today.")
def lock(names: tuple[str, ...], exclude_newer: str | None, upgrade: bool, wheelhouse: Path | None) -> int:
    """Lock NAME, such as cu12-cp311 or dev; every lock of the project by default.

    A training lock is built once before it is written, so that it states what it unpacks to.
    """
    if exclude_newer and upgrade:
        raise Failure("--upgrade means today, and --exclude-newer names another date", "leave one of them out")
    if exclude_newer and not _is_date(exclude_newer):
        raise Failure(f"--exclude-newer {exclude_newer}: not a date", "write it as 2026-11-30")
    settings = config.load(Path.cwd())
    locking.write(settings, names, locking.today() if upgrade else exclude_newer, wheelhouse)
    return 0


def _is_date(text: str) -> bool:
    try:
        return bool(date.fromisoformat(text))
    except ValueError:
        return False
