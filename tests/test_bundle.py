"""The bundle finds its folders and loads every check by path."""

import sys

from dflash_env import bundle


def test_in_a_clone_the_bundle_is_the_clone() -> None:
    assert not bundle.installed()
    assert (bundle.root() / "trainer").is_dir() and (bundle.root() / "pyproject.toml").is_file()


def test_checks_are_loaded_by_path_and_no_generic_name_is_taken() -> None:
    before = set(sys.modules)
    bundle.checks.cache_clear()
    assert bundle.checks()
    assert not {name for name in set(sys.modules) - before if name.partition(".")[0] == "checks"}


def test_ids_are_unique_and_in_the_order_of_families() -> None:
    ids = [check.id for check in bundle.checks()]
    assert len(set(ids)) == len(ids)
    assert ids[0].startswith("gpu-") and ids[-1].startswith("cache-")
