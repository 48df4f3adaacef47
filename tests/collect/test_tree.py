"""Every file of a tree, and the one digest over all of it that any machine can compare."""

import base64
import hashlib
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from dflash_env import build
from dflash_env.collect import tree
from dflash_env.state import State
from tests import wheels
from tests.collect.conftest import Built


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "below/deep").mkdir(parents=True)
    (root / "a").write_bytes(b"a")
    (root / "below/b").write_bytes(b"bb")
    (root / "below/deep/c").write_bytes(b"")
    (root / "link").symlink_to("below")
    return root


# ---- walking and hashing --------------------------------------------------------------------------------------------


def test_a_walk_sees_every_file_and_follows_no_link(folder: Path) -> None:
    (folder / "nothing").symlink_to("gone")
    found = tree.walk(folder)
    assert sorted(found) == ["a", "below/b", "below/deep/c", "link", "nothing"]
    assert found["below/b"].st_size == 2


def test_a_walk_sees_names_that_are_no_text(folder: Path) -> None:
    (folder / os.fsdecode(b"caf\xe9")).write_bytes(b"")
    assert os.fsdecode(b"caf\xe9") in tree.walk(folder)


def test_the_digest_of_a_file_is_that_of_its_bytes(folder: Path) -> None:
    large = os.urandom(3 * tree.CHUNK_BYTES + 17)
    (folder / "large").write_bytes(large)
    seen: list[int] = []
    assert tree.digest(folder / "large", seen.append) == hashlib.sha256(large).hexdigest()
    assert sum(seen) == len(large)


def test_the_digest_of_a_link_is_that_of_where_it_leads(folder: Path) -> None:
    assert tree.digest(folder / "link") == hashlib.sha256(b"below").hexdigest()
    before = tree.digest(folder / "link")
    (folder / "link").unlink()
    (folder / "link").symlink_to("elsewhere")
    assert tree.digest(folder / "link") != before


