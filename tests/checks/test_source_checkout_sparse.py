"""source-checkout-sparse: a sparse checkout leaves a source file out."""

from dataclasses import replace

from checks.source.checkout_sparse import checkout_sparse
from dflash_env.facts import Change
from tests import healthy

CHANGE = Change(path="trainer/loop.py", how="sparse", expected="5fe2a30c" * 5)


def test_fires_for_the_file() -> None:
    [finding] = checkout_sparse(repo=replace(healthy.REPO, changes=(CHANGE,)))
    assert finding.message == "trainer/loop.py is not checked out"


def test_quiet_about_an_edit() -> None:
    assert checkout_sparse(repo=replace(healthy.REPO, changes=(replace(CHANGE, how="modified"),))) == []


def test_quiet_on_the_healthy_machine() -> None:
    assert checkout_sparse(repo=healthy.REPO) == []
