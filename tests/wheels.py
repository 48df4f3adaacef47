"""Small real wheels, made on the spot, and locks that name them."""

import base64
import hashlib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dflash_env import lock as locks
from dflash_env.facts import Lock, Locked


@dataclass(frozen=True)
class Wheel:
    """One wheel on disk."""

    path: Path
    name: str
    version: str

    @property
    def locked(self) -> Locked:
        """Its line of a lock."""
        return Locked(name=self.name, version=self.version, sha256=hashlib.sha256(self.path.read_bytes()).hexdigest())


def make(
    folder: Path,
    name: str,
    version: str = "1.0",
    requires: tuple[str, ...] = (),
    body: str = "",
    files: Mapping[str, str] | None = None,
    executable: tuple[str, ...] = (),
) -> Wheel:
    """A pure wheel of one module, or of the given files; some of them may be executable."""
    module = name.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    metadata = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    content = {
        **({f"{module}/__init__.py": body or f"version = {version!r}\n"} if files is None else files),
        f"{info}/METADATA": "\n".join([*metadata, *(f"Requires-Dist: {each}" for each in requires), ""]),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = [f"{path},sha256={_digest(text)},{len(text.encode())}" for path, text in content.items()]
    content[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""])
    path = folder / f"{module}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for inside, text in content.items():
            member = zipfile.ZipInfo(inside, (2026, 1, 1, 0, 0, 0))
            if inside in executable:
                member.create_system, member.external_attr = 3, 0o100755 << 16
            archive.writestr(member, text)
    return Wheel(path, name, version)


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def write_lock(path: Path, *packages: Locked, python: str = "3.11") -> Lock:
    """A training lock file of these packages, and what it is read as."""
    header = {
        "schema": "1",
        "input": "small.in sha256:0",
        "exclude-newer": "2026-11-30",
        "python": python,
        "platform": "x86_64-manylinux_2_28",
        "cuda": "none",
        "uv": "0",
        "unpacked-bytes": "1000",
        "tree-digest": "pending",
    }
    path.write_text(locks.LockFile(header=header, packages=packages).text())
    return locks.read(path)
