"""environ-conda-active: conda's Python, compiler and libraries come first."""

from checks.environ.conda_active import conda_active
from tests import healthy


def test_fires_with_the_environment() -> None:
    [finding] = conda_active(environ=healthy.shell(CONDA_PREFIX="/opt/conda", CONDA_SHLVL="1"))
    assert finding.message == "CONDA_PREFIX=/opt/conda"


def test_quiet_on_the_healthy_machine() -> None:
    assert conda_active(environ=healthy.ENVIRON) == []


def test_quiet_about_conda_that_is_installed_and_not_active() -> None:
    assert conda_active(environ=healthy.shell(CONDA_SHLVL="0", CONDA_PREFIX="")) == []
