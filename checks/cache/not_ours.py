"""A compile cache that somebody else could write to."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Cache


@check(
    title="The compile cache is not ours alone",
    severity=Severity.ERROR,
    why="Its entries are pickles and shared objects: whoever can write there runs code as us.",
    fix="Remove what is there (`ls -ld PATH` shows whose it is) and run `dflash-env rebuild`: the folder is "
    "made anew, mode 0700.",
)
def not_ours(cache: Cache) -> Iterator[Finding]:
    kind, owner, mode = need(cache.kind), need(cache.owner_uid), need(cache.mode)
    if kind != "folder":
        yield Finding(f"{cache.path} is a {kind}, not a folder")
    elif owner != cache.our_uid:
        yield Finding(f"{cache.path} belongs to uid {owner}; this process is uid {cache.our_uid}")
    elif mode & 0o022:
        yield Finding(f"{cache.path} has mode {mode:04o}: others may write to it", f"Run `chmod 700 {cache.path}`.")
