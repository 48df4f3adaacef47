"""What the environment half costs, as ratios measured in one run, written to docs/measurements/environment.md.

usage: python bench/environment.py   (needs the training venv: `dflash-env rebuild`)
"""

import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from dflash_env import bundle, config
from dflash_env.collect import programs
from dflash_env.state import State, uv_cache

ROOT = bundle.root()
OUT = ROOT / "docs" / "measurements" / "environment.md"
TOOL = [sys.executable, "-P", "-m", "dflash_env"]


@dataclass(frozen=True)
class Cost:
    """One finished process: its wall time, and the largest memory of it alone, not of its children."""

    seconds: float
    peak_bytes: int


def cost(argv: list[str | Path], **env: str) -> Cost:
    """Run a command once, its output thrown away. Its exit code is not judged: a finding is no failure here."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    began = time.perf_counter()
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=kept | env, cwd=ROOT)
    _, _, usage = os.wait4(process.pid, 0)
    return Cost(time.perf_counter() - began, usage.ru_maxrss * 1024)


def paired(ours: list[str | Path], theirs: list[str | Path], rounds: int) -> tuple[list[Cost], list[Cost]]:
    """Both in turn, after one round that is not counted, so that a drifting machine drifts for both."""
    pairs = [(cost(ours), cost(theirs)) for _ in range(rounds + 1)][1:]
    return [ours for ours, _ in pairs], [theirs for _, theirs in pairs]


def ratio(above: list[Cost], below: list[Cost]) -> float:
    """The median of the ratios pair by pair."""
    return statistics.median(a.seconds / b.seconds for a, b in zip(above, below, strict=True))


def median(costs: list[Cost]) -> float:
    """The median wall time."""
    return statistics.median(each.seconds for each in costs)


def peak(costs: list[Cost]) -> str:
    """The largest memory, in MB."""
    return f"{max(each.peak_bytes for each in costs) / 1e6:.0f} MB"


def row(*cells: str) -> str:
    """A row of the table."""
    return f"| {' | '.join(cells)} |"


def doctor(venv: Path) -> str:
    """`doctor` against torch's own report, in the same venv."""
    # Its bytecode is kept, as in any venv, but outside the sealed one.
    with tempfile.TemporaryDirectory() as bytecode:
        python: list[str | Path] = ["env", f"PYTHONPYCACHEPREFIX={bytecode}", venv / "bin" / "python"]
        ours, theirs = paired([*TOOL, "doctor"], [*python, "-m", "torch.utils.collect_env"], 7)
    beside = f"`torch.utils.collect_env` {median(theirs):.2f} s, {peak(theirs)}"
    faster = f"{ratio(theirs, ours):.1f}x faster"
    return row("`doctor`, all checked", f"{median(ours):.2f} s", peak(ours), beside, faster, "3x, 0.5 s")


def deep(venv: Path) -> str:
    """`doctor --deep` against sha256sum on as many processes as there are cores."""
    cores = str(len(os.sched_getaffinity(0)))
    theirs: list[str | Path] = ["sh", "-c", f'find "$0" -type f -print0 | xargs -0 -P {cores} -n 200 sha256sum', venv]
    ours, summed = paired([*TOOL, "doctor", "--deep"], theirs, 3)
    beside = f"`sha256sum` on {cores} cores {median(summed):.1f} s"
    return row(
        "`doctor --deep`", f"{median(ours):.1f} s", peak(ours), beside, f"{ratio(summed, ours):.0%} of its rate", "70 %"
    )


def rebuild(venv: Path) -> str:
    """`rebuild` from a warm cache, verification and seal included, against plain uv."""
    settings = config.load(ROOT)
    lockfile = settings.lockfile(f"{settings.profile(None).lock}.txt")
    with tempfile.TemporaryDirectory(dir=ROOT / ".dflash", prefix="bench-") as folder:
        own = Path(folder, "own")
        code = """
import sys
from pathlib import Path
from dflash_env import build, lock
from dflash_env.state import State
build.provide(State(Path(sys.argv[1])), lock.read(Path(sys.argv[2])), Path(sys.argv[2]))
"""
        plain = f"""set -e; rm -rf {folder}/plain
            {programs.find_uv()} venv -q --relocatable --python {venv}/bin/python {folder}/plain
            {programs.find_uv()} pip sync -q --cache-dir {uv_cache()} --link-mode copy --require-hashes \
                --python {folder}/plain/bin/python {lockfile}"""
        pairs = []
        for _ in range(3):
            ours = cost([sys.executable, "-P", "-c", code, own, lockfile])
            subprocess.run(["sh", "-c", f"chmod -R u+w {own}; rm -rf {own}"], check=True)
            pairs.append((ours, cost(["sh", "-c", plain])))
            shutil.rmtree(Path(folder, "plain"))
    ours, theirs = [a for a, _ in pairs], [b for _, b in pairs]
    beside = f"`uv venv` and `uv pip sync` {median(theirs):.1f} s"
    slower = f"{ratio(ours, theirs):.2f}x its time"
    return row("`rebuild`, warm cache", f"{median(ours):.1f} s", peak(ours), beside, slower, "1.3x")


def main() -> None:
    """Measure, print and write."""
    settings = config.load(ROOT)
    venv = State(settings.state).current(settings.profile(None).lock).resolve()
    rows = [doctor(venv), deep(venv), rebuild(venv)]
    size = settings.lock(settings.profile(None)).unpacked_bytes
    page = [
        "# What the environment half costs",
        "",
        f"Made by `make bench` on {time.strftime('%Y-%m-%d', time.gmtime())}: {len(os.sched_getaffinity(0))} cores, "
        f"{platform.system()} {platform.machine()}, Python {platform.python_version()}, a venv of {size / 1e9:.1f} GB. "
        "Medians; a ratio is the median of pairs that ran in turn. Memory is that of the command's own process.",
        "",
        "| command | time | memory | beside | ratio | to reach |",
        "|---|---|---|---|---|---|",
        *rows,
        "",
    ]
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text("\n".join(page))
    print("\n".join(page))


if __name__ == "__main__":
    main()
