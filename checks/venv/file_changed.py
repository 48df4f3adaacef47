"""A file of the venv that is not the one that was sealed."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Lock, Venv


@check(
    title="A file of the training venv was changed",
    severity=Severity.ERROR,
    why="An edit in site-packages is in no commit and in no lock. Content is compared with the seal, so neither "
    "the same size with an old time stamp nor an adjusted RECORD hides it.",
    fix="Keep the edit if you need it (as a commit of yours, not in site-packages), then run `dflash-env rebuild`.",
)
def file_changed(venv: Venv, lock: Lock) -> Iterator[Finding]:
    need(venv.seal)
    for each in venv.unexplained("changed", lock):
        opened = "; it lets the system's and the user's own packages in"
        more = opened if each.path == "pyvenv.cfg" and venv.system_packages else ""
        yield Finding(f"{each.path} ({each.owner or 'of no package'}) is not what was sealed{more}")
