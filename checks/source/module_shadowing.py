"""A file nobody committed that Python would import."""

from collections.abc import Iterator

from dflash_env.check import Finding, Severity, check
from dflash_env.facts import Repo


@check(
    title="An uncommitted module would be imported",
    severity=Severity.ERROR,
    why="A stray `trainer/random.py` or a top-level `torch/` wins over the module that was meant, and a stray "
    "file in `checks/` judges the launch; nothing vouches for either.",
    fix="Commit the file, or move it out of the project.",
)
def module_shadowing(repo: Repo) -> Iterator[Finding]:
    for path in repo.strays:
        yield Finding(f"{path} is in no commit and would be imported")
