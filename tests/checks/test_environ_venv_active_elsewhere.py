"""environ-venv-active-elsewhere: what is typed here acts on another venv."""

from checks.environ.venv_active_elsewhere import venv_active_elsewhere
from dflash_env.check import Finding
from dflash_env.facts import Venv
from tests import healthy


def found(active: str, venv: Venv = healthy.VENV) -> list[Finding]:
    return venv_active_elsewhere(environ=healthy.shell(VIRTUAL_ENV=active), venv=venv, lock=healthy.LOCK)


def test_fires_for_another_one() -> None:
    [finding] = found("/home/ada/vllm/.venv")
    assert finding.message == f"VIRTUAL_ENV=/home/ada/vllm/.venv; a run takes {healthy.VENV.path}"
    assert finding.fix == "Run `deactivate`."


def test_fires_for_the_project_environment_of_uv() -> None:
    shell = healthy.shell(UV_PROJECT_ENVIRONMENT="/srv/serving/", VIRTUAL_ENV="/srv/serving")
    active, projects = venv_active_elsewhere(environ=shell, venv=healthy.VENV, lock=healthy.LOCK)
    assert active.message.startswith("VIRTUAL_ENV=/srv/serving; ")
    assert projects.message == f"UV_PROJECT_ENVIRONMENT=/srv/serving; a run takes {healthy.VENV.path}"
    assert projects.fix == "Run `unset UV_PROJECT_ENVIRONMENT`."


def test_fires_for_a_training_venv_that_is_not_the_current_one() -> None:
    assert len(found("/data/.dflash/venvs/0000000000000000")) == 1
    assert len(found("/data/.dflash/venvs/current/cu12-cp312")) == 1


def test_fires_where_no_training_venv_was_built() -> None:
    [finding] = found("/home/ada/vllm/.venv", healthy.ABSENT_VENV)
    assert finding.message.endswith("; a run takes a training venv, which is not there")


def test_quiet_on_the_healthy_machine() -> None:
    assert venv_active_elsewhere(environ=healthy.ENVIRON, venv=healthy.VENV, lock=healthy.LOCK) == []


def test_quiet_about_the_training_venv_and_this_tools_own() -> None:
    assert found("/data/.dflash/venvs/37d4bfe4184d9e46/") == []
    assert found("/data/.dflash/venvs/current/cu12-cp311") == []
    assert found(healthy.ENVIRON.tool_prefix) == []
    assert found(healthy.ENVIRON.tool_prefix, healthy.ABSENT_VENV) == []


def test_quiet_about_uv_on_this_tools_own_by_either_name() -> None:
    for name in (".venv", healthy.ENVIRON.tool_prefix):
        shell = healthy.shell(UV_PROJECT_ENVIRONMENT=name)
        assert venv_active_elsewhere(environ=shell, venv=healthy.VENV, lock=healthy.LOCK) == []
