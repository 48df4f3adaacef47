"""Reports for machines: exactly one JSON document."""

from typing import Any

from dflash_env import codec
from dflash_env.report import Report


def report(report: Report) -> str:
    """The whole report: verdict, results, and the facts that it rests on."""
    return codec.document(body(report))


def body(report: Report) -> dict[str, Any]:
    """A report's content, as `doctor --json` prints it and a run folder keeps it."""
    return {
        "tool": report.tool,
        "taken": report.taken,
        "verdict": "passed" if report.exit_code == 0 else "refused",
        "exit_code": int(report.exit_code),
        "results": [codec.encode(result) for result in report.results],
        "not_examined": [{"reading": name, **codec.encode(unknown)} for name, unknown in report.unexamined],
        "facts": codec.encode(report.facts),
    }
