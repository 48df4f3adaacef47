"""`record` through the real command line; the sums themselves are in tests/test_checksums.py."""

import json
import subprocess
from pathlib import Path

from tests.conftest import Clone


def test_what_is_printed_can_be_checked(clone: Clone, tmp_path: Path) -> None:
    listed = tmp_path / "sums"
    assert clone.run("record", "source", "--out", str(listed)).returncode == 0
    checked = subprocess.run(["sha256sum", "--check", "--quiet", listed], cwd=clone.root, check=False)
    assert checked.returncode == 0
    assert clone.run("record", "source").stdout == listed.read_text()


def test_json_is_one_document(clone: Clone) -> None:
    document = json.loads(clone.run("record", "source", "--json").stdout)
    assert document["schema"] == 1
    assert {"dflash_env/gate.py", "trainer/loop.py", "lockfiles/cu12-cp311.txt"} <= {
        each["path"] for each in document["files"]
    }
