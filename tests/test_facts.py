"""The vocabulary: what a profile spares, what a lock knows, and how absent readings are found."""

from dataclasses import FrozenInstanceError, fields, replace

import pytest

from dflash_env import facts
from dflash_env.facts import Gpus, NotApplicable, Unknown, Variable
from tests import healthy

LOST = Unknown(code="nvml-15", text="GPU is lost")


def test_the_sections_are_the_fields_of_facts_in_their_order() -> None:
    assert tuple(field.name for field in fields(facts.Facts)) == facts.SECTIONS
    assert facts.SECTIONS[:3] == ("profile", "lock", "machine"), "expectations come first"


def test_facts_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        healthy.FACTS.host = LOST  # type: ignore[misc]


def test_a_healthy_machine_has_no_unknown() -> None:
    assert list(healthy.FACTS.unknowns()) == []


def test_unknowns_are_named_by_their_place() -> None:
    second = replace(healthy.GPUS.devices[1], uuid=LOST, memory_bytes=LOST)
    gpus = replace(healthy.GPUS, devices=(healthy.GPUS.devices[0], second))
    found = replace(healthy.FACTS, gpus=gpus, repo=LOST)
    assert [name for name, _ in found.unknowns()] == [
        "gpus.devices[1].uuid",
        "gpus.devices[1].memory_bytes",
        "repo",
    ]
    assert all(unknown is LOST for _, unknown in found.unknowns())


def test_what_a_machine_does_not_have_is_no_unknown() -> None:
    none = Gpus(driver=NotApplicable(why="no driver"), devices=())
    assert list(replace(healthy.FACTS, gpus=none).unknowns()) == []


@pytest.mark.parametrize("family", ["gpu", "host", "environ", "venv", "source", "cache", "launch"])
def test_a_profile_of_gpus_that_compiles_spares_no_family(family: str) -> None:
    assert healthy.PROFILE.spares(family) == ""


def test_a_profile_says_why_it_spares_a_family() -> None:
    assert healthy.TINY.spares("gpu") == "profile tiny uses no GPU"
    assert "eager" in healthy.TINY.spares("cache")
    assert not any(map(healthy.TINY.spares, ("host", "environ", "venv", "source", "launch")))


def test_a_compiling_cpu_profile_still_needs_its_cache() -> None:
    assert replace(healthy.TINY, compile=True).spares("cache") == ""


def test_a_lock_knows_its_versions_by_name() -> None:
    assert healthy.LOCK.versions == {"torch": "2.10.0", "transformers": "5.24.0"}


def test_a_variable_that_is_not_set_is_empty() -> None:
    environ = replace(healthy.ENVIRON, variables=(Variable(name="PYTHONPATH", value="/opt"),))
    assert environ.value("PYTHONPATH") == "/opt"
    assert environ.value("LD_PRELOAD") == ""
