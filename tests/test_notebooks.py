"""The notebooks of the docs run, show something, and become notebooks of Jupyter."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parent.parent / "docs"
NOTEBOOK = runpy.run_path(str(DOCS / "notebook.py"))
PAGES = sorted(NOTEBOOK["FOLDER"].glob("*.md"))


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_notebook_runs(page: Path) -> None:
    cells = NOTEBOOK["run"](page)
    shown = NOTEBOOK["to_markdown"](cells)
    assert page.stem == "paper" or 'class="output"' in shown
    assert "\n\n\n" not in "".join(NOTEBOOK["outputs"](cell)[1] for cell in cells)
    made = json.loads(NOTEBOOK["to_notebook"](cells))
    assert [cell["cell_type"] for cell in made["cells"]] == [cell.kind for cell in cells]


def test_printed_lines_and_the_last_value_are_shown(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Title\n\n```python\nx = 2\nprint(x)\nx + 1\n```\n\nEnd\n")
    cells: list[Any] = NOTEBOOK["run"](page)
    assert [(cell.kind, cell.printed, cell.shown) for cell in cells] == [
        ("markdown", "", None), ("code", "2\n", 3), ("markdown", "", None)
    ]  # fmt: skip
    assert "```text\n2\n3\n```" in NOTEBOOK["to_markdown"](cells)
