"""environ-launch-half-set: a program would wait for ranks that nobody started."""

from checks.environ.launch_half_set import launch_half_set
from tests import healthy

WHOLE = {"RANK": "3", "WORLD_SIZE": "8", "LOCAL_RANK": "3", "MASTER_ADDR": "node1", "MASTER_PORT": "29500"}


def test_fires_with_what_is_set_and_what_is_not() -> None:
    [finding] = launch_half_set(environ=healthy.shell(MASTER_ADDR="node1", RANK="0"))
    assert finding.message == "RANK=0 MASTER_ADDR=node1 without WORLD_SIZE, LOCAL_RANK, MASTER_PORT"


def test_fires_for_each_that_is_left_out() -> None:
    for name in WHOLE:
        [finding] = launch_half_set(environ=healthy.shell(**{**WHOLE, name: ""}))
        assert finding.message.endswith(f" without {name}")


def test_quiet_on_the_healthy_machine() -> None:
    assert launch_half_set(environ=healthy.ENVIRON) == []


def test_quiet_about_a_whole_launch() -> None:
    assert launch_half_set(environ=healthy.shell(**WHOLE)) == []
