"""`dflash-env rebuild`: make the locked training venv and bring it into use."""

import time
from pathlib import Path

import click

from dflash_env import build, config, gate
from dflash_env.collect import programs
from dflash_env.commands.options import profile_option
from dflash_env.render import text as render_text
from dflash_env.state import State


@click.command(short_help="Build the locked training venv beside the one in use, and switch to it.")
@profile_option
@click.option("--dry-run", is_flag=True, help="Print what would run, and run nothing.")
def rebuild(profile: str | None, dry_run: bool) -> int:
    """Build the training venv that the lock describes, beside the one in use, and switch to it when it is whole.

    A venv that is whole is kept as it is. Ends with `doctor`: 3 when a step failed, else as doctor answers.
    """
    settings = config.load(Path.cwd())
    chosen = settings.profile(profile)
    lock, lockfile, state = settings.lock(chosen), settings.lockfile(f"{chosen.lock}.txt"), State(settings.state)
    if dry_run:
        planned = build.planned(state, lock, lockfile, programs.find_python(lock.python))
        click.echo("\n\n".join(map(render_text.step, planned.steps)))
        return 0
    build.provide(state, lock, lockfile)
    began = time.monotonic()
    report = gate.now(settings, chosen.name)
    click.echo(render_text.report(report, time.monotonic() - began))
    return report.exit_code
