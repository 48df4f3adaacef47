"""A folder of wheels for nodes without network: each is fetched once and held against its hash."""

import hashlib
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import IO

from packaging.pylock import PackageWheel

from dflash_env import execute
from dflash_env.collect import tree
from dflash_env.errors import StepFailed
from dflash_env.progress import Meter, Tally

CHUNK_BYTES = 1 << 20
LIMIT_S = 60
"""Without a byte for so long, a download has failed."""


def fill(folder: Path, base: Path, wheels: list[PackageWheel]) -> None:
    """Bring every wheel into `folder`; one that is there with the right hash stays. Paths are relative to `base`."""
    execute.make_folder(folder)
    tally = Tally(Meter(), "collecting", sum(wheel.size or 0 for wheel in wheels))
    try:
        for wheel in wheels:
            _bring(wheel, folder / wheel.filename, base, tally.add)
    finally:
        tally.close()


def _bring(wheel: PackageWheel, path: Path, base: Path, seen: Callable[[int], None]) -> None:
    if path.is_file() and tree.digest(path) == wheel.hashes["sha256"]:
        seen(path.stat().st_size)
        return
    part = path.with_name(f".{path.name}.part")
    try:
        with _open(wheel, base) as source, part.open("wb") as target:
            found = _copy(source, target, seen)
        if found != wheel.hashes["sha256"]:
            raise StepFailed(f"{path.name} has sha256 {found}, not the resolved one", "check the index that you use")
        part.replace(path)
    except (OSError, HTTPException) as error:
        raise StepFailed(
            f"{path.name} cannot be fetched: {error}", "check the network and the disk, and try again"
        ) from None
    finally:
        part.unlink(missing_ok=True)


def _open(wheel: PackageWheel, base: Path) -> IO[bytes]:
    if wheel.path:
        return (base / wheel.path).open("rb")
    if wheel.url is None:
        raise StepFailed(f"{wheel.filename} has no place to come from", "use an index or a folder of wheels")
    opened: IO[bytes] = urllib.request.urlopen(wheel.url, timeout=LIMIT_S)
    return opened


def _copy(source: IO[bytes], target: IO[bytes], seen: Callable[[int], None]) -> str:
    made = hashlib.sha256()
    while chunk := source.read(CHUNK_BYTES):
        made.update(chunk)
        target.write(chunk)
        seen(len(chunk))
    return made.hexdigest()
