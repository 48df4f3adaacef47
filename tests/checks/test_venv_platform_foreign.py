"""venv-platform-foreign: the venv came from another machine."""

from dataclasses import replace

import pytest

from checks.venv.platform_foreign import platform_foreign
from dflash_env.check import Skipped
from dflash_env.facts import Venv
from tests import healthy


def built_on(**changed: str) -> Venv:
    return replace(healthy.VENV, seal=replace(healthy.SEAL, **changed))


def test_fires_for_another_architecture() -> None:
    [finding] = platform_foreign(venv=built_on(platform="linux-aarch64", libc="glibc 2.99"), host=healthy.HOST)
    assert finding.message == "built on linux-aarch64; this host is linux-x86_64"


def test_fires_for_a_newer_glibc() -> None:
    [finding] = platform_foreign(venv=built_on(libc="glibc 2.100"), host=healthy.HOST)
    assert finding.message == "built with glibc 2.100; this host has glibc 2.36"


def test_fires_for_another_libc() -> None:
    [finding] = platform_foreign(venv=healthy.VENV, host=replace(healthy.HOST, libc=""))
    assert finding.message == "built with glibc 2.36; this host has an unnamed one"


def test_quiet_on_the_healthy_machine() -> None:
    assert platform_foreign(venv=healthy.VENV, host=healthy.HOST) == []


def test_quiet_about_an_older_glibc() -> None:
    assert platform_foreign(venv=built_on(libc="glibc 2.9"), host=healthy.HOST) == []


def test_skipped_without_a_venv() -> None:
    with pytest.raises(Skipped, match="no venv was built"):
        platform_foreign(venv=healthy.ABSENT_VENV, host=healthy.HOST)
