"""The generated pages are what the code says today."""

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
PAGES = runpy.run_path(str(DOCS / "make.py"))["pages"]()


@pytest.mark.parametrize("name", sorted(PAGES))
def test_page_is_fresh(name: str) -> None:
    assert (DOCS / name).read_text() == PAGES[name], f"docs/{name} is stale: run `make docs`"


def test_every_check_has_its_place() -> None:
    from dflash_env import bundle

    for check in bundle.checks():
        assert f"### {check.id}\n" in PAGES["checks.md"]
