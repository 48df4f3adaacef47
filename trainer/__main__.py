"""`python -m trainer COMMAND`: train FILE · resolve IN OUT · rank FILE (what `train` starts once a process)."""

import sys
from pathlib import Path

USAGE = "usage: python -m trainer train RUN/train.json | resolve IN.json OUT.json"


def main(arguments: list[str]) -> int:
    """Run one command and return its exit code. Imports follow the command: `resolve` never loads torch."""
    match arguments:
        case ["resolve", source, out]:
            from trainer.resolve import resolve

            return resolve(Path(source), Path(out))
        case ["train", document]:
            from trainer.launch import train

            return train(Path(document).absolute())
        case ["rank", document]:
            from trainer.launch import rank

            return rank(Path(document).absolute())
    print(USAGE, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
