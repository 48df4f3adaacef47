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
    assert finding.about == ("gpus",)
    assert "timeout" in finding.message
    assert "20 s" in finding.message


def test_fires_once_for_a_lost_gpu() -> None:
    [finding] = facts_incomplete(gpus=with_device(3, uuid=LOST, name=LOST, memory_bytes=LOST))
    assert finding.about == ("gpus.devices[3].uuid", "gpus.devices[3].name", "gpus.devices[3].memory_bytes")
    assert finding.message == f"{', '.join(finding.about)} could not be read (nvml-15): GPU is lost"


def test_fires_for_each_gpu_that_is_lost_and_for_no_other() -> None:
    lost = replace(healthy.GPUS.devices[3], uuid=LOST, name=LOST, memory_bytes=LOST)
    findings = facts_incomplete(gpus=replace(healthy.GPUS, devices=(lost, *healthy.GPUS.devices[1:7], lost)))
    assert [finding.about[0] for finding in findings] == ["gpus.devices[0].uuid", "gpus.devices[7].uuid"]
    assert all(len(finding.about) == 3 for finding in findings)


def test_fires_when_only_the_memory_is_not_told() -> None:
    [finding] = facts_incomplete(gpus=with_device(5, memory_bytes=LOST))
    assert finding.about == ("gpus.devices[5].memory_bytes",)


def test_fires_for_each_reason() -> None:
    garbage = Unknown(code="malformed", text="NVML answered no UTF-8")
    findings = facts_incomplete(gpus=with_device(5, name=garbage, memory_bytes=LOST))
    assert [(finding.about, finding.message.partition(" (")[2][:9]) for finding in findings] == [
        (("gpus.devices[5].name",), "malformed"),
        (("gpus.devices[5].memory_bytes",), "nvml-15):"),
    ]


def test_fires_when_the_driver_keeps_its_version() -> None:
    [finding] = facts_incomplete(gpus=replace(healthy.GPUS, driver=LOST))
    assert finding.about == ("gpus.driver",)


def test_quiet_on_the_healthy_machine() -> None:
    assert facts_incomplete(gpus=healthy.GPUS) == []


def test_quiet_about_a_reading_that_a_board_does_not_have() -> None:
    assert facts_incomplete(gpus=with_device(0, memory_bytes=NotApplicable(why="Not Supported"))) == []


def test_quiet_where_there_is_no_driver() -> None:
    assert facts_incomplete(gpus=Gpus(driver=NotApplicable(why="no driver"), devices=())) == []
