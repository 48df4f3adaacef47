"""Click wiring: the commands, and the one place where errors become exit codes."""

import gc as garbage
import io
import os
import platform
import signal
import sys
import tempfile
import traceback
from pathlib import Path
from types import FrameType
from typing import NoReturn

import click

from dflash_env import __version__
from dflash_env.commands.doctor import doctor
from dflash_env.commands.explain import explain
from dflash_env.commands.gc import gc
from dflash_env.commands.lock import lock
from dflash_env.commands.rebuild import rebuild
from dflash_env.commands.record import record
from dflash_env.commands.restore import restore
from dflash_env.commands.run import run
from dflash_env.errors import Exit, Failure, StepFailed


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="dflash-env")
def cli() -> None:
    """A launch starts only on a machine that is provably the one you think it is.

    dflash-env pins a clean CUDA 12 torch environment from lockfiles, holds every file against git HEAD, verifies the
    machine, and only then hands off to the bundled DFlash drafter trainer.
    """


for command in (doctor, explain, rebuild, restore, run, lock, record, gc):
    cli.add_command(command)


def main() -> None:
    """The `dflash-env` command."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            # The caller closed it. No file of ours shall get that descriptor and be written to in its place.
            setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123, SIM115 - for the whole process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    # A command is short, and its tens of thousands of rows are no garbage to look through.
    garbage.disable()
    # A scheduler's notice ends us as Ctrl-C does: what is half made is taken away. Exec resets it for the trainer.
    signal.signal(signal.SIGTERM, _interrupt)
    sys.exit(_answer(sys.argv[1:]))


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _answer(arguments: list[str]) -> int:
    launching = next((word for word in arguments if not word.startswith("-")), "") == "run"
    code = _call(arguments)
    # `run` answers 125 for all that happens before the trainer, so that its own codes are never mistaken.
    return Exit.REFUSED if launching and code != Exit.OK else code


def _call(arguments: list[str]) -> int:
    colour = False if os.environ.get("NO_COLOR") else None
    try:
        return int(cli.main(arguments, prog_name="dflash-env", standalone_mode=False, color=colour) or 0)
    except Failure as failure:
        failure.show()
        return failure.exit_code
    except click.ClickException as error:
        error.show()
        click.echo("fix:   `dflash-env --help` and `dflash-env COMMAND --help` tell what may stand there", err=True)
        return Exit.USAGE
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted; nothing half made was kept", err=True)
        return Exit.INTERRUPTED
    except BrokenPipeError:
        _give_up_output()
        return Exit.STEP_FAILED
    except OSError as error:
        what = f"{error.filename or 'output'}: {error.strerror}"
        StepFailed(what, "make room for it, or make it readable or writable").show()
        _give_up_output()
        return Exit.STEP_FAILED
    except Exception:
        click.echo(f"this is a bug of dflash-env; its traceback is in {_save()}", err=True)
        return Exit.BUG


def _give_up_output() -> None:
    """What could not be written (`doctor | head`, a full disk) Python would try again at exit, and end with 120."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _save() -> Path:
    descriptor, name = tempfile.mkstemp(prefix="dflash-env-", suffix=".log")
    with os.fdopen(descriptor, "w") as stream:
        stream.write(f"dflash-env {__version__}, Python {platform.python_version()}, {platform.platform()}\n")
        stream.write(f"{sys.argv}\n\n{traceback.format_exc()}")
    return Path(name)
