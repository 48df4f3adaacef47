"""environ-library-shadowed: another cuDNN is found first."""

from dataclasses import replace

import pytest

from checks.environ.library_shadowed import library_shadowed
from dflash_env.check import Outcome, Skipped, examine
from dflash_env.facts import Environ
from tests import healthy


def holding(*libraries: str) -> Environ:
    return replace(healthy.ENVIRON, libraries=libraries)


def test_fires_with_both_files() -> None:
    shadow = "/usr/local/cuda/lib64/libcudnn_graph.so.9"
    [finding] = library_shadowed(environ=holding(shadow, "/usr/local/cuda/lib64/libcufile.so.0"), venv=healthy.VENV)
    assert finding.message == f"{shadow} would be loaded for {healthy.VENV.path}/{healthy.VENV.libraries[0]}"


DRIVERS = holding("/compat/libcuda.so.1", "/compat/libcuda.so.575.57.08", "libcuda.so", "/opt/libcudart.so.12")


def test_fires_once_a_folder_for_the_drivers_library() -> None:
    assert [finding.message for finding in library_shadowed(environ=DRIVERS, venv=healthy.VENV)] == [
        "/compat/libcuda.so.1, libcuda.so.575.57.08 would be loaded for the driver's own",
        "./libcuda.so would be loaded for the driver's own",
    ]


def test_the_drivers_library_is_told_without_a_venv() -> None:
    [result] = examine([library_shadowed], replace(healthy.FACTS, environ=DRIVERS, venv=healthy.ABSENT_VENV))
    assert (result.outcome, len(result.findings)) == (Outcome.FAILED, 2)


def test_quiet_on_the_healthy_machine() -> None:
    assert library_shadowed(environ=healthy.ENVIRON, venv=healthy.VENV) == []


def test_quiet_about_another_release_of_the_library() -> None:
    assert library_shadowed(environ=holding("/opt/libcudnn_graph.so.8"), venv=healthy.VENV) == []


def test_skipped_where_it_is_not_known_what_is_locked() -> None:
    with pytest.raises(Skipped, match="no venv was built"):
        library_shadowed(environ=holding("/opt/libcudnn_graph.so.9"), venv=healthy.ABSENT_VENV)
