"""`explain` prints what the checks say of themselves."""

import pytest

from dflash_env import bundle
from tests.conftest import Clone


@pytest.mark.parametrize("check", bundle.checks(), ids=lambda check: check.id)
def test_one_check(check, capsys: pytest.CaptureFixture[str]) -> None:
    from dflash_env.commands.explain import explain

    assert explain.main([check.id], standalone_mode=False) == 0
    said = " ".join(capsys.readouterr().out.split())
    for part in (check.id, check.title, check.why, check.fix):
        assert " ".join(part.split()) in said


def test_all_is_the_page_in_docs(clone: Clone) -> None:
    assert clone.run("explain", "--all").stdout == (clone.root / "docs" / "checks.md").read_text()
