"""environ-nccl-file-present: settings that an allow-list of variables does not stop."""

from dataclasses import replace

import pytest

from checks.environ.nccl_file_present import nccl_file_present
from dflash_env.check import Finding, Skipped
from dflash_env.facts import Environ, SettingsFile, Unknown
from tests import healthy


def found(environ: Environ) -> list[Finding]:
    return nccl_file_present(environ=environ, profile=healthy.PROFILE)


def with_files(*paths: str, **variables: str) -> Environ:
    files = tuple(SettingsFile(path=path, lines=("NCCL_P2P_DISABLE=1", "NCCL_ALGO=Ring")) for path in paths)
    return replace(healthy.shell(**variables), nccl_files=files)


def test_fires_with_the_path_and_the_content() -> None:
    [finding] = found(with_files("/home/ada/.nccl.conf"))
    assert finding.message == "/home/ada/.nccl.conf says NCCL_P2P_DISABLE=1; NCCL_ALGO=Ring"
    assert "`mv /home/ada/.nccl.conf /home/ada/.nccl.conf.off`" in finding.fix


def test_fires_for_each_file() -> None:
    mine, everybodys = found(with_files("/home/ada/.nccl.conf", "/etc/nccl.conf"))
    assert "`mv /home" in mine.fix
    assert "`sudo mv /etc" in everybodys.fix


def test_fires_for_a_file_that_needs_no_variable_though_one_names_it() -> None:
    assert len(found(with_files("/etc/nccl.conf", NCCL_CONF_FILE="/etc/nccl.conf"))) == 1


def test_quiet_on_the_healthy_machine() -> None:
    assert found(healthy.ENVIRON) == []


def test_quiet_about_a_file_that_only_a_variable_leads_to() -> None:
    assert found(with_files("/opt/mine.conf", NCCL_CONF_FILE="/opt/mine.conf")) == []


def test_quiet_where_no_gpu_is_used() -> None:
    assert nccl_file_present(environ=with_files("/etc/nccl.conf"), profile=healthy.TINY) == []


def test_skipped_when_one_cannot_be_read() -> None:
    denied = Unknown(code="denied", text="/etc/nccl.conf: Permission denied")
    with pytest.raises(Skipped, match="Permission denied"):
        found(replace(healthy.ENVIRON, nccl_files=denied))
