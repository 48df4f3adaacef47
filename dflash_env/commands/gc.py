"""`dflash-env gc`: remove what nothing needs any more, saying how much."""

from pathlib import Path

import click

from dflash_env import config, execute, sweep
from dflash_env.state import State


@click.command(short_help="Remove venvs and caches that no link, no run and no way back needs.")
@click.option("--dry-run", is_flag=True, help="List what would go and what stays; remove nothing.")
@click.option("--keep", default=1, show_default=True, help="How many earlier venvs of each lock stay to go back to.")
def gc(dry_run: bool, keep: int) -> int:
    """Remove the venvs that no link, no running training and no rollback needs, and the caches that hang on them.

    Runs and their checkpoints are never touched.
    """
    state = State(config.load(Path.cwd()).state)
    with execute.exclusive(state.venvs / ".lock", "a rebuild", wait_s=3600):
        found = sweep.look(state, keep)
        for item in found.stays:
            click.echo(f"  keep      {_size(item.size_bytes)}  {item.path}  ({item.why})")
        for item in found.goes:
            click.echo(
                f"  {'would go' if dry_run else 'remove  '}  {_size(item.size_bytes)}  {item.path}  ({item.why})"
            )
            if not dry_run:
                sweep.remove(state, item)
    click.echo(f"{'would free' if dry_run else 'freed'} {_size(found.size_bytes).strip()}")
    return 0


def _size(count: int) -> str:
    return f"{count / 1e9:6.2f} GB"
