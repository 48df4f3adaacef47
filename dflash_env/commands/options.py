"""Options that several commands share, so that they read the same everywhere."""

import click

ignore_option = click.option(
    "--ignore",
    "ignored",
    metavar="CHECK=REASON",
    multiple=True,
    help="Let what this check finds not refuse; the reason is shown and kept with the run.",
)
profile_option = click.option(
    "--profile", metavar="NAME", help="The profile in [tool.dflash-env.profiles]; by default `default_profile`."
)
