"""`python -m dflash_env` is the `dflash-env` command."""

from dflash_env.cli import main

main()
