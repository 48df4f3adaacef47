"""The verdict on a machine: on this one now, or on the facts that a report saved."""

import json
from collections.abc import Sequence
from pathlib import Path

from dflash_env import bundle, codec, execute
from dflash_env.check import examine
from dflash_env.collect import collect
from dflash_env.config import Config
from dflash_env.errors import Failure
from dflash_env.facts import Facts
from dflash_env.progress import Meter, Tally
from dflash_env.report import Report


def now(settings: Config, profile: str | None, deep: bool = False, ignored: Sequence[str] = ()) -> Report:
    """The report on this machine; with `deep` every byte of the venv is hashed, and a meter shows it."""
    excuses = reasons(ignored)
    taken, chosen = execute.now(), settings.profile(profile)
    tally = Tally(Meter(), "verifying", settings.lock(chosen).unpacked_bytes)
    facts = collect(settings, chosen, deep, tally.add if deep else lambda _: None)
    tally.close()
    return Report(taken=taken, facts=facts, results=examine(bundle.checks(), facts, excuses))


def reasons(ignored: Sequence[str]) -> dict[str, str]:
    """The reason by check of each CHECK=REASON. What could not be read cannot be ignored: Unknown is never a pass."""
    known = {check.id for check in bundle.checks()}
    found = {}
    for each in ignored:
        check, _, reason = (part.strip() for part in each.partition("="))
        if check not in known:
            raise Failure(
                f"--ignore {check}: no such check{codec.did_you_mean(check, known)}", "`explain --all` lists all"
            )
        if not reason:
            raise Failure(f"--ignore {check}: a reason is missing", f'write --ignore {check}="why it may be so today"')
        if check.endswith("-facts-incomplete"):
            raise Failure(f"--ignore {check}: what could not be read cannot be ignored", "make it readable")
        found[check] = reason
    return found


def again(path: Path, ignored: Sequence[str] = ()) -> Report:
    """A saved report's facts, judged with today's checks and the expectations recorded beside them."""
    try:
        saved = codec.open_document(json.loads(path.read_text("utf-8")))
        facts = codec.decode(Facts, saved["facts"], ".facts")
        taken = str(saved["taken"])
    except OSError as error:
        raise Failure(f"{path} cannot be read: {error.strerror}", "name a file that `doctor --json` wrote") from None
    except KeyError as error:
        raise Failure(f"{path} is no report: it has no {error}", "name a file that `doctor --json` wrote") from None
    except (ValueError, RecursionError) as error:
        raise Failure(f"{path} is no report of this version: {error}", "make it again with `doctor --json`") from None
    return Report(taken=taken, facts=facts, results=examine(bundle.checks(), facts, reasons(ignored)))
