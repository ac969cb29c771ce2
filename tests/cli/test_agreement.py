"""dissensus agreement, as a user types it."""

from __future__ import annotations

from dissensus import agreement
from tests.test_docs import ROOT, table_under


def test_the_docs_list_every_measure() -> None:
    page = ROOT / "docs" / "commands.md"
    assert table_under(page, "measure") == [f"`{name}`" for name in agreement.MEASURES]
