"""The `dflash-env` command: leaves PYTHONPATH behind before anything of ours, or of a package, is imported."""

import os
import sys


def main() -> None:
    """Start over in isolated mode where the shell would inject modules into the gate itself; then run the command."""
    if "PYTHONPATH" in os.environ and not sys.flags.isolated:
        os.execv(sys.executable, [sys.executable, "-I", "-m", "dflash_env", *sys.argv[1:]])
    from dflash_env.cli import main as command

    command()
