"""Plans are data: nothing runs, and nothing secret is in them."""

from pathlib import Path

from dflash_env import codec, plan
from dflash_env.facts import Interpreter
from dflash_env.state import State
from tests.healthy import LOCK, PROFILE, TINY

PYTHON = Interpreter(path="/usr/bin/python3.11", version="3.11.7", sha256="e" * 64)


def launch(profile: plan.Profile, gpus: tuple[str, ...] = (), cores: int = 8) -> plan.Launch:
    return plan.launch(
        state=State(Path("/p/.dflash")),
        profile=profile,
        venv=Path("/p/.dflash/venvs/abc"),
        run=Path("/p/.dflash/runs/r"),
        config="/p/.dflash/runs/r/src/trainer/configs/tiny.toml",
        overrides=(),
        gpus=gpus,
        cores=cores,
    )


def test_a_step_gets_what_it_names_and_what_is_passed_on() -> None:
    step = plan.Step(why="w", argv=("x",), cwd="/", env={"A": "1"}, passes=("HOME", "UV_INDEX_*"))
    ours = {"HOME": "/h", "UV_INDEX_MINE_PASSWORD": "s", "AWS_SECRET_ACCESS_KEY": "k", "A": "theirs"}
    assert step.environment(ours) == {"HOME": "/h", "UV_INDEX_MINE_PASSWORD": "s", "A": "1"}


def test_a_plan_holds_names_of_what_is_passed_on_and_never_values(monkeypatch) -> None:
    monkeypatch.setenv("UV_INDEX_URL", "https://user:hunter2@example.invalid/simple")
    build = plan.build(
        uv="/uv",
        cache=Path("/c"),
        lockfile=Path("/l.txt"),
        lock=LOCK,
        interpreter=PYTHON,
        folder=Path("/v"),
        user_config=None,
    )
    assert "hunter2" not in codec.document(build)
    assert build.steps[1].environment()["UV_INDEX_URL"].startswith("https://user:hunter2")


def test_the_users_uv_settings_are_used_and_no_project_ones() -> None:
    common = {"uv": "/uv", "cache": Path("/c"), "lockfile": Path("/l"), "lock": LOCK, "interpreter": PYTHON}
    without = plan.build(**common, folder=Path("/v"), user_config=None)
    having = plan.build(**common, folder=Path("/v"), user_config=Path("/h/uv.toml"))
    assert all("--no-config" in step.argv for step in without.steps)
    assert all("/h/uv.toml" in step.argv for step in having.steps)


def test_the_key_follows_lock_and_interpreter() -> None:
    key = plan.venv_key(LOCK, PYTHON)
    other = Interpreter(path=PYTHON.path, version="3.11.8", sha256=PYTHON.sha256)
    moved = Interpreter(path="/opt/python", version=PYTHON.version, sha256=PYTHON.sha256)
    assert plan.venv_key(LOCK, other) != key
    assert plan.venv_key(LOCK, moved) == key


def test_the_trainer_sees_its_own_folder_and_nothing_of_the_shell() -> None:
    env = launch(TINY).trainer.environment({"PYTHONPATH": "/decoy", "LD_PRELOAD": "x", "TERM": "xterm", "RANK": "3"})
    assert env["PYTHONPATH"] == "/p/.dflash/runs/r/src"
    assert env["PYTHONSAFEPATH"] == env["PYTHONNOUSERSITE"] == "1"
    assert env["TERM"] == "xterm"
    assert not {"LD_PRELOAD", "RANK"} & set(env)


def test_a_profile_without_gpus_hides_them_and_one_with_gpus_names_them() -> None:
    assert launch(TINY).trainer.env["CUDA_VISIBLE_DEVICES"] == ""
    uuids = tuple(f"GPU-{index}" for index in range(8))
    assert launch(PROFILE, uuids).trainer.env["CUDA_VISIBLE_DEVICES"] == ",".join(uuids)


def test_cores_are_divided_among_the_ranks() -> None:
    assert launch(TINY, cores=8).trainer.env["OMP_NUM_THREADS"] == "8"
    assert launch(PROFILE, cores=128).trainer.env["OMP_NUM_THREADS"] == "16"
    assert launch(PROFILE, cores=4).trainer.env["OMP_NUM_THREADS"] == "1"
