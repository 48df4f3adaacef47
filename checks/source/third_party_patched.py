"""A patch of somebody else's module in the trainer."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check
from dflash_env.facts import Repo


@check(
    title="The trainer patches a module that is not its own",
    severity=Severity.ERROR,
    why="The lock vouches for every byte of torch and transformers, and an assignment into one of their modules "
    "undoes that while the process runs. The compile cache does not see it, and a patch that silenced a check "
    "once hid a slowdown of five times. Values below torch.backends, torch._dynamo.config and "
    "torch._inductor.config are settings and no patches.",
    fix="Take the patch out of the trainer, and lock a version that does not need it.",
)
def third_party_patched(repo: Repo) -> Iterator[Finding]:
    for patch in repo.patches:
        yield Finding(f"{patch.path}:{patch.line} {patch.what}")
