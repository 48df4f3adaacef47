"""venv-facts-incomplete: a venv that cannot be read is not known to be the locked one."""

from dataclasses import replace

from checks.venv.facts_incomplete import facts_incomplete
from dflash_env.facts import Unknown
from tests import healthy

LOST = Unknown(code="denied", text="/usr/lib/python3.11: Permission denied")


def test_fires_when_the_seal_is_garbage() -> None:
    [finding] = facts_incomplete(venv=Unknown(code="malformed", text="/data/x.seal.json: the key 'key' is missing"))
    assert finding.about == ("venv",)
    assert "/data/x.seal.json" in finding.message


def test_fires_for_each_reading() -> None:
    for name in ("tree_digest", "interpreter", "header", "stdlib_sha256"):
        [finding] = facts_incomplete(venv=replace(healthy.VENV, **{name: LOST}))
        assert finding.about == (f"venv.{name}",)


def test_fires_once_for_readings_lost_for_one_reason() -> None:
    [finding] = facts_incomplete(venv=replace(healthy.VENV, interpreter=LOST, header=LOST))
    assert finding.about == ("venv.interpreter", "venv.header")


def test_quiet_on_the_healthy_machine() -> None:
    assert facts_incomplete(venv=healthy.VENV) == []


def test_quiet_where_nothing_was_built() -> None:
    assert facts_incomplete(venv=healthy.ABSENT_VENV) == []
