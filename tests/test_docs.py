"""The docs tell what is there: links lead somewhere, tables name what exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dissensus.datasets import DATASETS
from dissensus.methods import METHODS
from dissensus.readers import READERS
from dissensus.scales import SCALES

ROOT = Path(__file__).parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


def table_under(page: Path, heading: str) -> list[str]:
    """The first column of the table that follows a header cell."""
    lines = page.read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {heading} |"))
    cells = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        cells.append(line.split("|")[1].strip())
    return cells


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", text)
    broken = [
        target
        for target in targets
        if not target.startswith("https://") and not (page.parent / target).exists()
    ]
    assert broken == []


def test_the_readme_shows_the_two_commands_that_set_everything_up() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in readme and "make test" in readme


def test_the_readme_lists_every_method_and_corpus() -> None:
    readme = ROOT / "README.md"
    assert table_under(readme, "name") == [f"`{name}`" for name in METHODS]
    text = readme.read_text(encoding="utf-8")
    assert [name for name in DATASETS if f"`{name}`" not in text] == []


def test_the_page_on_data_lists_every_format_corpus_and_scale() -> None:
    page = ROOT / "docs" / "data.md"
    formats = table_under(page, "format")
    assert sorted(formats) == sorted([*(f"`{name}`" for name in READERS), "a table"])
    assert table_under(page, "corpus") == [f"`{name}`" for name in DATASETS]
    scales = [cell.strip("`").partition("(")[0] for cell in table_under(page, "scale")]
    assert scales == [scale.__name__ for scale in SCALES.values()]
