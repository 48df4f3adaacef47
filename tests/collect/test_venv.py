"""The training venv read from outside, over small site-packages made on the spot."""

from dataclasses import replace
from pathlib import Path

import pytest

from dflash_env import codec
from dflash_env.collect import venv
from dflash_env.facts import NotApplicable, Unknown, Venv
from dflash_env.state import State
from tests import healthy


@pytest.fixture
def state(tmp_path: Path) -> State:
    """A state folder with one sealed venv that is current, holding torch and transformers."""
    state = State(tmp_path)
    folder = state.venv("37d4bfe4184d9e46")
    site(state).mkdir(parents=True)
    install(state, "torch", "2.10.0")
    install(state, "transformers", "5.24.0")
    codec.write_document(state.seal(folder), healthy.SEAL)
    state.current("cu12-cp311").parent.mkdir()
    state.current("cu12-cp311").symlink_to(folder)
    return state


def site(state: State) -> Path:
    return state.venv("37d4bfe4184d9e46") / "lib/python3.11/site-packages"


def install(state: State, name: str, version: str) -> Path:
    folder = site(state) / f"{name}-{version}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n")
    return folder


def found(state: State) -> Venv:
    section = venv.collect(state, healthy.LOCK)
    assert isinstance(section, Venv), section
    return section


def names(state: State) -> list[tuple[str, str]]:
    return [(one.name, one.version) for one in found(state).distributions]


def test_a_finished_venv(state: State) -> None:
    path = str(state.venv("37d4bfe4184d9e46"))
    assert found(state) == replace(healthy.VENV, path=path)
    assert venv.key(found(state)) == "37d4bfe4184d9e46"


def test_no_venv_was_built(tmp_path: Path) -> None:
    absent = found(State(tmp_path))
    assert absent.path == absent.seal == NotApplicable(why="no venv was built for cu12-cp311")
    assert absent.distributions == ()
    assert venv.key(absent) == "none"


def test_a_venv_of_another_lock_is_not_ours(state: State) -> None:
    absent = venv.collect(state, replace(healthy.LOCK, name="cu12-cp312"))
    assert isinstance(absent, Venv)
    assert absent.path == NotApplicable(why="no venv was built for cu12-cp312")


def test_current_leads_to_a_folder_that_is_gone(state: State) -> None:
    state.venv("37d4bfe4184d9e46").rename(state.root / "moved")
    path = found(state).path
    assert isinstance(path, NotApplicable)
    assert path.why.endswith("current/cu12-cp311 leads to a folder that is gone")


def test_a_folder_in_place_of_the_link_is_no_venv_of_ours(state: State) -> None:
    state.current("cu12-cp311").unlink()
    state.current("cu12-cp311").mkdir()
    assert isinstance(found(state).path, NotApplicable)


def test_the_seal_is_missing(state: State) -> None:
    state.seal(state.venv("37d4bfe4184d9e46")).unlink()
    seal = found(state).seal
    assert isinstance(seal, NotApplicable)
    assert seal.why.endswith("37d4bfe4184d9e46.seal.json does not exist: the build was not finished")
    assert names(state) == [("torch", "2.10.0"), ("transformers", "5.24.0")]


@pytest.mark.parametrize(
    "seal",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b"\xff\xfe",
        b'{"schema": 2}',
        b'{"schema": 1, "key": "37d4bfe4184d9e46"}',
        b'{"schema": 1, "kye": "37d4bfe4184d9e46"}',
    ],
)
def test_the_seal_is_garbage(state: State, seal: bytes) -> None:
    path = state.seal(state.venv("37d4bfe4184d9e46"))
    path.write_bytes(seal)
    section = venv.collect(state, healthy.LOCK)
    assert isinstance(section, Unknown)
    assert (section.code, str(path) in section.text) == ("malformed", True)


def test_a_venv_of_another_python_is_unknown(state: State) -> None:
    section = venv.collect(state, replace(healthy.LOCK, python="3.12"))
    assert isinstance(section, Unknown)
    assert section.text.endswith("has no lib/python3.12/site-packages")


def test_names_and_versions_are_normalised(state: State) -> None:
    install(state, "Typing_Extensions", "4.16.0.0-1")
    assert ("typing-extensions", "4.16.0.0.post1") in names(state)


def test_a_version_that_is_none_is_shown_as_written(state: State) -> None:
    install(state, "odd", "not.a.version")
    assert ("odd", "not.a.version") in names(state)


def test_a_package_without_metadata_is_still_seen(state: State) -> None:
    (install(state, "vllm", "0.11.0") / "METADATA").unlink()
    assert ("(nameless)", "(none)") in names(state)


def test_both_metadata_folders_of_one_package_are_seen(state: State) -> None:
    install(state, "torch", "2.9.0")
    assert names(state) == [("torch", "2.10.0"), ("torch", "2.9.0"), ("transformers", "5.24.0")]


def test_nothing_in_the_venv_is_started(state: State) -> None:
    mark = state.root / "sprung"
    (site(state) / "sitecustomize.py").write_text(f"open({str(mark)!r}, 'w')\n")
    (site(state) / "evil.pth").write_text(f"import os; open({str(mark)!r}, 'w')\n")
    assert names(state) == [("torch", "2.10.0"), ("transformers", "5.24.0")]
    assert not mark.exists()


def test_the_key_of_what_could_not_be_read_is_none() -> None:
    assert venv.key(Unknown(code="denied", text="no")) == "none"


def test_a_venv_weighs_its_files_and_not_what_links_lead_to(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below/a").write_bytes(b"12345")
    (tmp_path / "b").write_bytes(b"678")
    (tmp_path / "link").symlink_to("b")
    assert venv.weigh(tmp_path) == 5 + 3 + len("b")
