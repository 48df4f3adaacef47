"""`dflash-env rebuild`: make the locked training venv and bring it into use."""

import time
from pathlib import Path

import click

from dflash_env import build, bundle, config, execute, gate
from dflash_env import restore as restoring
from dflash_env.collect import programs
from dflash_env.commands.options import profile_option
from dflash_env.errors import Failure
from dflash_env.facts import Lock
from dflash_env.render import text as render_text
from dflash_env.state import State


@click.command(short_help="Build the locked training venv beside the one in use, and switch to it.")
@profile_option
@click.option("--dry-run", is_flag=True, help="Print what would run, and run nothing.")
@click.option("--restore", is_flag=True, help="First put tracked files back to HEAD, keeping what that would lose.")
@click.option("--rollback", is_flag=True, help="Return to the venv that was in use before, if it is still whole.")
@click.option("--offline", is_flag=True, help="Use the tool's uv cache, or --find-links, and no network.")
@click.option(
    "--find-links",
    type=click.Path(exists=True, file_okay=False, resolve_path=True),
    help="Take the wheels from this folder and from no index (`dflash-env lock --wheelhouse` fills one).",
)
@click.option(
    "--wait", default=3600.0, show_default=True, metavar="SECONDS", help="How long to wait for another rebuild."
)
def rebuild(
    profile: str | None,
    dry_run: bool,
    restore: bool,
    rollback: bool,
    offline: bool,
    find_links: str | None,
    wait: float,
) -> int:
    """Build the training venv that the lock describes, beside the one in use, and switch to it when it is whole.

    A venv that is whole is kept as it is. Ends with `doctor`: 3 when a step failed, else as doctor answers.
    """
    settings = config.load(Path.cwd())
    chosen = settings.profile(profile)
    lock, state = settings.lock(chosen), State(settings.state)
    supply = build.Supply(offline=offline, find_links=find_links or "", wait_s=wait)
    if restore and not dry_run:
        _put_back(settings, lock)
    if rollback and (offline or find_links or dry_run):
        raise Failure("--rollback builds nothing", "leave the other options out")
    if rollback:
        click.echo(f"· back to {build.roll_back(state, lock, wait).name}", err=True)
    elif dry_run:
        return _show(state, lock, settings.lockfile(f"{chosen.lock}.txt"), supply)
    else:
        build.provide(state, lock, settings.lockfile(f"{chosen.lock}.txt"), supply)
    began = time.monotonic()
    report = gate.now(settings, chosen.name)
    click.echo(render_text.report(report, time.monotonic() - began))
    return report.exit_code


def _put_back(settings: config.Config, lock: Lock) -> None:
    lost = restoring.survey(bundle.root(), settings.source, lock, execute.now())
    if lost.losses:
        restoring.apply(bundle.root(), lost)
        click.echo(f"· {len(lost.losses)} paths put back; kept as {lost.id} (dflash-env restore --undo)", err=True)


def _show(state: State, lock: Lock, lockfile: Path, supply: build.Supply) -> int:
    if folder := build.whole(state, lock):
        click.echo(f"the venv {folder.name} is whole; nothing would be built")
        return 0
    planned = build.planned(state, lock, lockfile, programs.find_python(lock.python), supply)
    click.echo("\n\n".join(map(render_text.step, planned.steps)))
    return 0
