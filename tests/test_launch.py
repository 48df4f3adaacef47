"""A run's folder is named by its time, never shared, and gone again when it could not be prepared."""

from dataclasses import replace
from pathlib import Path

import pytest

from dflash_env import config, launch
from dflash_env.errors import StepFailed
from dflash_env.facts import Unknown
from dflash_env.report import Report
from tests.healthy import FACTS, TINY, VENV


@pytest.fixture
def settings(tmp_path: Path) -> config.Config:
    return config.load(tmp_path)


@pytest.fixture
def report(tmp_path: Path) -> Report:
    (tmp_path / "venv").mkdir()
    venv = replace(VENV, path=str(tmp_path / "venv"))
    return Report(taken="2026-11-30T20:00:05Z", facts=replace(FACTS, profile=TINY, venv=venv), results=())


def test_a_folder_is_named_by_time_and_kind(settings: config.Config, report: Report) -> None:
    assert launch.folder(settings, report, "train").name == "20261130T200005Z-train"
    assert launch.folder(settings, report, "train", 2).name == "20261130T200005Z-train-2"


def test_a_second_run_of_the_same_second_gets_its_own(settings: config.Config, report: Report) -> None:
    assert launch._make(settings, report, "train") != launch._make(settings, report, "train")


def test_what_cannot_be_prepared_leaves_nothing(
    settings: config.Config, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch.repo, "committed", lambda *_: Unknown(code="damaged", text="an object is gone"))
    with pytest.raises(StepFailed, match="an object is gone"):
        launch.prepared(settings, report, "train", ())
    assert not (settings.state / "runs").exists()


def test_the_configuration_is_the_runs_own_copy_or_the_users_file(settings: config.Config, report: Report) -> None:
    run = settings.state / "runs" / "r"
    planned = launch.planned(settings, report, run, ())
    assert planned.config == str(run / "src" / "trainer" / "configs" / "tiny.toml")
    mine = replace(report, facts=replace(report.facts, profile=replace(TINY, config="mine/big.toml")))
    assert launch.planned(settings, mine, run, ()).config == str(settings.project / "mine" / "big.toml")


def test_gpus_go_by_uuid_in_the_order_of_the_ranks(settings: config.Config, report: Report) -> None:
    node = replace(report, facts=replace(report.facts, profile=FACTS.profile))
    planned = launch.planned(settings, node, settings.state / "runs" / "r", ())
    assert planned.trainer.env["CUDA_VISIBLE_DEVICES"] == ",".join(f"GPU-{index}" for index in range(8))
