"""What runs when HEAD need not be what runs."""

from pathlib import Path

from dflash_env.collect import worktree


def test_every_file_but_bytecode(tmp_path: Path) -> None:
    for name in ("trainer/loop.py", "trainer/deep/x.toml", "trainer/__pycache__/loop.pyc", "other/y.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "trainer" / "run.sh").write_text("#!/bin/sh\n")
    (tmp_path / "trainer" / "run.sh").chmod(0o755)
    (tmp_path / "trainer" / "dangling.py").symlink_to("nowhere")
    found = worktree.present(tmp_path, "trainer")
    assert {name: executable for name, (_, executable) in found.items()} == {
        "trainer/deep/x.toml": False,
        "trainer/loop.py": False,
        "trainer/run.sh": True,
    }
