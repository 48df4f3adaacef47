"""source-third-party-patched: the trainer patches a module that is not its own."""

from dataclasses import replace

from checks.source.third_party_patched import third_party_patched
from dflash_env.facts import Patch
from tests import healthy


def test_fires_with_the_line() -> None:
    patch = Patch(path="trainer/loop.py", line=7, what="sets torch.fx._symbolic_trace.is_fx_symbolic_tracing")
    [finding] = third_party_patched(repo=replace(healthy.REPO, patches=(patch,)))
    assert finding.message == "trainer/loop.py:7 sets torch.fx._symbolic_trace.is_fx_symbolic_tracing"


def test_quiet_on_the_healthy_machine() -> None:
    assert third_party_patched(repo=healthy.REPO) == []
