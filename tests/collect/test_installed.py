"""Metadata as it is found: normalised names, folders without it, and requirements that nothing meets."""

import shutil
from pathlib import Path

import pytest

from dflash_env.facts import Unmet
from tests.collect.conftest import Built


def names(built: Built) -> list[tuple[str, str]]:
    return [(one.name, one.version) for one in built.found().distributions]


def install(built: Built, name: str, version: str, *requires: str) -> Path:
    """A distribution of metadata alone."""
    folder = built.site / f"{name}-{version}.dist-info"
    folder.mkdir()
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {name}",
        f"Version: {version}",
        *(f"Requires-Dist: {r}" for r in requires),
    ]
    (folder / "METADATA").write_text("\n".join([*lines, ""]))
    (folder / "RECORD").write_text(f"{folder.name}/METADATA,,\n{folder.name}/RECORD,,\n")
    return folder


def test_names_and_versions_are_normalised(built: Built) -> None:
    install(built, "Typing_Extensions", "4.16.0.0-1")
    assert ("typing-extensions", "4.16.0.0.post1") in names(built)


def test_a_version_that_is_none_is_shown_as_written(built: Built) -> None:
    install(built, "odd", "not.a.version")
    assert ("odd", "not.a.version") in names(built)


@pytest.mark.parametrize(
    ("folder", "seen"),
    [
        ("Vllm_Extra-0.11.0.dist-info", ("vllm-extra", "0.11.0")),
        ("vllm-0.11.dev1+cu12-py3.11.egg-info", ("vllm", "0.11.dev1+cu12")),
        ("vllm.dist-info", ("vllm", "(none)")),
    ],
)
def test_a_hollow_folder_is_what_its_name_says(built: Built, folder: str, seen: tuple[str, str]) -> None:
    (built.site / folder).mkdir()
    assert seen in names(built)
    assert list(built.told()) == ["venv-distribution-extra"]


@pytest.mark.parametrize("left", ["", "REQUESTED", "RECORD"])
def test_a_hollow_folder_of_a_locked_package_is_one_finding(built: Built, left: str) -> None:
    hollow = built.site / "beta-1.9+cu11.dist-info"
    hollow.mkdir()
    if left:
        (hollow / left).write_text("")
    assert built.told() == {"venv-distribution-version": ["beta 1.9+cu11 is installed; the lock has 2.0"]}
    assert built.report().exit_code == 1


def test_a_hollow_folder_of_the_locked_version_is_seen_beside_the_real_one(built: Built) -> None:
    (built.site / "Beta-2.0.dist-info").mkdir()
    assert built.told() == {"venv-distribution-version": ["beta (none) is installed; the lock has 2.0"]}


def test_metadata_that_is_gone_is_a_missing_file_and_no_other_package(built: Built) -> None:
    (built.site / "beta-2.0.dist-info/METADATA").unlink()
    assert ("beta", "2.0") in names(built)
    assert list(built.told()) == ["venv-file-missing"]


def test_both_metadata_folders_of_one_package_are_one_finding(built: Built) -> None:
    install(built, "beta", "1.9")
    assert names(built)[1:3] == [("beta", "1.9"), ("beta", "2.0")]
    assert built.told() == {"venv-distribution-version": ["beta 1.9 is installed; the lock has 2.0"]}


def test_metadata_copied_under_another_name_is_one_finding(built: Built) -> None:
    shutil.copytree(built.site / "beta-2.0.dist-info", built.site / "Beta-2.0.dist-info")
    [finding] = built.told().pop("venv-file-unowned")
    assert "metadata that makes a package look installed a second time" in finding
    assert list(built.told()) == ["venv-file-unowned"]


@pytest.mark.parametrize(
    ("requirement", "found"),
    [
        ("gone", ""),
        ("beta>=3", "2.0"),
        ("Beta >= 3 ; python_version < '3.12'", "2.0"),
        ("not a requirement !", ""),
    ],
)
def test_a_requirement_that_nothing_meets(built: Built, requirement: str, found: str) -> None:
    install(built, "needy", "1.0", requirement)
    assert built.found().unmet == (Unmet(distribution="needy", requirement=requirement, found=found),)


@pytest.mark.parametrize(
    "requirement",
    [
        "beta",
        "BETA==2.*",
        "beta[extra]>=1",
        "gone; python_version >= '3.12'",
        "gone; extra == 'test'",
        "gone; sys_platform == 'win32'",
    ],
)
def test_a_requirement_that_is_met_or_does_not_apply(built: Built, requirement: str) -> None:
    install(built, "content", "1.0", requirement)
    assert built.found().unmet == ()


def test_a_requirement_unmet_though_the_lock_agrees(built: Built) -> None:
    metadata = built.site / "alpha-1.0.dist-info/METADATA"
    metadata.write_text(metadata.read_text().replace("beta>=2", "beta>=3"))
    assert built.told()["venv-requirement-unmet"] == ["alpha requires beta>=3; version 2.0 is installed"]
