"""venv-file-missing: an uninstall took another package's files with it."""

from dataclasses import replace

import pytest

from checks.venv.file_missing import file_missing
from dflash_env.check import Skipped
from dflash_env.facts import Drift, Venv
from tests import healthy

SITE = "lib/python3.11/site-packages"


def gone(*paths: str, owner: str = "torch") -> tuple[Drift, ...]:
    return tuple(Drift(path=path, how="missing", owner=owner) for path in paths)


def drifted(*drift: Drift) -> Venv:
    return replace(healthy.VENV, drift=drift)


def test_fires_once_for_each_package() -> None:
    lost = (*gone("a", "b", "c"), *gone("bin/activate", owner=""))
    findings = file_missing(venv=drifted(*lost), lock=healthy.LOCK)
    assert [finding.message for finding in findings] == [
        "a and 2 more of torch: missing",
        "bin/activate of the venv itself: missing",
    ]


def test_quiet_on_the_healthy_machine() -> None:
    assert file_missing(venv=healthy.VENV, lock=healthy.LOCK) == []


def test_quiet_about_a_package_that_was_uninstalled() -> None:
    without = replace(drifted(*gone("a")), distributions=healthy.VENV.distributions[1:])
    assert file_missing(venv=without, lock=healthy.LOCK) == []


def test_quiet_about_what_lay_in_a_folder_that_is_a_link_now() -> None:
    link = Drift(path=f"{SITE}/torch", how="unowned", owner="")
    assert file_missing(venv=drifted(link, *gone(f"{SITE}/torch/lib/libtorch.so")), lock=healthy.LOCK) == []


def test_fires_for_what_lay_beside_a_new_file() -> None:
    stray = Drift(path=f"{SITE}/tor", how="unowned", owner="")
    assert file_missing(venv=drifted(stray, *gone(f"{SITE}/torch/lib/libtorch.so")), lock=healthy.LOCK)


def test_skipped_without_a_venv() -> None:
    with pytest.raises(Skipped, match="no venv was built"):
        file_missing(venv=healthy.ABSENT_VENV, lock=healthy.LOCK)
