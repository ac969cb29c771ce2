"""The docs tell what is there: links lead somewhere, tables name what exists."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from dissensus.aggregation import AGGREGATORS
from dissensus.agreement import MEASURES
from dissensus.datasets import DATASETS
from dissensus.methods import METHODS
from dissensus.readers import READERS
from dissensus.scales import SCALES

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]


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


def anchors(page: Path) -> set[str]:
    """What a link to a part of a page can name, as GitHub and the site make it of a heading."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line.lower()).strip().replace(" ", "-") for line in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.DOTALL)
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        name, _, part = target.partition("#")
        file = page.parent / name if name else page
        if not target.startswith("https://"):
            known = file.exists() and (not part or part in anchors(file))
            broken += [] if known else [target]
    assert broken == []


TYPED = ("dissensus ", "make ", "python ", "pip ", "torchrun ", "#")  # `test_commands` reads them
OF_A_PAGE = {  # pages whose blocks have tests of their own
    *("design.md", "extend.md", "gallery.md", "write_a_method.md"),
}
NOT_RUN = {  # how a block begins, and why no test runs it
    "#!/bin/bash": "jobs of SLURM; `test_torchrun` runs the first without it",
    'methods = ["soft-label"': "the experiment of these jobs",
    "def tensorboard": "neither tensorboard nor mlflow is installed for tests",
    "200,000 items": "figures of a benchmark, on another machine",
    "# scores beside": "printed by the command before, on a table that is not here",
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_is_run_or_it_is_said_why_not(page: Path) -> None:
    blocks = re.findall(r"^```([^\n]*)\n(.*?)^```", page.read_text("utf-8"), re.M | re.DOTALL)
    if page.name in OF_A_PAGE or page.parent.name == "notebooks":
        return
    for language, block in blocks:
        if language in ("console", "diff") or "title=" in language or ">>>" in block:
            continue
        lines = re.sub(r"\\\n *", "", block).splitlines()
        typed = all(line.startswith(TYPED) or not line for line in lines)
        assert typed or block.startswith(tuple(NOT_RUN)), block


def test_the_readme_shows_the_two_commands_that_set_everything_up() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in readme and "make test" in readme
    assert len(readme.splitlines()) <= 120


def test_the_readme_counts_what_there_is() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    numbers = [
        re.search(rf"\| (\d+) {word}", readme) for word in ("measures", "aggregators", "methods")
    ]
    counted = [int(found[1]) for found in numbers if found]
    assert counted == [len(MEASURES), len(AGGREGATORS), len(METHODS)]


def test_the_page_on_methods_lists_every_method() -> None:
    assert table_under(DOCS / "methods.md", "name") == [f"`{name}`" for name in METHODS]


def test_every_page_stands_in_the_navigation_of_the_site() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = [str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")]
    assert [page for page in pages if not re.search(rf": {page}$", navigation, re.M)] == []


def test_the_site_has_a_formula_for_every_method() -> None:
    assert set(runpy.run_path(str(DOCS / "site_pages.py"))["FORMULAS"]) == set(METHODS)


def test_the_journal_of_a_paper_is_short() -> None:
    lines = {page.name: len(page.read_text("utf-8").splitlines()) for page in DOCS.glob("papers/*")}
    assert {name: n for name, n in lines.items() if n > 200} == {}


def test_measured_figures_are_those_that_were_kept() -> None:
    script = runpy.run_path(str(DOCS / "update_figures.py"))
    for page in script["PAGES"]:
        text = page.read_text(encoding="utf-8")
        assert script["updated"](text) == text, "run docs/update_figures.py"


def test_the_samples_are_what_their_script_writes(tmp_path: Path) -> None:
    runpy.run_path(str(DOCS / "update_samples.py"))["write"](tmp_path)
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert written == {path.name: path.read_bytes() for path in (DOCS / "samples").iterdir()}


def test_the_page_on_data_lists_every_format_corpus_and_scale() -> None:
    page = DOCS / "data.md"
    formats = table_under(page, "format")
    assert sorted(formats) == sorted([*(f"`{name}`" for name in READERS), "a table"])
    assert table_under(page, "corpus") == [f"`{name}`" for name in DATASETS]
    scales = [cell.strip("`").partition("(")[0] for cell in table_under(page, "scale")]
    assert scales == [scale.__name__ for scale in SCALES.values()]
