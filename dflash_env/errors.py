"""What can go wrong for a user, always said in two lines: what, and `fix:`."""

from enum import IntEnum
from typing import IO, Any

import click


class Exit(IntEnum):
    """The process's answers (docs/design.md, exit codes)."""

    OK = 0
    FINDINGS = 1
    USAGE = 2
    STEP_FAILED = 3
    BUG = 70
    REFUSED = 125
    INTERRUPTED = 130


class Failure(click.ClickException):
    """Something its reader can mend: `message` says what and where, `fix` says how."""

    def __init__(self, message: str, fix: str, exit_code: Exit = Exit.USAGE) -> None:
        super().__init__(message)
        self.fix = fix
        self.exit_code = exit_code  # type: ignore[misc]  # click declares it on the class

    def show(self, file: IO[Any] | None = None) -> None:
        """Print both lines to standard error."""
        click.secho("error: ", fg="red", bold=True, nl=False, err=True)
        click.echo(self.message, err=True)
        click.secho("fix:   ", fg="green", nl=False, err=True)
        click.echo(self.fix, err=True)


class StepFailed(Failure):
    """A step of a plan did not succeed (uv, git, the disk)."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message, fix, Exit.STEP_FAILED)
