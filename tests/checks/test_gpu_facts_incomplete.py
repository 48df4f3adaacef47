"""gpu-facts-incomplete: a GPU that does not answer is reported once, here."""

from dataclasses import replace

from checks.gpu.facts_incomplete import facts_incomplete
from dflash_env.facts import Gpus, NotApplicable, Unknown
from tests import healthy

LOST = Unknown(code="nvml-15", text="GPU is lost")


def with_device(index: int, **readings: object) -> Gpus:
    devices = list(healthy.GPUS.devices)
    devices[index] = replace(devices[index], **readings)
    return replace(healthy.GPUS, devices=tuple(devices))


def test_fires_when_nvml_hangs() -> None:
    [finding] = facts_incomplete(gpus=Unknown(code="timeout", text="python did not answer within 20 s"))
    assert finding.about == "gpus"
    assert "timeout" in finding.message
    assert "20 s" in finding.message


def test_fires_for_each_reading_of_a_lost_gpu() -> None:
    findings = facts_incomplete(gpus=with_device(3, uuid=LOST, name=LOST, memory_bytes=LOST))
    assert [finding.about for finding in findings] == ["gpus.devices[3].uuid", "gpus.devices[3].name"]
    assert "GPU is lost" in findings[0].message


def test_fires_when_the_driver_keeps_its_version() -> None:
    [finding] = facts_incomplete(gpus=replace(healthy.GPUS, driver=LOST))
    assert finding.about == "gpus.driver"


def test_quiet_on_the_healthy_machine() -> None:
    assert facts_incomplete(gpus=healthy.GPUS) == []


def test_quiet_where_there_is_no_driver() -> None:
    assert facts_incomplete(gpus=Gpus(driver=NotApplicable(why="no driver"), devices=())) == []
