"""The compile cache's folder: whose it is, and who else could write to it."""

import os
import stat
from pathlib import Path

from dflash_env.facts import Cache, NotApplicable, Reading, Unknown


def collect(folder: Path) -> Cache:
    """Look at the folder itself, not at what a link in its place points to."""
    status = _lstat(folder)
    if isinstance(status, Unknown | NotApplicable):
        return Cache(path=str(folder), kind=status, owner_uid=status, our_uid=os.geteuid(), mode=status)
    return Cache(
        path=str(folder),
        kind=_kind(status.st_mode),
        owner_uid=status.st_uid,
        our_uid=os.geteuid(),
        mode=stat.S_IMODE(status.st_mode),
    )


def _lstat(folder: Path) -> Reading[os.stat_result]:
    try:
        return folder.lstat()
    except FileNotFoundError:
        return NotApplicable(why=f"{folder} does not exist")
    except OSError as error:
        return Unknown(code="denied", text=f"{folder}: {error.strerror}")


def _kind(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "link"
    return "folder" if stat.S_ISDIR(mode) else "file"
