"""environ-user-site-visible: packages that every Python of this user imports."""

from dataclasses import replace

import pytest

from checks.environ.user_site_visible import user_site_visible
from dflash_env.check import Skipped
from dflash_env.facts import Unknown
from tests import healthy

FOLDER = "/home/ada/.local/lib/python3.11/site-packages"


def test_fires_with_the_folder() -> None:
    [finding] = user_site_visible(environ=replace(healthy.ENVIRON, user_site=FOLDER))
    assert finding.message == f"{FOLDER} is not empty"


def test_quiet_on_the_healthy_machine() -> None:
    assert user_site_visible(environ=healthy.ENVIRON) == []


def test_skipped_when_it_cannot_be_read() -> None:
    denied = Unknown(code="denied", text=f"{FOLDER}: Permission denied")
    with pytest.raises(Skipped, match="Permission denied"):
        user_site_visible(environ=replace(healthy.ENVIRON, user_site=denied))
