"""What the user wrote is read strictly, and every mistake names its place and its remedy."""

from pathlib import Path

import pytest

from dflash_env import bundle, config
from dflash_env.errors import Failure

PROFILE = """
[tool.dflash-env.profiles.mine]
lock = "cu12-cp311"
machine = "mine"
config = "tiny"
gpus = 4
targets = 3
drafters = 1
"""


def project(folder: Path, text: str) -> config.Config:
    (folder / "pyproject.toml").write_text(text)
    return config.load(folder)


def test_the_profiles_that_come_with_the_tool(tmp_path: Path) -> None:
    settings = config.load(tmp_path)
    assert settings.profile(None).name == "tiny"
    assert settings.profile("node8").gpus == 8
    assert settings.project == tmp_path
    assert settings.state == tmp_path / ".dflash"


def test_a_project_adds_profiles_to_them(tmp_path: Path) -> None:
    settings = project(tmp_path, PROFILE)
    assert settings.profile("mine").targets == 3
    assert settings.profile("node8").drafters == 3


def test_the_project_is_found_from_below(tmp_path: Path) -> None:
    project(tmp_path, PROFILE)
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert config.load(below).project == tmp_path


def test_the_state_may_be_anywhere(tmp_path: Path) -> None:
    assert project(tmp_path, '[tool.dflash-env]\nstate = "/fast/disk"\n').state == Path("/fast/disk")
    assert project(tmp_path, '[tool.dflash-env]\nstate = "~/here"\n').state == Path("~/here").expanduser()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[tool.dflash-env]\ndefault_profil = "tiny"\n', "did you mean 'default_profile'"),
        (PROFILE.replace("gpus", "gpu"), "profiles.mine.gpu: unknown key; did you mean 'gpus'"),
        (PROFILE.replace("4", '"4"'), "profiles.mine.gpus: expected a whole number"),
        (PROFILE.replace("drafters = 1\n", ""), "the key 'drafters' is missing"),
        ("[tool.dflash-env\n", "not valid TOML"),
    ],
)
def test_a_mistake_names_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(Failure) as failure:
        project(tmp_path, text)
    assert said in failure.value.message
    assert str(tmp_path / "pyproject.toml") in failure.value.message


def test_an_unknown_profile_is_answered_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="did you mean 'node8'"):
        config.load(tmp_path).profile("nod8")


def test_a_split_that_does_not_fill_its_gpus_is_refused(tmp_path: Path) -> None:
    settings = project(tmp_path, PROFILE.replace("gpus = 4", "gpus = 8"))
    with pytest.raises(Failure, match="asks for 8 GPUs, and its split takes 4"):
        settings.profile("mine")


@pytest.mark.parametrize("line", ["targets = 0", "drafters = 0", "gpus = -1"])
def test_a_split_of_nothing_is_refused(tmp_path: Path, line: str) -> None:
    key = line.partition(" ")[0]
    settings = project(tmp_path, "\n".join(line if each.startswith(key) else each for each in PROFILE.splitlines()))
    with pytest.raises(Failure, match="targets and drafters are 1 or more"):
        settings.profile("mine")


def test_settings_can_add_to_what_is_held_against_head_but_take_nothing_away(tmp_path: Path) -> None:
    settings = project(tmp_path, '[tool.dflash-env]\nsource = ["docs"]\n')
    assert settings.source == (*config.SOURCE, "docs")


def test_ones_own_settings_and_configuration_are_expectations_too(tmp_path: Path) -> None:
    settings = project(tmp_path, PROFILE.replace('config = "tiny"', 'config = "mine.toml"'))
    files = settings.expectations(settings.profile("mine"))
    assert {tmp_path / "pyproject.toml", tmp_path / "mine.toml"} < set(files)
    nowhere = config.load(Path("/"))
    assert Path("/pyproject.toml") not in nowhere.expectations(nowhere.profile("tiny"))


def test_an_underscore_is_answered_with_the_hyphen(tmp_path: Path) -> None:
    with pytest.raises(Failure, match=r"did you mean 'tool\.dflash-env'"):
        project(tmp_path, "[tool.dflash_env]\n")


def test_a_variable_in_the_state_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRATCH", "/fast")
    assert project(tmp_path, '[tool.dflash-env]\nstate = "$SCRATCH/x"\n').state == Path("/fast/x")


def test_a_machine_without_a_file_is_named_with_those_there_are(tmp_path: Path) -> None:
    settings = project(tmp_path, PROFILE)
    with pytest.raises(Failure) as failure:
        settings.machine(settings.profile("mine"))
    assert "'mine'" in failure.value.message
    assert "hgx-h100, tiny" in failure.value.fix


def test_the_projects_own_files_win_over_the_bundled(tmp_path: Path) -> None:
    own = tmp_path / "lockfiles" / "machines" / "tiny.toml"
    own.parent.mkdir(parents=True)
    own.write_text("schema = 1\n[gpus]\ncount = 0\n[host]\nshm_bytes = 1\ndisk_bytes = 2\n")
    settings = config.load(tmp_path)
    assert settings.machine(settings.profile("tiny")).host.disk_bytes == 2
    assert settings.lockfile("cu12-cp311.txt") == bundle.root() / "lockfiles" / "cu12-cp311.txt"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[gpus]\ncount = 0\n", "schema"),
        ("schema = 1\n[gpus]\ncount = 0\n[host]\nshm_byte = 1\ndisk_bytes = 2\n", "did you mean 'shm_bytes'"),
    ],
)
def test_a_machine_file_is_read_strictly(tmp_path: Path, text: str, said: str) -> None:
    own = tmp_path / "lockfiles" / "machines" / "tiny.toml"
    own.parent.mkdir(parents=True)
    own.write_text(text)
    settings = config.load(tmp_path)
    with pytest.raises(Failure, match=said):
        settings.machine(settings.profile("tiny"))
