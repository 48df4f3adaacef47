"""What machines read."""

import json

from dflash_env import bundle
from dflash_env.check import examine
from dflash_env.render import json as render_json
from dflash_env.report import Report
from tests.healthy import FACTS


def test_a_report_says_its_verdict_and_holds_its_facts() -> None:
    report = Report(taken="2026-11-30T20:00:00Z", facts=FACTS, results=examine(bundle.checks(), FACTS))
    document = json.loads(render_json.report(report))
    assert (document["schema"], document["verdict"], document["exit_code"]) == (1, "passed", 0)
    assert {each["check"] for each in document["results"]} == {check.id for check in bundle.checks()}
    assert document["facts"]["gpus"]["driver"] == "570.133.20"
