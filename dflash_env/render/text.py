"""Reports, explanations and plans for people in a terminal."""

import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import click

from dflash_env import codec
from dflash_env.check import FAMILIES, Check, Outcome, Result, Severity
from dflash_env.errors import Exit
from dflash_env.facts import Facts, Repo
from dflash_env.plan import Step
from dflash_env.report import Report

WIDEST = 110
"""Lines longer than this are hard to read on any terminal."""


@dataclass(frozen=True)
class Mark:
    """A sign, its word for terminals without the sign, and a colour; never colour alone."""

    sign: str
    word: str
    colour: str


PASS = Mark("✓", "ok", "green")
FAIL = Mark("✗", "FAIL", "red")
WARN = Mark("!", "warn", "yellow")
NONE = Mark("–", "-", "bright_black")


def report(report: Report, seconds: float, verbose: bool = False) -> str:
    """A line a family, the findings under it, and the verdict last."""
    lines = [_heading(report.facts), ""]
    for family in FAMILIES:
        results = [result for result in report.results if result.family == family]
        if results:
            lines += _family(family, results, verbose)
    lines += _unexamined(report)
    return "\n".join([*lines, "", _verdict(report, seconds)])


def _heading(facts: Facts) -> str:
    repo = facts.repo
    vouched = "HEAD" if isinstance(repo, Repo) and repo.vouched_by == "git" else "built from"
    commit = f"{vouched} {repo.commit[:12]}" if isinstance(repo, Repo) else ""
    parts = [f"profile {facts.profile.name}", f"machine {facts.machine.name}", f"lock {facts.lock.name}", commit]
    return click.style("dflash-env", bold=True) + "  " + _visible(" · ".join(part for part in parts if part))


def _family(family: str, results: list[Result], verbose: bool) -> Iterator[str]:
    examined = [result for result in results if result.outcome is not Outcome.NOT_NEEDED]
    if not examined:
        yield f"  {family:<8} {_mark(NONE)} {_dim(f'not needed: {results[0].reason}')}"
        return
    wrong = [result for result in examined if result.outcome in (Outcome.FAILED, Outcome.CRASHED, Outcome.IGNORED)]
    skipped = [result for result in examined if result.outcome is Outcome.SKIPPED]
    mark = _worst(wrong, len(skipped) == len(examined))
    tail = f", {len(skipped)} skipped" if skipped else ""
    counts = f"{len(wrong)} of {len(examined)} checks found something" if wrong else f"{len(examined)} checks"
    yield f"  {family:<8} {_mark(mark)} {_dim(counts + tail)}"
    for result in examined if verbose else wrong:
        yield from _result(result)


def _worst(wrong: list[Result], nothing_examined: bool) -> Mark:
    if any(result.blocks for result in wrong):
        return FAIL
    if wrong:
        return WARN
    return NONE if nothing_examined else PASS


def _result(result: Result) -> Iterator[str]:
    name = click.style(result.check, bold=True)
    if result.outcome is Outcome.PASSED:
        yield f"    {_mark(PASS)} {name}"
    elif result.outcome is Outcome.SKIPPED:
        yield f"    {_mark(NONE)} {name}  {_dim(f'skipped: {result.reason}')}"
    elif result.outcome is Outcome.IGNORED:
        yield from _lines(WARN, result.check, f"ignored: {result.reason}")
        yield from (f"        {line}" for finding in result.findings for line in _wrap(finding.message, _width() - 8))
    elif result.outcome is Outcome.CRASHED:
        yield from _lines(FAIL, result.check, f"the check itself failed: {result.reason}")
        yield from _fix("This is a bug of dflash-env; report it with the output of `dflash-env doctor --json`.")
        yield from _findings(result, FAIL)
    else:
        mark = FAIL if result.severity is Severity.ERROR else WARN
        yield from _findings(result, mark)


def _findings(result: Result, mark: Mark) -> Iterator[str]:
    shown = result.findings[:SHOWN]
    if not shown:
        return
    for finding in shown:
        yield from _lines(mark, result.check, finding.message)
        if finding.fix != shown[-1].fix:
            yield from _fix(finding.fix)
    if len(result.findings) > SHOWN:
        yield f"        … and {len(result.findings) - SHOWN} more (--json lists all)"
    yield from _fix(shown[-1].fix)


