"""environ-pythonpath-set: a path left over in the shell wins over the locked packages."""

from dataclasses import replace

from checks.environ.pythonpath_set import pythonpath_set
from dflash_env.facts import Environ, Variable
from tests import healthy


def with_variables(**values: str) -> Environ:
    variables = tuple(Variable(name=name, value=value) for name, value in values.items())
    return replace(healthy.ENVIRON, variables=variables)


def test_fires_for_both_variables() -> None:
    findings = pythonpath_set(environ=with_variables(PYTHONPATH="/opt/vllm", PYTHONHOME="/usr"))
    assert [finding.message for finding in findings] == ["PYTHONPATH=/opt/vllm", "PYTHONHOME=/usr"]


def test_quiet_on_the_healthy_machine() -> None:
    assert pythonpath_set(environ=healthy.ENVIRON) == []


def test_quiet_about_other_and_empty_variables() -> None:
    assert pythonpath_set(environ=with_variables(PYTHONPATH="", LD_PRELOAD="/a.so")) == []
