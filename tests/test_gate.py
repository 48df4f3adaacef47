"""A verdict on saved facts needs only the facts, and a file that holds none is told apart from one that fails."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from dflash_env import bundle, gate
from dflash_env.check import examine
from dflash_env.errors import Failure
from dflash_env.facts import NotApplicable
from dflash_env.render import json as render_json
from dflash_env.report import Report
from tests.healthy import FACTS, GPUS


def saved(folder: Path, report: Report) -> Path:
    path = folder / "report.json"
    path.write_text(render_json.report(report))
    return path


def test_a_saved_report_is_judged_by_its_facts_not_by_its_words(tmp_path: Path) -> None:
    facts = replace(FACTS, gpus=replace(GPUS, driver=NotApplicable(why="no driver"), devices=()))
    path = saved(tmp_path, Report(taken="2026-11-30T20:00:00Z", facts=facts, results=()))
    again = gate.again(path)
    assert again.results == examine(bundle.checks(), facts)
    assert again.exit_code == 1
    assert again.taken == "2026-11-30T20:00:00Z"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda document: document.pop("facts"), "it has no 'facts'"),
        (lambda document: document.update(schema=2), "expected 1, got 2"),
        (lambda document: document["facts"]["gpus"].update(drivr="1"), "did you mean 'driver'"),
        (lambda document: document["facts"]["host"].update(cores="many"), ".facts.host.cores"),
    ],
)
def test_a_file_that_is_no_report_is_named(tmp_path: Path, change, said: str) -> None:
    path = saved(tmp_path, Report(taken="2026-11-30T20:00:00Z", facts=FACTS, results=()))
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    with pytest.raises(Failure, match=said) as failure:
        gate.again(path)
    assert str(path) in failure.value.message


def test_a_file_that_is_not_json_is_named(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("{")
    with pytest.raises(Failure, match="no report"):
        gate.again(path)
