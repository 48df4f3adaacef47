"""source-module-shadowing: a file nobody committed would be imported."""

from dataclasses import replace

from checks.source.module_shadowing import module_shadowing
from tests import healthy


def test_fires_for_each_stray_module() -> None:
    findings = module_shadowing(repo=replace(healthy.REPO, strays=("trainer/random.py", "torch")))
    assert [finding.message for finding in findings] == [
        "trainer/random.py is in no commit and would be imported",
        "torch is in no commit and would be imported",
    ]


def test_quiet_on_the_healthy_machine() -> None:
    assert module_shadowing(repo=healthy.REPO) == []