def test_a_pipe_is_never_opened(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    assert tree.digest(folder / "pipe") == hashlib.sha256(b"").hexdigest()


def test_digests_come_by_path_and_count_every_byte(folder: Path) -> None:
    seen: list[int] = []
    found = tree.digests(folder, ["below/b", "a", "below/deep/c"], seen.append)
    assert found == {path: hashlib.sha256((folder / path).read_bytes()).hexdigest() for path in found}
    assert list(found) == ["below/b", "a", "below/deep/c"]
    assert sum(seen) == 3


def test_a_file_that_is_gone_is_an_error_and_no_digest(folder: Path) -> None:
    with pytest.raises(FileNotFoundError):
        tree.digests(folder, ["a", "gone"])


# ---- entries --------------------------------------------------------------------------------------------------------


def test_nothing_happened_to_an_untouched_file(folder: Path) -> None:
    sealed = tree.entry("0" * 64, (folder / "a").lstat())
    assert sealed.untouched((folder / "a").lstat())
    (folder / "a").read_bytes()
    assert sealed.untouched((folder / "a").lstat()), "reading is no touch"


def test_an_edit_of_the_same_size_with_a_forged_time_is_a_touch(folder: Path) -> None:
    before = (folder / "a").lstat()
    sealed = tree.entry("0" * 64, before)
    (folder / "a").write_bytes(b"b")
    os.utime(folder / "a", ns=(before.st_atime_ns, before.st_mtime_ns))
    after = (folder / "a").lstat()
    assert (after.st_size, after.st_mtime_ns, after.st_ino) == (before.st_size, before.st_mtime_ns, before.st_ino)
    assert not sealed.untouched(after)


def test_another_file_of_the_same_name_is_a_touch(folder: Path) -> None:
    sealed = tree.entry("0" * 64, (folder / "a").lstat())
    shutil.copy2(folder / "a", folder / "copy")
    (folder / "copy").rename(folder / "a")
    assert not sealed.untouched((folder / "a").lstat())


# ---- RECORD ---------------------------------------------------------------------------------------------------------

STATED = base64.urlsafe_b64encode(hashlib.sha256(b"x").digest()).rstrip(b"=").decode()


def record(folder: Path, text: str) -> list[tree.Claim]:
    info = folder / "lib/site/a-1.dist-info"
    info.mkdir(parents=True)
    (info / "RECORD").write_text(text)
    return list(tree.claims(folder, info / "RECORD"))


def test_claims_are_paths_in_the_venv_with_their_digests(folder: Path) -> None:
    text = f'a/b.py,sha256={STATED},1\n"a/with, comma.py",sha256={STATED},1\n../../bin/a,,\na-1.dist-info/RECORD,,\n\n'
    assert [(each.path, each.sha256) for each in record(folder, text)] == [
        ("lib/site/a/b.py", hashlib.sha256(b"x").hexdigest()),
        ("lib/site/a/with, comma.py", hashlib.sha256(b"x").hexdigest()),
        ("bin/a", ""),
        ("lib/site/a-1.dist-info/RECORD", ""),
    ]


@pytest.mark.parametrize("text", ["a.py", "a.py,md5=00,1", "a.py,sha256=!,1", "a.py,sha256=AAAA,1", "a,b,c,d"])
def test_a_row_that_is_none_is_refused(folder: Path, text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        record(folder, text)


# ---- the digest that travels ----------------------------------------------------------------------------------------


def test_two_builds_of_one_lock_are_one_tree(tmp_path: Path, small_venv: Built, wheelhouse: Path) -> None:
    for wheel in small_venv.wheelhouse.iterdir():
        shutil.copy(wheel, wheelhouse)
    lockfile = tmp_path / "small-cp311.txt"
    lock = wheels.write_lock(lockfile, *small_venv.lock.packages)
    other = replace(small_venv, root=tmp_path / "a much longer folder name, with spaces", lock=lock)
    build.provide(State(other.root), lock, lockfile, build.Supply(find_links=str(wheelhouse)))
    assert other.folder != small_venv.folder
    first, second = small_venv.found(deep=True), other.found(deep=True)
    assert first.tree_digest == second.tree_digest
    assert first.packages == second.packages
    assert {"alpha", "beta", "nvidia-cudnn-cu12", "nvidia-nccl-cu12", tree.OF_NO_PACKAGE} == set(first.packages)


def digest(built: Built) -> object:
    return built.found(deep=True).tree_digest


def test_the_digest_is_that_of_the_lock_it_was_measured_for(built: Built) -> None:
    assert digest(built) == built.lock.tree_digest


def test_one_byte_is_another_digest_of_one_package(built: Built) -> None:
    before = built.found().packages
    (built.site / "beta/data.bin").write_text("012345678_")
    assert digest(built) != built.lock.tree_digest
    after = built.found().packages
    assert [name for name in after if after[name] != before[name]] == ["beta"]


def test_an_executable_bit_is_another_digest(built: Built) -> None:
    (built.site / "beta/tool.sh").chmod(0o644)
    assert digest(built) != built.lock.tree_digest


def test_write_bits_are_not_in_the_digest(built: Built) -> None:
    for path in built.site.rglob("*.py"):
        path.chmod(0o444)
    assert digest(built) == built.lock.tree_digest


def test_a_renamed_file_is_another_digest(built: Built) -> None:
    (built.site / "beta/data.bin").rename(built.site / "beta/date.bin")
    assert digest(built) != built.lock.tree_digest


def test_a_file_in_place_of_a_link_to_it_is_another_digest(built: Built) -> None:
    path = built.site / "beta/data.bin"
    path.rename(built.root / "data.bin")
    path.symlink_to(built.root / "data.bin")
    assert path.read_text() == "0123456789"
    assert digest(built) != built.lock.tree_digest


def test_the_machines_own_files_are_not_in_the_digest(built: Built) -> None:
    with (built.folder / "pyvenv.cfg").open("a") as settings:
        settings.write("prompt = other\n")
    (built.folder / "bin/python3").unlink()
    (built.folder / "bin/python3").symlink_to("/opt/python")
    assert set(built.drift()) == {"pyvenv.cfg", "bin/python3"}, "the seal watches them all the same"
    assert digest(built) == built.lock.tree_digest


def test_a_file_of_two_packages_is_in_both_digests() -> None:
    owners = {"nvidia/__init__.py": ("one", "two"), "one.so": ("one",)}
    files = {"nvidia/__init__.py": ("0" * 64, 0o100644), "one.so": ("1" * 64, 0o100644), "bin/a": ("2" * 64, 0o100755)}
    before = tree.package_digests(files, owners)
    changed = tree.package_digests(files | {"nvidia/__init__.py": ("9" * 64, 0o100644)}, owners)
    assert {name for name in before if before[name] != changed[name]} == {"one", "two"}
    assert set(before) == {"one", "two", tree.OF_NO_PACKAGE}
    assert tree.whole_digest(before) != tree.whole_digest(changed)
    assert tree.whole_digest(dict(reversed(before.items()))) == tree.whole_digest(before)
