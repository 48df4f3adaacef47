"""A whole and sealed venv that is not the tree that the lock was made from."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check, need
from dflash_env.facts import Lock, Venv


@check(
    title="The training venv is not the tree that the lock states",
    severity=Severity.ERROR,
    why="Nothing drifted from the seal, so it was wrong when it was sealed, or it was sealed again after an "
    "edit: from a damaged cache, or by hand. The lock's digest, which is committed, vouches for every file.",
    fix="Run `dflash-env rebuild`: it fetches past the cache what does not match.",
)
def digest_wrong(venv: Venv, lock: Lock) -> Iterator[Finding]:
    seal, digest = need(venv.seal), need(venv.tree_digest)
    if venv.drift or seal.lock_digest != lock.digest or lock.tree_digest in ("pending", digest):
        return
    stated = {package.name: package.tree for package in lock.packages}
    # Files of no package, such as bin/activate, are in the digest of the whole alone.
    wrong = [name for name, tree in stated.items() if venv.packages.get(name) != tree] or ["files of no package"]
    yield Finding(f"{', '.join(wrong)}: the tree is {digest[:12]}; the lock states {lock.tree_digest[:12]}")
