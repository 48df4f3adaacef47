"""`dflash-env doctor`: read the machine, judge it, say what is wrong and how to mend it."""

import time
from pathlib import Path

import click

from dflash_env import config, gate
from dflash_env.commands.options import ignore_option, profile_option
from dflash_env.errors import Failure
from dflash_env.render import json as render_json
from dflash_env.render import text as render_text


@click.command()
@profile_option
@ignore_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
@click.option(
    "--replay",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Judge the facts of a saved --json report with today's checks; this machine is not looked at.",
)
@click.option("--deep", is_flag=True, help="Hash every byte of the venv, not only what moved since it was sealed.")
@click.option("-v", "--verbose", is_flag=True, help="Show every check, not only those that found something.")
def doctor(
    profile: str | None, ignored: tuple[str, ...], as_json: bool, replay: Path | None, deep: bool, verbose: bool
) -> int:
    """Check this machine against the lock, the machine file and git HEAD.

    Exits with 0 when nothing blocks a launch (warnings are allowed), 1 when something does, and 2 when the command
    line or the configuration is wrong.
    """
    if replay and (profile or deep):
        raise Failure("--replay judges a report as it was made", "leave --profile and --deep out")
    began = time.monotonic()
    report = gate.again(replay, ignored) if replay else gate.now(config.load(Path.cwd()), profile, deep, ignored)
    if as_json:
        click.echo(render_json.report(report), nl=False)
    else:
        click.echo(render_text.report(report, time.monotonic() - began, verbose))
    return report.exit_code
