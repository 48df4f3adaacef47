"""Prepares a run: its folder, the exact code, and the configuration that the trainer itself completed."""

import contextlib
import difflib
import json
import shutil
from pathlib import Path

from dflash_env import bundle, checksums, codec, execute, plan
from dflash_env.check import Outcome
from dflash_env.collect import repo, worktree
from dflash_env.config import Config
from dflash_env.errors import Failure, StepFailed
from dflash_env.facts import Gpus, Host, Profile, Repo, Unknown, Venv
from dflash_env.render import json as render_json
from dflash_env.report import Report
from dflash_env.state import State

DONE, CONFIG_WRONG = 0, 77
"""What `trainer resolve` answers."""


def folder(settings: Config, report: Report, name: str, number: int = 1) -> Path:
    """The folder of a run: its time and its kind."""
    stem = f"{report.taken.replace('-', '').replace(':', '')}-{name}"
    return State(settings.state).runs / (stem if number == 1 else f"{stem}-{number}")


def planned(settings: Config, report: Report, run: Path, overrides: tuple[str, ...]) -> plan.Launch:
    """The plan that a passing report allows."""
    facts = report.facts
    if not (isinstance(facts.venv, Venv) and isinstance(facts.venv.path, str) and isinstance(facts.host, Host)):
        raise AssertionError("a report that passed has a venv and a host")
    return plan.launch(
        state=State(settings.state),
        profile=facts.profile,
        venv=Path(facts.venv.path),
        run=run,
        config=str(_config(settings, facts.profile, run)),
        overrides=overrides,
        gpus=_gpus(facts.gpus, facts.profile),
        cores=facts.host.cores,
    )


def _config(settings: Config, profile: Profile, run: Path) -> Path:
    if profile.config.endswith(".toml"):
        return settings.project / profile.config
    return run / "src" / "trainer" / "configs" / f"{profile.config}.toml"


def _gpus(gpus: Gpus | Unknown, profile: Profile) -> tuple[str, ...]:
    if profile.gpus == 0 or not isinstance(gpus, Gpus):
        return ()
    return tuple(str(gpu.uuid) for gpu in gpus.devices[: profile.gpus])


def prepared(settings: Config, report: Report, name: str, overrides: tuple[str, ...]) -> plan.Launch:
    """Write the run's folder; where that fails, nothing of it stays."""
    run = _make(settings, report, name)
    try:
        _hold(settings, report)
        launch = planned(settings, report, run, overrides)
        execute.write_files(run / "src", _source(report, run))
        codec.write_document(run / "plan.json", launch)
        codec.write_document(run / "facts.json", report.facts)
        codec.write_text(run / "report.json", render_json.report(report))
        _write_sums(settings, run)
        codec.write_document(run / "train.json", {"config": _resolve(settings, report.facts.profile, launch, run)})
        return launch
    except BaseException:
        shutil.rmtree(run, ignore_errors=True)
        with contextlib.suppress(OSError):
            run.parent.rmdir()  # only where this would have been the first run
        raise


def _write_sums(settings: Config, run: Path) -> None:
    if not bundle.installed():
        sums = checksums.take(bundle.root(), settings.source)
        codec.write_bytes(run / "source.sha256", checksums.checkable(sums))
        codec.write_text(run / "source.json", checksums.document(sums))


def _hold(settings: Config, report: Report) -> None:
    """Keep the venv for as long as this process and what it becomes live; `gc` sees that."""
    venv = report.facts.venv
    if isinstance(venv, Venv) and isinstance(venv.path, str):
        execute.lease(State(settings.state).lease(Path(venv.path)))
        if not Path(venv.path).is_dir():
            raise StepFailed(f"{venv.path} was removed just now", "run `dflash-env rebuild`")


def _make(settings: Config, report: Report, name: str) -> Path:
    execute.make_state(settings.state)
    execute.make_folder(State(settings.state).runs)
    for number in range(1, 1000):
        run = folder(settings, report, name, number)
        try:
            run.mkdir()
        except FileExistsError:
            continue
        except OSError as error:
            raise StepFailed(f"{run} cannot be made: {error.strerror}", f"make {run.parent} writable") from None
        return run
    raise StepFailed("a thousand runs were started in this second", "look at what starts them")


def _source(report: Report, run: Path) -> dict[str, tuple[bytes, bool]]:
    """The trainer as committed: from git's objects, or from the files that the wheel's manifest vouches for.

    Where a check of the source was ignored, the working tree's, and the difference is written beside it.
    """
    found = report.facts.repo
    if not isinstance(found, Repo):
        raise AssertionError("a report that passed has a vouched source")
    files = repo.committed(bundle.root(), found, "trainer")
    if isinstance(files, Unknown):
        raise StepFailed(f"the committed trainer cannot be read: {files.text}", "run `git fsck`")
    if not any(result.outcome is Outcome.IGNORED and result.family == "source" for result in report.results):
        return files
    here = worktree.present(bundle.root(), "trainer")
    codec.write_bytes(run / "source.diff", _difference(files, here))
    return here


def _difference(committed: dict[str, tuple[bytes, bool]], here: dict[str, tuple[bytes, bool]]) -> bytes:
    lines: list[bytes] = []
    for name in sorted(committed.keys() | here.keys()):
        before, after = (each.get(name, (b"", False))[0].splitlines(keepends=True) for each in (committed, here))
        lines += difflib.diff_bytes(
            difflib.unified_diff, before, after, f"HEAD/{name}".encode(), f"here/{name}".encode()
        )
    return b"".join(line if line.endswith(b"\n") else line + b"\n" for line in lines)


def _resolve(settings: Config, profile: Profile, launch: plan.Launch, run: Path) -> object:
    asked, answered = run / "resolve.json", run / "resolved.json"
    request = {
        "config": launch.config,
        "overrides": list(launch.overrides),
        "base": str(Path.cwd()),
        "cache": str(State(settings.state).caches / "data"),
        "placement": launch.placement,
        "compile": profile.compile,
    }
    codec.write_document(asked, request)
    execute.run(launch.resolve, limit_s=120, accepted=(DONE, CONFIG_WRONG))
    answer = codec.open_document(json.loads(answered.read_text("utf-8")))
    if not answer["ok"]:
        wrong = "\n".join(f"  {error['where']}: {error['message']}" for error in answer["errors"])
        raise Failure(
            f"the trainer's configuration is wrong ({profile.config}):\n{wrong}",
            "correct the KEY=VALUE or the file; trainer/README.md lists the keys",
        )
    asked.unlink()
    answered.unlink()
    return answer["config"]
