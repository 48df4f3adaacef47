"""venv-facts-incomplete: a venv that cannot be read is not known to be the locked one."""

from checks.venv.facts_incomplete import facts_incomplete
from dflash_env.facts import Unknown
from tests import healthy


def test_fires_when_the_seal_is_garbage() -> None:
    [finding] = facts_incomplete(venv=Unknown(code="malformed", text="/data/x.seal.json: the key 'key' is missing"))
    assert finding.about == ("venv",)
    assert "/data/x.seal.json" in finding.message


def test_quiet_on_the_healthy_machine() -> None:
    assert facts_incomplete(venv=healthy.VENV) == []
