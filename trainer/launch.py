"""The outer process of a run: torch's elastic launcher, signals, the documented exit code; and a rank's first lines."""

import ctypes
import json
import logging
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path
from types import FrameType

from trainer.config import FAILED, INVALID, STOPPED, TrainConfig, load
from trainer.documents import write_json
from trainer.errors import ConfigError, KilledError, MendableError
from trainer.events import Events, Stop
from trainer.progress import complain, say
from trainer.result import result
from trainer.resuming import again

RANK = "the training process"
"""What messages call a rank: this version has one."""


def train(document: Path) -> int:
    """Run every rank of the run that `document` (RUN/train.json) describes. Returns the documented exit code."""
    run = document.parent
    answer = run / "result.json"
    try:
        config = _read(document)
    except ConfigError as error:
        complain(error)
        if run.is_dir():
            write_json(answer, result("invalid", INVALID, error))
        return INVALID
    answer.unlink(missing_ok=True)
    forwarder = _Forwarder(config.stop_grace_s)
    forwarder.listen()
    trouble = None if forwarder.asked else _launch(config, document)
    forwarder.close()
    if answer.exists():
        return int(json.loads(answer.read_text())["exit_code"])
    outcome, code = ("stopped", STOPPED) if forwarder.asked else ("failed", FAILED)
    killed = _ending(run, forwarder, trouble)
    write_json(answer, result(outcome, code, killed, _newest_checkpoint(run)))
    if killed is None:
        say("\nstopped before anything was saved; start it again\n")
    else:
        complain(killed)
    return code


def _read(document: Path) -> TrainConfig:
    try:
        return load(json.loads(document.read_text("utf-8")))
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{document}: cannot be read: {error}", "start the run with `dflash-env run train`"
        ) from error


def _ending(run: Path, forwarder: "_Forwarder", trouble: str | None) -> KilledError | None:
    """Why a run has no result; None when it merely was stopped before it had anything to save."""
    checkpoint = _newest_checkpoint(run)
    onward = again(run, checkpoint)
    if forwarder.killed:
        lost = "it had saved anything" if checkpoint is None else "it could save once more"
        return KilledError(f"killed before {lost}: {forwarder.killed}", onward)
    if forwarder.asked and trouble in (None, f"{RANK} was killed by SIGTERM"):
        return None
    if trouble == f"{RANK} was killed by SIGKILL":
        onward = f"if memory ran out (see dmesg), lower train.rows or data.generate_batch; {onward}"
    return KilledError(trouble or f"{RANK} ended without a result", onward)


def _newest_checkpoint(run: Path) -> str | None:
    steps = sorted((run / "checkpoints").glob("step-*"), key=lambda path: int(path.name[5:]))
    return str(steps[-1]) if steps else None


def _launch(config: TrainConfig, document: Path) -> str | None:
    """Start the ranks and wait for them. A rank's failure is returned in words; what it means is in result.json."""
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    # This process says what happened itself, in two lines; the launcher's loggers each carry a level of their own.
    logging.disable()
    # On one node the ranks meet in a file. The launcher's TCP stores would listen on every interface.
    os.environ["TORCH_DISABLE_SHARE_RDZV_TCP_STORE"] = "1"
    meeting = tempfile.TemporaryDirectory(prefix="dflash-rendezvous-")
    ranks = 1 if config.placement.colocated else config.placement.targets + config.placement.drafters
    launch = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=ranks,
        run_id=document.parent.name,
        rdzv_backend="c10d",
        rdzv_endpoint=str(Path(meeting.name) / "store"),
        rdzv_configs={"store_type": "file"},
        local_addr="127.0.0.1",
        max_restarts=0,
        monitor_interval=0.1,
        # The launcher would answer a signal with a fixed 30 s; SIGTERM, SIGINT and SIGHUP are the forwarder's.
        signals_to_handle="SIGQUIT",
    )
    try:
        elastic_launch(launch, sys.executable)("-m", "trainer", "rank", str(document))
    except ChildFailedError as error:
        return _end_of_rank(error.get_first_failure()[1].exitcode)
    except SignalException as error:
        return f"the launcher was ended by {error.sigval.name}"
    finally:
        meeting.cleanup()
    return None


def _end_of_rank(code: int) -> str:
    """The end of a rank in words; a negative exit code is the signal that killed it."""
    if code >= 0:
        return f"{RANK} ended with code {code} and left no result"
    return f"{RANK} was killed by {signal.Signals(-code).name}"


class _Forwarder:
    """Passes a stop on to the ranks, once each; after the grace, or at a second SIGINT, kills them.

    `killed` says why it did, in words.
    """

    def __init__(self, grace_s: float) -> None:
        self.asked = False
        self.killed = ""
        self._grace_s = grace_s
        self._kill_now = threading.Event()
        self._over = threading.Event()

    def listen(self) -> None:
        """Install the handlers, before torch is imported, so that an early signal is not lost."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._ask)

    def close(self) -> None:
        """The ranks have ended."""
        self._over.set()

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked and number == signal.SIGINT:
            self._kill_now.set()
        if not self.asked:
            self.asked = True
            threading.Thread(target=self._forward, daemon=True).start()

    def _forward(self) -> None:
        told: set[int] = set()
        deadline = time.monotonic() + self._grace_s
        while not self._over.wait(0.05):
            late = time.monotonic() > deadline
            for child in _children():
                if late or self._kill_now.is_set():
                    self.killed = f"stop_grace_s = {self._grace_s} were over" if late else "a second Ctrl-C"
                    os.killpg(child, signal.SIGKILL)
                elif child not in told:
                    told.add(child)
                    os.kill(child, signal.SIGTERM)


def _children() -> list[int]:
    """This process's children that lead their own session, as the launcher starts ranks; read from /proc."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            # After the parenthesised name: state, parent, group, session.
            parts = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(parts[1]) == os.getpid() and parts[3] == entry.name:
            found.append(int(entry.name))
    return found


def rank(document: Path) -> int:
    """One rank: dies with its launcher, hears stop signals from the start, and writes result.json whatever happens."""
    _die_with_parent()
    stop = Stop()
    stop.listen()
    from trainer.loop import run

    folder = document.parent
    try:
        return run(_read(document), folder, stop)
    except Exception as error:
        outcome, code = ("invalid", INVALID) if isinstance(error, ConfigError) else ("failed", FAILED)
        if isinstance(error, MendableError):
            complain(error)
        else:
            traceback.print_exc()
        Events(folder / "events.jsonl").emit(outcome, kind=type(error).__name__, message=str(error))
        write_json(folder / "result.json", result(outcome, code, error, _newest_checkpoint(folder)))
        return code


def _die_with_parent() -> None:
    """Ask the kernel to kill this process when the launcher ends, however that happens (Linux)."""
    pr_set_pdeathsig = 1
    parent = os.getppid()
    ctypes.CDLL(None, use_errno=True).prctl(pr_set_pdeathsig, signal.SIGKILL)
    if os.getppid() != parent or parent == 1:
        os._exit(FAILED)
