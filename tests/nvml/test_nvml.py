"""The NVML child with the real nvidia-ml-py, over a library of our own that answers from a scenario."""

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dflash_env import bundle
from dflash_env.check import examine
from dflash_env.collect import gpus
from dflash_env.facts import Facts, Gpu, Gpus, NotApplicable, Section, Unknown
from tests import healthy

LIBRARY = "libnvidia-ml.so.1"
HEALTHY = """\
system.driver=570.133.20
system.count=8
gpu*.uuid=GPU-
gpu*.name=NVIDIA H100 80GB HBM3
gpu*.memory=85520809984
"""

Scenario = Callable[..., Section[Gpus]]


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our libnvidia-ml, built once."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        missing = "there is no C compiler to build the stand-in for libnvidia-ml with"
        pytest.fail(missing) if os.environ.get("CI") else pytest.skip(missing)
    built = tmp_path_factory.mktemp("nvml") / LIBRARY
    source = Path(__file__).with_name("fake.c")
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, "-o", built, source, "-ldl"], check=True)
    return built


@pytest.fixture
def nvml(library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scenario:
    """Collect with the healthy scenario and these lines after it."""

    def collect(*lines: str) -> Section[Gpus]:
        shutil.copy(library, tmp_path / LIBRARY)
        (tmp_path / "scenario.txt").write_text(HEALTHY + "\n".join(lines) + "\n", "latin-1")
        monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
        return gpus.collect()

    return collect


def known(section: Section[Gpus]) -> Gpus:
    assert isinstance(section, Gpus), section
    return section


def fired(found: Section[Gpus]) -> dict[str, list[tuple[str, ...]]]:
    """The checks that find something on the healthy machine with these GPUs, and what each finding is about."""
    machine: Facts = replace(healthy.FACTS, gpus=found)
    results = examine(bundle.checks(), machine)
    return {result.check: [finding.about for finding in result.findings] for result in results if result.findings}


def test_eight_healthy_gpus(nvml: Scenario) -> None:
    found = nvml()
    assert found == healthy.GPUS
    assert fired(found) == {}


def test_a_gpu_of_another_kind(nvml: Scenario) -> None:
    devices = known(nvml("gpu7.name=NVIDIA A100", "gpu7.memory=1", "gpu7.uuid=GPU-other")).devices
    assert devices[7] == Gpu(index=7, uuid="GPU-other", name="NVIDIA A100", memory_bytes=1)
    assert devices[:7] == healthy.GPUS.devices[:7]


def test_one_gpu_fell_off_the_bus(nvml: Scenario) -> None:
    found = nvml("system.count=7")
    assert len(known(found).devices) == 7
    assert list(fired(found)) == ["gpu-count-wrong"]


def test_a_driver_that_lists_no_gpu(nvml: Scenario) -> None:
    found = nvml("system.count=0")
    assert found == Gpus(driver="570.133.20", devices=())
    assert list(fired(found)) == ["gpu-count-wrong"]


def test_a_library_that_cannot_be_loaded_is_no_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / LIBRARY).write_text("This is no library, and it stands before any other on the loader's path.\n" * 9)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    found = gpus.collect()
    assert found == Gpus(driver=NotApplicable(why="NVML Shared Library Not Found"), devices=())
    assert list(fired(found)) == ["gpu-driver-missing"]


def test_a_driver_that_is_not_loaded_is_a_fact(nvml: Scenario) -> None:
    found = nvml("system.init_error=9")
    assert found == Gpus(driver=NotApplicable(why="Driver Not Loaded"), devices=())
    assert list(fired(found)) == ["gpu-driver-missing"]


def test_a_library_of_another_version_than_the_driver_is_unknown(nvml: Scenario) -> None:
    found = nvml("system.init_error=18")
    assert isinstance(found, Unknown)
    assert (found.code, "version mismatch" in found.text) == ("nvml-18", True)
    assert fired(found) == {"gpu-facts-incomplete": [("gpus",)]}


def test_a_lost_gpu_is_unknown_and_the_others_are_read(nvml: Scenario) -> None:
    found = nvml("gpu3.error=15")
    lost = known(found).devices[3]
    assert isinstance(lost.uuid, Unknown)
    assert lost.uuid.code == "nvml-15"
    assert lost.uuid == lost.name == lost.memory_bytes
    assert known(found).devices[4:] == healthy.GPUS.devices[4:]
    about = ("gpus.devices[3].uuid", "gpus.devices[3].name", "gpus.devices[3].memory_bytes")
    assert fired(found) == {"gpu-facts-incomplete": [about]}


