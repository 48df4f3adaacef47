"""The house rules as a test: who may import whom, where the world may be touched, and how large a room may be."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# Which first-party modules a file may import. A prefix stands for everything below it; the table is exhaustive.
MAY_IMPORT: dict[str, set[str]] = {
    "dflash_env": set(),
    "dflash_env.__main__": {"dflash_env.cli"},
    "dflash_env.entry": {"dflash_env.cli"},
    "dflash_env.cli": {"dflash_env", "dflash_env.commands", "dflash_env.errors"},
    "dflash_env.commands": {
        "dflash_env.backup",
        "dflash_env.build",
        "dflash_env.bundle",
        "dflash_env.checksums",
        "dflash_env.codec",
        "dflash_env.collect",
        "dflash_env.commands.options",
        "dflash_env.config",
        "dflash_env.errors",
        "dflash_env.execute",
        "dflash_env.facts",
        "dflash_env.gate",
        "dflash_env.launch",
        "dflash_env.locking",
        "dflash_env.render",
        "dflash_env.restore",
        "dflash_env.state",
        "dflash_env.sweep",
    },
    "dflash_env.build": {
        "dflash_env.collect",
        "dflash_env.errors",
        "dflash_env.execute",
        "dflash_env.facts",
        "dflash_env.plan",
        "dflash_env.progress",
        "dflash_env.sealing",
        "dflash_env.state",
    },
    "dflash_env.sealing": {
        "dflash_env.codec",
        "dflash_env.collect",
        "dflash_env.errors",
        "dflash_env.execute",
        "dflash_env.facts",
        "dflash_env.plan",
        "dflash_env.state",
    },
    "dflash_env.sweep": {
        "dflash_env.build",
        "dflash_env.collect",
        "dflash_env.execute",
        "dflash_env.state",
    },
    "dflash_env.wheelhouse": {
        "dflash_env.collect",
        "dflash_env.errors",
        "dflash_env.execute",
        "dflash_env.progress",
    },
    "dflash_env.backup": {
        "dflash_env.collect",
        "dflash_env.errors",
        "dflash_env.execute",
        "dflash_env.facts",
        "dflash_env.plan",
    },
    "dflash_env.restore": {
        "dflash_env.backup",
        "dflash_env.codec",
        "dflash_env.collect",
        "dflash_env.errors",
        "dflash_env.facts",
    },
    "dflash_env.checksums": {
        "dflash_env.codec",
        "dflash_env.collect",
        "dflash_env.errors",
        "dflash_env.facts",
    },
    "dflash_env.launch": {
        "dflash_env.bundle",
        "dflash_env.check",
        "dflash_env.checksums",
        "dflash_env.codec",
        "dflash_env.collect",
        "dflash_env.config",
        "dflash_env.errors",
        "dflash_env.execute",
        "dflash_env.facts",
        "dflash_env.plan",
        "dflash_env.render",
        "dflash_env.report",
        "dflash_env.state",
    },
    "dflash_env.locking": {
        "dflash_env.build",
        "dflash_env.codec",
        "dflash_env.collect",
        "dflash_env.config",
        "dflash_env.errors",
        "dflash_env.execute",
        "dflash_env.facts",
        "dflash_env.lock",
        "dflash_env.plan",
        "dflash_env.sealing",
        "dflash_env.state",
        "dflash_env.wheelhouse",
    },
    "dflash_env.gate": {
        "dflash_env.bundle",
        "dflash_env.check",
        "dflash_env.codec",
        "dflash_env.collect",
        "dflash_env.config",
        "dflash_env.errors",
        "dflash_env.execute",
        "dflash_env.facts",
        "dflash_env.progress",
        "dflash_env.report",
    },
    "dflash_env.render": {
        "dflash_env.check",
        "dflash_env.codec",
        "dflash_env.errors",
        "dflash_env.facts",
        "dflash_env.plan",
        "dflash_env.report",
    },
    "dflash_env.execute": {"dflash_env.errors", "dflash_env.plan"},
    "dflash_env.collect": {
        "dflash_env.bundle",
        "dflash_env.codec",
        "dflash_env.collect",
        "dflash_env.config",
        "dflash_env.errors",
        "dflash_env.facts",
        "dflash_env.state",
    },
    "dflash_env.plan": {"dflash_env.facts", "dflash_env.state"},
    "dflash_env.progress": set(),
    "dflash_env.state": set(),
    "dflash_env.report": {"dflash_env", "dflash_env.check", "dflash_env.errors", "dflash_env.facts"},
    "dflash_env.bundle": {"dflash_env.check"},
    "dflash_env.check": {"dflash_env.facts"},
    "dflash_env.lock": {"dflash_env.errors", "dflash_env.facts"},
    "dflash_env.config": {
        "dflash_env.bundle",
        "dflash_env.codec",
        "dflash_env.errors",
        "dflash_env.facts",
        "dflash_env.lock",
    },
    "dflash_env.facts": {"dflash_env.facts"},
    "dflash_env.codec": set(),
    "dflash_env.errors": set(),
    "checks": {"dflash_env.check", "dflash_env.facts"},
    "trainer": {"trainer"},
}

# The only files that may touch a part of the world.
ONLY_IN = {
    "subprocess": {"dflash_env.execute", "dflash_env.collect.child"},
    "psutil": {"dflash_env.collect.host"},
    "pynvml": {"dflash_env.collect.gpus"},
    "uv": {"dflash_env.collect.programs"},
    "torch": {"trainer"},
    "transformers": {"trainer"},
}

PURE_STANDARD = {"collections.abc", "dataclasses", "re"}
"""What a check may use of the standard library."""

FORBIDDEN_NAMES = {"utils", "helpers", "common", "misc", "base", "manager", "core"}
LARGEST = {"dflash_env": 300, "checks": 60, "trainer": 320}
"""Lines a file may have. Two rooms are clearer than one hall."""


def modules() -> Iterator[tuple[str, Path]]:
    for top in ("dflash_env", "checks", "trainer"):
        for path in sorted((ROOT / top).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            yield name.removesuffix(".__init__"), path


def imports(path: Path) -> set[str]:
    """Every module that a file imports; `from a import b` counts as `a.b` where that is a module of ours."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute here"
            found |= {_module(node.module or "", alias.name) for alias in node.names}
    return found


