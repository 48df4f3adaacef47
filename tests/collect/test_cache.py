"""The compile cache's folder itself, not what a link in its place leads to."""

import os
from pathlib import Path

import pytest

from dflash_env.collect import cache
from dflash_env.facts import Cache, NotApplicable, Unknown


def test_a_folder_of_ours(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    ours = os.geteuid()
    assert cache.collect(folder) == Cache(path=str(folder), kind="folder", owner_uid=ours, our_uid=ours, mode=0o700)


def test_no_folder(tmp_path: Path) -> None:
    found = cache.collect(tmp_path / "gone")
    assert found.kind == found.owner_uid == found.mode == NotApplicable(why=f"{tmp_path / 'gone'} does not exist")


def test_a_link_to_a_good_folder_is_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    assert cache.collect(tmp_path / "link").kind == "link"


def test_a_link_to_nowhere_is_a_link_too(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    assert cache.collect(tmp_path / "link").kind == "link"


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("no folder")
    assert cache.collect(tmp_path / "cache").kind == "file"


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o2770])
def test_the_mode_is_told_whole(tmp_path: Path, mode: int) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(mode)
    assert cache.collect(tmp_path / "cache").mode == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_the_owner_is_told(tmp_path: Path) -> None:
    os.chown(tmp_path, 12345, 12345)
    found = cache.collect(tmp_path)
    assert (found.owner_uid, found.our_uid) == (12345, 0)


def test_a_path_through_a_file_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    found = cache.collect(tmp_path / "file/cache")
    assert isinstance(found.kind, Unknown)
    assert found.kind.text == f"{tmp_path / 'file/cache'}: Not a directory"
    assert found.kind == found.owner_uid == found.mode