def test_a_gpu_lost_between_two_calls(nvml: Scenario) -> None:
    found = nvml("gpu3.name_error=15")
    device = known(found).devices[3]
    assert (device.uuid, isinstance(device.name, Unknown)) == ("GPU-3", True)
    assert fired(found) == {"gpu-facts-incomplete": [("gpus.devices[3].name",)]}


def test_an_optional_reading_that_a_board_does_not_have(nvml: Scenario) -> None:
    found = nvml("gpu0.memory_error=3")
    assert known(found).devices[0].memory_bytes == NotApplicable(why="Not Supported")
    assert fired(found) == {}


def test_a_gpu_that_does_not_tell_its_memory(nvml: Scenario) -> None:
    found = nvml("gpu3.memory_error=999")
    assert isinstance(known(found).devices[3].memory_bytes, Unknown)
    assert fired(found) == {"gpu-facts-incomplete": [("gpus.devices[3].memory_bytes",)]}


def test_a_driver_that_keeps_its_version(nvml: Scenario) -> None:
    found = nvml("system.driver_error=999")
    assert isinstance(known(found).driver, Unknown)
    assert fired(found) == {"gpu-facts-incomplete": [("gpus.driver",)]}


def test_a_driver_that_cannot_count(nvml: Scenario) -> None:
    found = nvml("system.count_error=999")
    assert isinstance(found, Unknown)
    assert "does not say how many GPUs" in found.text


def test_a_wedged_driver_ends_after_the_limit(nvml: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpus, "LIMIT_S", 0.5)
    found = nvml("system.hang=1")
    assert isinstance(found, Unknown)
    assert (found.code, found.text.endswith("did not answer within 0.5 s")) == ("timeout", True)
    assert fired(found) == {"gpu-facts-incomplete": [("gpus",)]}


def test_a_driver_that_ends_the_process(nvml: Scenario) -> None:
    found = nvml("system.abort=1")
    assert isinstance(found, Unknown)
    assert (found.code, "ended with -6" in found.text) == ("failed", True)


@pytest.mark.parametrize("line", ["system.noise=NVRM: warning", "system.noise={}"])
def test_a_library_that_talks_into_the_answer(nvml: Scenario, line: str) -> None:
    found = nvml(line)
    assert isinstance(found, Unknown)
    assert found.code == "malformed"


@pytest.mark.parametrize("reading", ["name", "uuid"])
def test_a_text_of_a_gpu_that_is_garbage_is_unknown_and_all_else_is_read(nvml: Scenario, reading: str) -> None:
    found = nvml(f"gpu2.{reading}=\xff\xfe")
    device = known(found).devices[2]
    garbage = getattr(device, reading)
    assert isinstance(garbage, Unknown)
    assert (garbage.code, garbage.text.startswith("NVML answered no UTF-8: ")) == ("malformed", True)
    devices = (*healthy.GPUS.devices[:2], replace(healthy.GPUS.devices[2], **{reading: garbage}))
    assert known(found) == replace(healthy.GPUS, devices=devices + healthy.GPUS.devices[3:])
    assert fired(found) == {"gpu-facts-incomplete": [(f"gpus.devices[2].{reading}",)]}


def test_a_driver_version_that_is_garbage_is_unknown_and_all_else_is_read(nvml: Scenario) -> None:
    found = nvml("system.driver=\xff")
    driver = known(found).driver
    assert isinstance(driver, Unknown)
    assert driver.code == "malformed"
    assert known(found).devices == healthy.GPUS.devices
    assert fired(found) == {"gpu-facts-incomplete": [("gpus.driver",)]}


def test_a_text_that_is_no_ascii_is_a_value(nvml: Scenario) -> None:
    found = nvml("gpu0.name=Carte graphique \xc3\xa9")
    assert known(found).devices[0].name == "Carte graphique é"


def test_a_driver_that_fails_on_the_way_out_has_answered(nvml: Scenario) -> None:
    assert nvml("system.shutdown_error=999") == healthy.GPUS


def test_a_driver_that_fails_on_the_way_out_hides_no_earlier_failure(nvml: Scenario) -> None:
    found = nvml("system.count_error=999", "system.shutdown_error=999")
    assert isinstance(found, Unknown)
    assert "does not say how many GPUs" in found.text


def test_a_name_that_does_not_fit(nvml: Scenario) -> None:
    found = nvml("gpu0.name=" + "x" * 200)
    assert isinstance(known(found).devices[0].name, Unknown)
