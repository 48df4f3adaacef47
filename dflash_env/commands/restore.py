"""`dflash-env restore`: put tracked files back to HEAD without losing anybody's edits."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from dflash_env import backup, bundle, codec, config, execute
from dflash_env import restore as restoring
from dflash_env.backup import Backup
from dflash_env.errors import Failure


@click.command(short_help="Put tracked files back to HEAD; what that would lose is kept first.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--dry-run", is_flag=True, help="Say what would be kept and put back; touch nothing.")
@click.option("--undo", metavar="ID", help="Bring a kept state back exactly; `last` is the newest.")
@click.option("--list", "show", is_flag=True, help="List the kept states.")
def restore(paths: tuple[str, ...], dry_run: bool, undo: str | None, show: bool) -> int:
    """Put PATHs back to what HEAD holds; by default everything that a launch depends on.

    Edits, staged changes, and uncommitted files that would be imported are first kept as a commit under
    refs/dflash/backup/, which touches no branch, no stash and no reflog.
    """
    if bundle.installed():
        raise Failure("an installed dflash-env has no git repository to put back from", "reinstall it")
    if sum((bool(paths), bool(undo), show)) > 1:
        raise click.UsageError("name paths, or --undo, or --list")
    settings, root = config.load(Path.cwd()), bundle.root()
    if show:
        return _list(root)
    if undo:
        return _undo(settings, root, undo)
    wanted = [_inside(root, path) for path in paths] or list(settings.source)
    return _restore(settings, root, wanted, dry_run)


def _inside(root: Path, path: str) -> str:
    # Not resolved: a link is put back itself, not what it leads to.
    absolute = Path(codec.normal(Path.cwd() / path))
    if not absolute.is_relative_to(root):
        raise Failure(f"{path} is outside {root}", "name paths of this project")
    return str(absolute.relative_to(root))


def _restore(settings: config.Config, root: Path, paths: list[str], dry_run: bool) -> int:
    lost = _look(settings, root, paths)
    if not lost.losses:
        click.echo("nothing to put back: every file is what HEAD holds")
        return 0
    _show(lost)
    if dry_run:
        return 0
    restoring.apply(root, lost)
    click.echo(f"put back; kept as {lost.id}. To have it again: dflash-env restore --undo {lost.id}")
    return 0


def _look(settings: config.Config, root: Path, paths: Sequence[str]) -> Backup:
    return restoring.survey(root, paths, settings.lock(settings.profile(None)), execute.now())


def _show(lost: Backup) -> None:
    for loss in lost.losses:
        state = "changed or new" if loss.file_mode else "deleted"
        click.echo(f"  {codec.printable(loss.path)}  ({state}{', hidden from git status' if loss.flag else ''})")


def _undo(settings: config.Config, root: Path, ident: str) -> int:
    kept = backup.listed(root)
    if ident == "last":
        if not kept:
            raise Failure("nothing was ever kept here", "`dflash-env restore` keeps what it replaces")
        ident = kept[-1].id
    wanted = backup.read(root, ident)
    now = _edits_since(settings, root, wanted)
    if now.losses:
        backup.keep(root, now)
        click.echo(f"edits made since are kept as {now.id}")
    restoring.undo(root, wanted)
    click.echo(f"{ident} is back; it stays kept as well")
    return 0


def _edits_since(settings: config.Config, root: Path, wanted: Backup) -> Backup:
    """What bringing a state back would itself lose."""
    lost = _look(settings, root, list(settings.source))
    ours = {loss.path for loss in wanted.losses}
    return replace(lost, losses=tuple(loss for loss in lost.losses if loss.path in ours))


def _list(root: Path) -> int:
    for each in backup.listed(root):
        click.echo(f"  {each.id}  upon {each.head[:12]}  {len(each.losses)} paths")
    return 0
