"""environ-facts-incomplete: a preload list that cannot be read may hold a library."""

from dataclasses import replace

from checks.environ.facts_incomplete import facts_incomplete
from dflash_env.facts import Unknown
from tests import healthy


def test_fires_when_the_preload_list_cannot_be_read() -> None:
    denied = Unknown(code="denied", text="/etc/ld.so.preload: Permission denied")
    [finding] = facts_incomplete(environ=replace(healthy.ENVIRON, preload_file=denied))
    assert finding.about == ("environ.preload_file",)
    assert "/etc/ld.so.preload: Permission denied" in finding.message


def test_fires_when_the_whole_section_is_unknown() -> None:
    [finding] = facts_incomplete(environ=Unknown(code="crashed", text="RuntimeError: odd"))
    assert finding.about == ("environ",)


def test_quiet_on_the_healthy_machine() -> None:
    assert facts_incomplete(environ=healthy.ENVIRON) == []
