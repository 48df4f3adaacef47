"""Options that several commands share, so that they read the same everywhere."""

import click

profile_option = click.option(
    "--profile", metavar="NAME", help="The profile in [tool.dflash-env.profiles]; by default `default_profile`."
)
