"""`dflash-env record`: write down what is here now."""

import sys
from pathlib import Path

import click

from dflash_env import bundle, checksums, codec, config
from dflash_env.errors import Failure


@click.group(short_help="Write down what is here now.")
def record() -> None:
    """Write down what is here now, to compare with later."""


@record.command()
@click.option("--json", "as_json", is_flag=True, help="With git's blob and md5 beside the sha256.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file instead.")
def source(as_json: bool, out: Path | None) -> int:
    """Print the checksum of every tracked file that a launch depends on.

    `sha256sum -c FILE` in the project's folder checks the plain form. Every run keeps both forms in its folder.
    """
    if bundle.installed():
        raise Failure("an installed dflash-env is vouched for by its manifest, not by git", "run this in a clone")
    sums = checksums.take(bundle.root(), config.load(Path.cwd()).source)
    content = checksums.document(sums).encode() if as_json else checksums.checkable(sums)
    if out:
        codec.write_bytes(out, content)
    else:
        sys.stdout.buffer.write(content)
    return 0
