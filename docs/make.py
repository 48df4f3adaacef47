"""Writes docs/checks.md and docs/cli.md from the checks and the commands; --check only says whether they are fresh."""

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from dflash_env import bundle
from dflash_env.cli import cli
from dflash_env.render.text import explanations

HERE = Path(__file__).parent


def pages() -> dict[str, str]:
    """Every generated page by file name."""
    return {"checks.md": explanations(bundle.checks()), "cli.md": _commands()}


def _commands() -> str:
    parts = ["# Commands", "Made by `make docs` from the commands' own help. Exit codes are in [design.md](design.md)."]
    for name, text in _helps(cli, "dflash-env"):
        parts += [f"## {name}", f"```text\n{text.rstrip()}\n```"]
    return "\n\n".join(parts) + "\n"


def _helps(command: click.Command, path: str, parent: click.Context | None = None) -> Iterator[tuple[str, str]]:
    context = click.Context(
        command, info_name=path.split()[-1], parent=parent, max_content_width=100, terminal_width=100
    )
    yield path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in sorted(command.commands):
            yield from _helps(command.commands[name], f"{path} {name}", context)


def main(arguments: list[str]) -> int:
    """0 when the pages are written, or fresh; 1 when --check finds a stale one."""
    stale = [name for name, text in pages().items() if not (HERE / name).exists() or (HERE / name).read_text() != text]
    if "--check" in arguments:
        for name in stale:
            print(f"docs/{name} is stale\nfix:   make docs", file=sys.stderr)
        return 1 if stale else 0
    for name in stale:
        (HERE / name).write_text(pages()[name])
        print(f"wrote docs/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
