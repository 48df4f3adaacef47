"""A training lock: a comment header and one line a package, `name==version --hash=sha256:…` (lockfiles/README.md)."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from dflash_env.errors import Failure
from dflash_env.facts import Lock, Locked

HEADER = ("schema", "input", "exclude-newer", "python", "platform", "cuda", "uv", "unpacked-bytes", "tree-digest")
"""The header's keys, in their order; `tree-digest` is `pending` until a build has been measured."""

_LINE = re.compile(
    r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>\S+) --hash=sha256:(?P<sha256>[0-9a-f]{64})"
    r"(?:  # tree (?P<tree>[0-9a-f]{64}))?"
)
_HEADER = re.compile(r"# (?P<key>[a-z-]+): (?P<value>.+)")


@dataclass(frozen=True, kw_only=True)
class LockFile:
    """A lock as written: its header and its packages."""

    header: dict[str, str]
    packages: tuple[Locked, ...]

    def text(self) -> str:
        """The file's content."""
        lines = ["# A dflash-env training lock; `make lock` writes it."]
        lines += [f"# {key}: {self.header[key]}" for key in HEADER]
        lines += [f"{_line(one)}{f'  # tree {one.tree}' if one.tree else ''}" for one in self.packages]
        return "\n".join(lines) + "\n"


def parse(text: str, where: str) -> LockFile:
    """Read a lock's text; a line that is no header and no pinned, hashed package is an error that names it."""
    header: dict[str, str] = {}
    packages: dict[str, Locked] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("#"):
            if found := _HEADER.fullmatch(line):
                header[found["key"]] = found["value"]
        elif line.strip():
            one = _package(line, f"{where}:{number}")
            if one.name in packages:
                raise _malformed(f"{where}:{number}", f"{one.name} is locked twice")
            packages[one.name] = one
    for key in HEADER:
        if key not in header:
            raise _malformed(where, f"the header lacks `# {key}: …`")
    return LockFile(header=header, packages=tuple(packages.values()))


def _package(line: str, where: str) -> Locked:
    found = _LINE.fullmatch(line.strip())
    if not found:
        raise _malformed(where, f"expected `name==version --hash=sha256:<64 hex digits>`, got {line.strip()!r}")
    try:
        version = str(Version(found["version"]))
    except InvalidVersion:
        raise _malformed(where, f"{found['version']!r} is not a version") from None
    return Locked(
        name=canonicalize_name(found["name"]), version=version, sha256=found["sha256"], tree=found["tree"] or ""
    )


def _malformed(where: str, what: str) -> Failure:
    return Failure(
        f"{where}: {what}", "restore the committed lock (git checkout HEAD -- FILE), or run `dflash-env lock`"
    )


def read(path: Path) -> Lock:
    """The lock as an expectation."""
    try:
        text = path.read_text("utf-8", "replace")
    except FileNotFoundError:
        raise Failure(
            f"there is no lock {path.stem!r} ({path})",
            "name an existing lock in the profile's `lock`, or make this one with `dflash-env lock`",
        ) from None
    return expectation(parse(text, str(path)), path.stem)


def expectation(file: LockFile, name: str) -> Lock:
    """A lock's content as what a venv is held against."""
    size = file.header["unpacked-bytes"]
    if not size.isdigit():
        raise _malformed(name, f"`# unpacked-bytes:` is {size!r}, not a number")
    what = [file.header["python"], file.header["platform"], *sorted(map(_line, file.packages))]
    return Lock(
        uv=file.header["uv"],
        tree_digest=file.header["tree-digest"],
        name=name,
        digest=hashlib.sha256("\n".join(what).encode()).hexdigest(),
        python=file.header["python"],
        platform=file.header["platform"],
        cuda=file.header["cuda"],
        unpacked_bytes=int(size),
        packages=file.packages,
    )


def _line(one: Locked) -> str:
    return f"{one.name}=={one.version} --hash=sha256:{one.sha256}"
