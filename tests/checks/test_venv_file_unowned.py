"""venv-file-unowned: what lies in the venv and came with no locked package."""

from dataclasses import replace

import pytest

from checks.venv.file_unowned import file_unowned
from dflash_env.check import Skipped
from dflash_env.facts import Distribution, Drift, Venv
from tests import healthy

SITE = "lib/python3.11/site-packages"


def strays(*paths: str, owner: str = "") -> Venv:
    return replace(healthy.VENV, drift=tuple(Drift(path=path, how="unowned", owner=owner) for path in paths))


def told(*paths: str) -> list[str]:
    return [
        finding.message.removeprefix(f"{SITE}/") for finding in file_unowned(venv=strays(*paths), lock=healthy.LOCK)
    ]


def test_fires_with_the_kind_of_thing_that_it_is() -> None:
    kinds = {
        "evil.pth": "its import lines run in every Python of this venv",
        "__editable___mine_finder.py": "it leads imports to a folder outside the venv",
        "mine.egg-link": "it leads imports to a folder outside the venv",
        "sitecustomize.py": "it runs at the start of every Python of this venv",
        "usercustomize/__init__.py": "it runs at the start of every Python of this venv",
        "torch/__pycache__/a.cpython-311.pyc": "bytecode that Python may run instead of the source beside it",
        "torch/mm.pyc": "bytecode without a source, which is imported like a module",
        "~orch/__init__.py": "what an uninstall that was cut off left behind",
        "~orch-2.10.0.dist-info/METADATA": "what an uninstall that was cut off left behind",
        "torch-2.10.0+cu130.dist-info/METADATA": "metadata that makes a package look installed a second time",
        "torch-2.10.0.dist-info/uv_cache.json": "uv's note of a package that was installed here again, by hand",
        "torch.egg-info": "metadata that makes a package look installed a second time",
        "nvidia/cu13/lib/libcudnn.so.9": "left by CUDA packages that are gone; its libraries may still be loaded",
        "torch.py": "no package that is locked brought it",
    }
    for name, what in kinds.items():
        assert told(f"{SITE}/{name}") == [f"{name}: {what}"]


def test_fires_once_for_a_folder_of_strays() -> None:
    paths = [f"{SITE}/nvidia/cu13/lib/{name}" for name in "abc"] + [f"{SITE}/nvidia/nccl13/lib/d", f"{SITE}/vllm/e"]
    assert [message.split(":")[0] for message in told(*paths)] == [
        "nvidia/cu13/lib/a and 2 more",
        "nvidia/nccl13/lib/d",
        "vllm/e",
    ]


def test_fires_once_for_all_bytecode() -> None:
    paths = [f"{SITE}/{name}/__pycache__/a.cpython-311.pyc" for name in ("alpha", "torch")]
    assert [message.split(":")[0] for message in told(*paths)] == ["alpha/__pycache__/a.cpython-311.pyc and 1 more"]


def test_fires_for_a_file_outside_of_site_packages() -> None:
    assert told("bin/helper", "bin/other") == [
        "bin/helper: no package that is locked brought it",
        "bin/other: no package that is locked brought it",
    ]


def test_fires_for_a_link_in_place_of_a_folder() -> None:
    below = Drift(path=f"{SITE}/torch/lib/a.so", how="missing", owner="torch")
    venv = strays(f"{SITE}/torch")
    [finding] = file_unowned(venv=replace(venv, drift=(*venv.drift, below)), lock=healthy.LOCK)
    assert finding.message == f"{SITE}/torch: it stands where a folder of the venv was"


def test_fires_for_a_file_that_was_written_into_a_locked_packages_record() -> None:
    assert file_unowned(venv=strays(f"{SITE}/torch/extra.py", owner="torch"), lock=healthy.LOCK)


def test_quiet_on_the_healthy_machine() -> None:
    assert file_unowned(venv=healthy.VENV, lock=healthy.LOCK) == []


def test_quiet_about_the_files_of_an_extra_distribution() -> None:
    installed = (*healthy.VENV.distributions, Distribution(name="vllm", version="0.11.0"))
    venv = replace(strays(f"{SITE}/vllm/__init__.py", owner="vllm"), distributions=installed)
    assert file_unowned(venv=venv, lock=healthy.LOCK) == []


def test_quiet_about_metadata_whose_version_is_told_already() -> None:
    installed = (*healthy.VENV.distributions, Distribution(name="torch", version="2.9.0"))
    venv = replace(strays(f"{SITE}/Torch-2.9.0.dist-info/METADATA", owner="torch"), distributions=installed)
    assert file_unowned(venv=venv, lock=healthy.LOCK) == []


def test_skipped_without_a_venv() -> None:
    with pytest.raises(Skipped, match="no venv was built"):
        file_unowned(venv=healthy.ABSENT_VENV, lock=healthy.LOCK)
