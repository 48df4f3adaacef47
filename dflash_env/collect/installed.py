"""The distributions of a venv by their metadata, and what they require of each other; none of them is imported."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution as Metadata
from pathlib import Path
from typing import Any

from packaging.markers import default_environment
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from dflash_env.facts import Distribution, Unmet


@dataclass(frozen=True)
class Installed:
    """A distribution and what it requires."""

    distribution: Distribution
    requires: tuple[str, ...]


def read(site: Path) -> list[Installed]:
    """Everything that importlib.metadata sees, but for what an uninstall put aside under a `~`: that is strays."""
    folders = [each for each in site.iterdir() if each.name.lower().endswith((".dist-info", ".egg-info"))]
    stated = {each: named(each) for each in folders if not each.name.startswith("~")}
    times = Counter(stated.values())
    # Beside the real metadata a hollow folder of the same name and version is no such version.
    return [
        _installed(each, name, "" if times[name, version] > 1 else version) for each, (name, version) in stated.items()
    ]


def _installed(info: Path, name: str, version: str) -> Installed:
    """A distribution by its metadata; what a cut-off install left has none, and is what its folder's name says."""
    # One parse: every property of importlib's Distribution parses METADATA again, and torch's is long.
    one = Metadata.at(info)
    metadata = one.metadata
    stated = metadata["Name"]
    return Installed(
        Distribution(
            name=canonicalize_name(stated) if stated else name,
            version=_version(metadata["Version"] or version),
            origin=_origin(one),
        ),
        tuple(metadata.get_all("Requires-Dist") or ()),
    )


def named(info: Path) -> tuple[str, str]:
    """The name and the version in the name of a folder of metadata; the version may be empty."""
    name, dash, version = re.sub(r"(?i)(-py\d[\d.]*)?\.(dist|egg)-info$", "", info.name).rpartition("-")
    return (canonicalize_name(name), version) if dash else (canonicalize_name(version), "")


def _version(written: str) -> str:
    try:
        return str(Version(written))
    except InvalidVersion:
        return written or "(none)"


def _origin(one: Metadata) -> str:
    direct = one.read_text("direct_url.json")
    if direct is None:
        return "index"
    return "editable" if '"editable": true' in direct or '"editable":true' in direct else "url"


def unmet(installed: Sequence[Installed], python: str) -> Iterator[Unmet]:
    """The requirements that nothing among `installed` meets, for a Python such as `3.11`."""
    versions: dict[str, list[str]] = {}
    for one in installed:
        versions.setdefault(one.distribution.name, []).append(one.distribution.version)
    environment: dict[str, Any] = {
        **default_environment(),
        "python_version": python,
        "python_full_version": f"{python}.0",
        "extra": "",
    }
    for one in installed:
        for text in one.requires:
            if (found := _lack(text, versions, environment)) is not None:
                yield Unmet(distribution=one.distribution.name, requirement=text, found=found)


def _lack(text: str, versions: Mapping[str, Sequence[str]], environment: dict[str, Any]) -> str | None:
    """The version that does not meet a requirement, empty where there is none; None when it is met."""
    try:
        wanted = Requirement(text)
        if wanted.marker and not wanted.marker.evaluate(environment):
            return None
        found = versions.get(canonicalize_name(wanted.name), ())
        met = any(wanted.specifier.contains(each, prereleases=True) for each in found)
        return None if met else ", ".join(found)
    except (InvalidRequirement, InvalidVersion):
        return ""
