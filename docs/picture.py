"""Records `dflash-env doctor` refusing an edited file, and passing when it is put back, as docs/doctor.svg."""

import io
import os
import pty
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

HERE = Path(__file__).parent
ROOT = HERE.parent
COLUMNS = 112

BLACK, WHITE = (24, 27, 33), (220, 223, 228)
HUES = [(224, 108, 117), (152, 195, 121), (229, 192, 123), (97, 175, 239), (198, 120, 221), (86, 182, 194)]
THEME = TerminalTheme(BLACK, WHITE, [BLACK, *HUES, WHITE], [(124, 131, 143), *HUES, (255, 255, 255)])

# Without rich's own @font-face lines: a picture in a README should fetch nothing.
SVG = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; white-space: pre; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}<g class="{unique_id}-matrix" xml:space="preserve">{matrix}</g></g>
</svg>
"""


# The clone's own code, in an environment without the variable that led to it.
RUN = "import os, sys; os.environ.pop('PYTHONPATH'); from dflash_env.cli import main; main()"
SHOWN = ("dflash-env doctor", "dflash-env restore", "dflash-env doctor")


def main() -> None:
    """Write the picture."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder, "drafter")
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        (clone / ".dflash").symlink_to(ROOT / ".dflash")
        with (clone / "trainer" / "attention.py").open("a") as edited:
            edited.write("\ntorch.fx._symbolic_trace.is_fx_symbolic_tracing = lambda: False\n")
        shown = [recorded(clone, each) for each in SHOWN]
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi("\n".join(shown)))
    svg = console.export_svg(title="dflash-env", theme=THEME, code_format=SVG, unique_id="doctor")
    (HERE / "doctor.svg").write_text("\n".join(line.rstrip() for line in svg.splitlines()) + "\n")


def recorded(cwd: Path, shown: str) -> str:
    """What a terminal shows for a command."""
    command = [sys.executable, "-P", "-c", RUN, *shown.split()[1:]]
    master, slave = pty.openpty()
    env = {**os.environ, "COLUMNS": str(COLUMNS), "TERM": "xterm-256color", "PYTHONPATH": str(cwd)}
    with subprocess.Popen(command, cwd=cwd, env=env, stdout=slave, stderr=slave) as process:
        os.close(slave)
        output = b"".join(iter(lambda: read(master), b""))
        process.wait()
    os.close(master)
    said = output.decode().replace("\r\n", "\n")
    return f"\x1b[1;32m$\x1b[0m \x1b[1m{shown}\x1b[0m\n{said}"


def read(descriptor: int) -> bytes:
    """The next piece of a terminal's output; empty at its end, which Linux reports as an error."""
    try:
        return os.read(descriptor, 65536)
    except OSError:
        return b""


if __name__ == "__main__":
    main()
