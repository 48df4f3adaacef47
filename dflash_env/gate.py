"""The verdict on a machine: on this one now, or on the facts that a report saved."""

import json
from pathlib import Path

from dflash_env import bundle, codec, execute
from dflash_env.check import examine
from dflash_env.collect import collect
from dflash_env.config import Config
from dflash_env.errors import Failure
from dflash_env.facts import Facts
from dflash_env.progress import Meter, Tally
from dflash_env.report import Report


def now(settings: Config, profile: str | None, deep: bool = False) -> Report:
    """The report on this machine; with `deep` every byte of the venv is hashed, and a meter shows it."""
    taken, chosen = execute.now(), settings.profile(profile)
    tally = Tally(Meter(), "verifying", settings.lock(chosen).unpacked_bytes)
    facts = collect(settings, chosen, deep, tally.add if deep else lambda _: None)
    tally.close()
    return Report(taken=taken, facts=facts, results=examine(bundle.checks(), facts))


def again(path: Path) -> Report:
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
    return Report(taken=taken, facts=facts, results=examine(bundle.checks(), facts))
