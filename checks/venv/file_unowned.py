"""Files in the venv that came with no locked package."""

import re
from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Lock, Venv

KINDS = (
    (r"/[^/]+\.pth$", "its import lines run in every Python of this venv"),
    (r"/(site|user)customize(\.py|/.*)$", "it runs at the start of every Python of this venv"),
    (r"/__pycache__/[^/]+\.pyc$", "bytecode that Python may run instead of the source beside it"),
    (r"\.pyc$", "bytecode without a source, which is imported like a module"),
    (r"/(__editable__[^/]*|[^/]+\.egg-link)$", "it leads imports to a folder outside the venv"),
    (r"/~[^/]*(/.*)?$", "what an uninstall that was cut off left behind"),
    (r"\.dist-info/uv_cache\.json$", "uv's note of a package that was installed here again, by hand"),
    (r"\.(dist|egg)-info(/.*)?$", "metadata that makes a package look installed a second time"),
    (r"/site-packages/nvidia/.+", "left by CUDA packages that are gone; its libraries may still be loaded"),
)


@check(
    title="The training venv holds files that no locked package brought",
    severity=Severity.ERROR,
    why="Python imports whatever lies in site-packages, and some of it unasked: a .pth file, a sitecustomize, "
    "bytecode without a source, a library left by a package that is gone.",
    fix="Move what you need of it elsewhere, then run `dflash-env rebuild`.",
)
def file_unowned(venv: Venv, lock: Lock) -> Iterator[Finding]:
    need(venv.seal)
    there: dict[tuple[str, str], list[str]] = {}
    replaced = {folder for each in venv.drift if each.how == "missing" for folder in each.folders}
    for each in venv.unexplained("unowned", lock):
        what = "it stands where a folder of the venv was" if each.path in replaced else kind(each.path)
        there.setdefault((what, place(each.path)), []).append(each.path)
    for (what, _), paths in there.items():
        yield Finding(f"{paths[0]}{f' and {len(paths) - 1} more' if len(paths) > 1 else ''}: {what}")


def kind(path: str) -> str:
    """What sort of stray it is."""
    return next((what for pattern, what in KINDS if re.search(pattern, path)), "no package that is locked brought it")


def place(path: str) -> str:
    """What it is told together with: bytecode in one finding, else by the folder in site-packages it lies in."""
    inside = path.partition("/site-packages/")[2].split("/")
    return "" if path.endswith(".pyc") else "/".join(inside[: 2 if inside[0] == "nvidia" else 1]) or path
