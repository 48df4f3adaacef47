"""environ-facts-incomplete: a file that injects something and cannot be read may inject anything."""

from dataclasses import replace

from checks.environ.facts_incomplete import facts_incomplete
from dflash_env.facts import Unknown
from tests import healthy

DENIED = Unknown(code="denied", text="/etc/ld.so.preload: Permission denied")


def test_fires_for_each_reading_that_is_required() -> None:
    for name in ("user_site", "preload_file", "nccl_files"):
        [finding] = facts_incomplete(environ=replace(healthy.ENVIRON, **{name: DENIED}))
        assert finding.about == (f"environ.{name}",)
        assert "/etc/ld.so.preload: Permission denied" in finding.message


def test_fires_when_the_whole_section_is_unknown() -> None:
    [finding] = facts_incomplete(environ=Unknown(code="crashed", text="RuntimeError: odd"))
    assert finding.about == ("environ",)


def test_quiet_on_the_healthy_machine() -> None:
    assert facts_incomplete(environ=healthy.ENVIRON) == []


def test_quiet_about_a_toolkit_which_another_check_warns_of() -> None:
    assert facts_incomplete(environ=replace(healthy.ENVIRON, toolkit=DENIED)) == []