def _module(package: str, name: str) -> str:
    inside = ROOT.joinpath(*package.split("."), name)
    return f"{package}.{name}" if inside.is_dir() or inside.with_suffix(".py").exists() else package


def row_of(module: str) -> str:
    """The most specific row of the table that covers a module."""
    rows = [row for row in MAY_IMPORT if module == row or (module.startswith(f"{row}.") and row != "dflash_env")]
    assert rows, f"{module} is in no row of MAY_IMPORT: decide what it may import, and add it"
    return max(rows, key=len)


ALL = list(modules())
IDS = [name for name, _ in ALL]


def test_every_row_of_the_table_is_about_something() -> None:
    used = {row_of(name) for name in IDS}
    assert used == set(MAY_IMPORT), f"rows about nothing: {set(MAY_IMPORT) - used}"


@pytest.mark.parametrize(("name", "path"), ALL, ids=IDS)
def test_imports_only_what_its_row_allows(name: str, path: Path) -> None:
    allowed = MAY_IMPORT[row_of(name)]
    first_party = {each for each in imports(path) if each.split(".")[0] in ("dflash_env", "checks", "trainer", "tests")}
    wrong = {
        each
        for each in first_party
        if not any(each == ok or (each.startswith(f"{ok}.") and ok != "dflash_env") for ok in allowed)
    }
    assert not wrong, f"{name} may import {sorted(allowed)}, not {sorted(wrong)}"


@pytest.mark.parametrize(("name", "path"), ALL, ids=IDS)
def test_touches_the_world_only_where_it_may(name: str, path: Path) -> None:
    for each in imports(path):
        owners = ONLY_IN.get(each.split(".")[0])
        if owners is not None:
            assert any(name == owner or name.startswith(f"{owner}.") for owner in owners), f"{name} imports {each}"


def test_a_check_is_pure() -> None:
    for name, path in ALL:
        if name.startswith("checks."):
            outside = {each for each in imports(path) if not each.startswith(("dflash_env.", "packaging"))}
            assert outside <= PURE_STANDARD, f"{name} imports {sorted(outside - PURE_STANDARD)}"


def test_nothing_imports_the_commands_but_the_command_line() -> None:
    for name, path in ALL:
        if name != "dflash_env.cli":
            wanted = {each for each in imports(path) if each.startswith("dflash_env.commands.")}
            assert wanted <= {"dflash_env.commands.options"}, f"{name} imports {sorted(wanted)}"


@pytest.mark.parametrize(("name", "path"), ALL, ids=IDS)
def test_files_are_short_and_named_for_what_they_are(name: str, path: Path) -> None:
    lines = len(path.read_text("utf-8").splitlines())
    budget = LARGEST[name.split(".")[0]]
    assert lines <= budget, f"{path.relative_to(ROOT)} has {lines} lines; the budget is {budget}"
    assert not FORBIDDEN_NAMES & set(name.split(".")), f"{name} says nothing about what is in it"


def test_every_module_says_what_it_is() -> None:
    for name, path in ALL:
        assert ast.get_docstring(ast.parse(path.read_text("utf-8"))), f"{name} has no docstring"


def test_every_module_of_the_tool_has_a_test_beside_it() -> None:
    unmirrored = {"dflash_env", "dflash_env.__main__", "dflash_env.errors", "dflash_env.commands.options"}
    packages = {"dflash_env.commands", "dflash_env.collect", "dflash_env.render"}
    for name, _ in ALL:
        if name.startswith("dflash_env") and name not in unmirrored | packages and ".facts." not in name:
            *folders, stem = name.split(".")[1:]
            mirrored = ROOT.joinpath("tests", *folders, f"test_{stem}.py")
            assert mirrored.exists(), f"{name} has no {mirrored.relative_to(ROOT)}"


def test_the_standard_library_is_not_shadowed() -> None:
    # `dflash_env/render/json.py` and its like are reached by their package, never by a bare name.
    for name, _ in ALL:
        if name.count(".") == 0:
            assert name not in sys.stdlib_module_names
