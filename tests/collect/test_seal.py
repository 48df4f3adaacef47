"""The seal: what is compared with it, and that a damaged one is never a pass."""

import json
import os
from pathlib import Path

import pytest

from dflash_env.collect import seal, tree
from dflash_env.facts import Drift, NotApplicable, Unknown
from tests.collect.conftest import Built


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "venv"
    (root / "lib").mkdir(parents=True)
    (root / "lib/a.py").write_text("a = 1\n")
    (root / "lib/b.py").write_text("b = 1\n")
    (root / "link").symlink_to("lib/a.py")
    return root


@pytest.fixture
def manifest(folder: Path) -> seal.Manifest:
    there = tree.walk(folder)
    hashed = tree.digests(folder, there)
    entries = {path: tree.entry(hashed[path], status) for path, status in there.items()}
    return seal.Manifest(entries, {"lib/a.py": ("alpha", "beta"), "lib/b.py": ("beta",)})


def drift(folder: Path, manifest: seal.Manifest, deep: bool = False) -> list[tuple[str, str, str]]:
    return [(each.path, each.how, each.owner) for each in seal.compare(folder, manifest, deep).drift]


# ---- comparing ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("deep", [False, True])
def test_nothing_drifted(folder: Path, manifest: seal.Manifest, deep: bool) -> None:
    found = seal.compare(folder, manifest, deep)
    assert (found.drift, found.hard_linked) == ((), 0)
    assert found.files["lib/a.py"][0] == tree.digest(folder / "lib/a.py")


def test_a_quick_look_hashes_only_what_moved(folder: Path, manifest: seal.Manifest) -> None:
    seen: list[int] = []
    seal.compare(folder, manifest, False, seen.append)
    assert seen == []
    (folder / "lib/b.py").touch()
    assert seal.compare(folder, manifest, False, seen.append).drift == ()
    assert seen == [6], "it was touched, not changed"


def test_a_deep_look_hashes_every_byte(folder: Path, manifest: seal.Manifest) -> None:
    seen: list[int] = []
    seal.compare(folder, manifest, True, seen.append)
    assert sum(seen) == 12


def test_a_deep_look_sees_what_no_time_stamp_tells(folder: Path, manifest: seal.Manifest) -> None:
    # As a flipped bit on the disk would: the content is another, everything else is as it was sealed.
    (folder / "lib/a.py").write_text("a = 2\n")
    status = (folder / "lib/a.py").lstat()
    blind = seal.Manifest(
        manifest.entries | {"lib/a.py": tree.entry(manifest.entries["lib/a.py"].sha256, status)}, manifest.owners
    )
    assert drift(folder, blind) == []
    assert drift(folder, blind, deep=True) == [("lib/a.py", "changed", "alpha, beta")]


