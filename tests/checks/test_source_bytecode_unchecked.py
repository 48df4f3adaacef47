"""source-bytecode-unchecked: bytecode runs whatever its source says."""

from dataclasses import replace

from checks.source.bytecode_unchecked import bytecode_unchecked
from tests import healthy


def test_fires_for_each_file() -> None:
    path = "trainer/__pycache__/loop.cpython-311.pyc"
    [finding] = bytecode_unchecked(repo=replace(healthy.REPO, bytecode=(path,)))
    assert finding.message == f"{path} is an unchecked-hash .pyc"


def test_quiet_on_the_healthy_machine() -> None:
    assert bytecode_unchecked(repo=healthy.REPO) == []
