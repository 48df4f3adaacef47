"""The working tree's own files, for a run that is allowed to differ from HEAD."""

import os
import stat
from pathlib import Path


def present(root: Path, folder: str) -> dict[str, tuple[bytes, bool]]:
    """Every file below `folder` as it is now: path, content, and whether it is executable; links are followed."""
    found: dict[str, tuple[bytes, bool]] = {}
    for here, folders, files in os.walk(root / folder):
        folders[:] = sorted(each for each in folders if each != "__pycache__")
        for name in sorted(files):
            path = Path(here, name)
            if path.is_file():
                found[str(path.relative_to(root))] = (path.read_bytes(), bool(path.stat().st_mode & stat.S_IXUSR))
    return found
