"""`dflash-env run`: the gate, and the hand-off to the trainer."""

import time
from pathlib import Path

import click

from dflash_env import config, execute, gate, launch
from dflash_env.commands.options import ignore_option, profile_option
from dflash_env.errors import Exit
from dflash_env.render import text as render_text


@click.command()
@click.argument("name", type=click.Choice(["train"]))
@click.argument("overrides", nargs=-1, metavar="[KEY=VALUE]...")
@profile_option
@ignore_option
@click.option("--dry-run", is_flag=True, help="Judge the machine and print what would start; start nothing.")
def run(name: str, overrides: tuple[str, ...], profile: str | None, ignored: tuple[str, ...], dry_run: bool) -> int:
    """Check the machine, and only if nothing blocks become the trainer.

    KEY=VALUE changes the trainer's configuration, such as train.steps=100; the trainer validates it before any GPU is
    touched. Where a check of the source is ignored with a reason, the working tree's trainer runs instead of HEAD's,
    and the difference is kept with the run.

    Exits with 125 when the launch was refused for any reason; any other code is the trainer's own: 0 done, 1 failed,
    75 stopped and resumable, 77 configuration or data wrong.
    """
    settings = config.load(Path.cwd())
    began = time.monotonic()
    report = gate.now(settings, profile, ignored=ignored)
    click.echo(render_text.report(report, time.monotonic() - began))
    if report.exit_code is not Exit.OK:
        return Exit.REFUSED
    if dry_run:
        planned = launch.planned(settings, report, launch.folder(settings, report, name), overrides)
        click.echo("\n" + "\n\n".join(map(render_text.step, planned.steps)))
        return Exit.OK
    ready = launch.prepared(settings, report, name, overrides)
    click.echo(f"\nrun {ready.run}\n")
    return execute.hand_off(ready.trainer)