def test_an_edit_of_the_same_size_with_a_forged_time_is_seen_at_a_quick_look(
    folder: Path, manifest: seal.Manifest
) -> None:
    before = (folder / "lib/a.py").stat()
    (folder / "lib/a.py").write_text("a = 9\n")
    os.utime(folder / "lib/a.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert drift(folder, manifest) == [("lib/a.py", "changed", "alpha, beta")]


def test_each_kind_of_drift(folder: Path, manifest: seal.Manifest) -> None:
    (folder / "lib/a.py").unlink()
    (folder / "lib/c.py").write_text("")
    (folder / "link").unlink()
    (folder / "link").symlink_to("lib/c.py")
    assert drift(folder, manifest) == [
        ("lib/a.py", "missing", "alpha, beta"),
        ("lib/c.py", "unowned", ""),
        ("link", "changed", ""),
    ]


def test_a_mode_that_makes_a_file_a_program_is_a_change(folder: Path, manifest: seal.Manifest) -> None:
    (folder / "lib/b.py").chmod(0o755)
    assert drift(folder, manifest) == [("lib/b.py", "changed", "beta")]


def test_write_bits_are_no_change(folder: Path, manifest: seal.Manifest) -> None:
    (folder / "lib/b.py").chmod(0o666)
    assert drift(folder, manifest) == []


def test_a_link_to_the_same_content_is_a_change(folder: Path, manifest: seal.Manifest) -> None:
    (folder / "lib/b.py").rename(folder.parent / "b.py")
    (folder / "lib/b.py").symlink_to(folder.parent / "b.py")
    assert drift(folder, manifest) == [("lib/b.py", "changed", "beta")]


def test_a_pipe_in_place_of_a_file_is_a_change_and_nobody_waits_for_it(folder: Path, manifest: seal.Manifest) -> None:
    (folder / "lib/b.py").unlink()
    os.mkfifo(folder / "lib/b.py")
    assert drift(folder, manifest) == [("lib/b.py", "changed", "beta")]


def test_second_names_are_counted(folder: Path, manifest: seal.Manifest) -> None:
    (folder.parent / "cache").hardlink_to(folder / "lib/a.py")
    found = seal.compare(folder, manifest, False)
    assert (found.drift, found.hard_linked) == ((), 1)


# ---- documents ------------------------------------------------------------------------------------------------------


def test_a_manifest_is_read_as_it_was_written(folder: Path, manifest: seal.Manifest) -> None:
    path = folder.parent / "files.json"
    path.write_text(manifest.text())
    assert seal.read_manifest(path) == manifest


def test_a_venv_without_a_seal_says_so(tmp_path: Path) -> None:
    found = seal.read_seal(tmp_path / "x.seal.json")
    assert found == NotApplicable(why=f"{tmp_path / 'x.seal.json'} does not exist: the build was not finished")


ROW = ["0" * 64, 1, 1, 1, 1, 33188, "alpha"]
DAMAGED = {
    "empty": "",
    "cut off": '{"schema": 1, "files": {"a": ["',
    "no text": b"\xff\xfe",
    "no object": "[]",
    "another schema": '{"schema": 2, "files": {}}',
    "no files": '{"schema": 1}',
    "a list of files": '{"schema": 1, "files": []}',
    "a row that is a number": '{"schema": 1, "files": {"a": 1}}',
    "a row that is text": '{"schema": 1, "files": {"a": "abcdef"}}',
    "a row too short": '{"schema": 1, "files": {"a": ["0", 1, 1, 1, 1]}}',
    "a row without a digest": json.dumps({"schema": 1, "files": {"a": [None, *ROW[1:]]}}),
    "a mode that is text": json.dumps({"schema": 1, "files": {"a": [*ROW[:5], "33188"]}}),
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_manifest_is_unknown_and_refuses(built: Built, content: str | bytes) -> None:
    path = built.state.manifest(built.folder)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert refused(built) == "malformed"


def test_a_manifest_that_is_gone_is_unknown_and_refuses(built: Built) -> None:
    built.state.manifest(built.folder).unlink()
    assert refused(built) == "denied"


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "{}", b"\xff\xfe", '{"schema": 2}', '{"schema": 1, "key": "a"}', '{"schema": 1, "kye": "a"}'],
)
def test_a_damaged_seal_is_unknown_and_refuses(built: Built, content: str | bytes) -> None:
    path = built.state.seal(built.folder)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert refused(built) == "malformed"


def refused(built: Built) -> str:
    """The code of the Unknown, where the whole report is one finding about it."""
    section = built.collect()
    assert isinstance(section, Unknown), section
    assert str(built.folder) in section.text
    assert built.report().exit_code == 1
    assert list(built.told()) == ["venv-facts-incomplete"]
    return section.code


def test_a_manifest_that_lost_a_file_makes_it_one_that_nobody_owns(built: Built) -> None:
    path = built.state.manifest(built.folder)
    document = json.loads(path.read_text())
    del document["files"][built.name(built.site / "beta/data.bin")]
    path.write_text(json.dumps(document))
    [found] = built.found().drift
    assert found == Drift(path=built.name(built.site / "beta/data.bin"), how="unowned", owner="beta")
    assert built.report().exit_code == 1