SHOWN = 5
"""How many findings of one check are spelled out."""


def _lines(mark: Mark, check: str, message: str) -> Iterator[str]:
    first, *rest = _wrap(f"{check}: {message}", _width() - 8)
    yield f"    {_mark(mark)} {click.style(check, bold=True)}{first.removeprefix(check)}"
    yield from (f"        {line}" for line in rest)


def _fix(fix: str) -> Iterator[str]:
    first, *rest = _wrap(fix, _width() - 13)
    yield f"        {click.style('fix:', fg='green')} {first}"
    yield from (f"             {line}" for line in rest)


def _wrap(text: str, width: int) -> list[str]:
    """Lines of a text; a command between backticks stays whole, and nothing in it can move the cursor."""
    glued = re.sub(r"`[^`]*`", lambda command: command[0].replace(" ", GLUE), _visible(text))
    lines = textwrap.wrap(glued, width, break_long_words=False, break_on_hyphens=False)
    return [line.replace(GLUE, " ") for line in lines] or [""]


def _visible(text: str) -> str:
    """A text in which nothing can move the cursor."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in codec.printable(text))


GLUE = "\ue000"
"""Stands for a space that must not become a line break; textwrap takes it for a letter."""


def _unexamined(report: Report) -> Iterator[str]:
    for name, unknown in report.unexamined:
        yield f"  {_dim(f'not examined: {name} ({unknown.code}: {unknown.text})')}"


def _verdict(report: Report, seconds: float) -> str:
    errors = sum(result.blocks for result in report.results)
    parts = [
        _count(errors, "error"),
        _count(report.count(Outcome.FAILED, Severity.WARNING), "warning"),
        f"{report.count(Outcome.PASSED)} passed",
        f"{report.count(Outcome.NOT_NEEDED)} not needed",
        f"{report.count(Outcome.SKIPPED)} skipped",
    ]
    if ignored := report.count(Outcome.IGNORED):
        parts.append(f"{ignored} ignored")
    well = report.exit_code is Exit.OK
    word = click.style("passed" if well else "refused", fg="green" if well else "red", bold=True)
    return f"{word}: {', '.join(parts)}  {_dim(f'({seconds:.2f} s)')}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _mark(mark: Mark) -> str:
    return click.style(mark.sign if _unicode() else mark.word, fg=mark.colour, bold=True)


def _dim(text: str) -> str:
    return click.style(_visible(text), fg="bright_black")


def _width() -> int:
    """The terminal's width; where there is none, or a very wide one, what reads well."""
    return max(40, min(WIDEST, shutil.get_terminal_size((WIDEST, 24)).columns))


def _unicode() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def explanation(check: Check[...]) -> str:
    """One check as Markdown: what `explain` prints and docs/checks.md holds."""
    sections = ", ".join(f"`{name}`" for name in check.needs)
    parts = [
        f"### {check.id}",
        f"**{check.title}.** Severity: {check.severity}. Reads: {sections}.",
        f"*Why.* {check.why}",
        f"*Fix.* {check.fix}",
    ]
    return "\n\n".join("\n".join(_wrap(part, WIDEST)) for part in parts) + "\n"


def explanations(checks: Iterable[Check[...]]) -> str:
    """Every check, grouped by family: docs/checks.md."""
    said = "Made by `make docs` from the checks themselves. An error refuses a launch; a warning does not."
    page = ["# Checks", "", said, ""]
    family = ""
    for check in checks:
        if check.family != family:
            family = check.family
            page += [f"## {family}", ""]
        page += [explanation(check)]
    return "\n".join(page)


def step(step: Step) -> str:
    """A step as a reader could type it: why, the variables set, those passed on by name, and the command."""
    lines = [f"# {step.why}"]
    if step.passes:
        lines.append(f"#   passed on by name where set: {' '.join(step.passes)}")
    lines += [f"{name}={shlex.quote(value)} \\" for name, value in sorted(step.env.items())]
    return "\n".join([*lines, f"{shlex.join(step.argv)}"])
