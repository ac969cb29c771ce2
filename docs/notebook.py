"""Notebooks as pages: Markdown whose blocks of ```python are run in order, with what they show.

The site runs them (site_pages.py), and offers each as .ipynb; tests run them, too.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

DOCS = Path(__file__).parent
FOLDER = DOCS / "notebooks"
CODE = re.compile(r"^```python\n(.*?)^```\n?", re.MULTILINE | re.DOTALL)


class Cell(NamedTuple):
    """A cell with what it printed and, if it ends with a value, that value."""

    kind: str  # "markdown" or "code"
    source: str
    printed: str = ""
    shown: Any = None


def run(path: Path) -> list[Cell]:
    """The cells of a page, its code run in an empty folder that has the sample tables.

    With NOTEBOOKS=unrun in the environment, they are as they are in the page.
    """
    if os.environ.get("NOTEBOOKS") == "unrun":
        return [Cell(*cell) for cell in cells(path.read_text("utf-8"))]
    names: dict[str, Any] = {"__name__": "__main__"}
    with _scratch():
        return [_run(kind, source, names) for kind, source in cells(path.read_text("utf-8"))]


def cells(text: str) -> Iterator[tuple[str, str]]:
    """The kind and the source of each cell."""
    for at, part in enumerate(CODE.split(text)):
        if part.strip():
            yield ("code" if at % 2 else "markdown"), part.strip()


def _run(kind: str, source: str, names: dict[str, Any]) -> Cell:
    if kind == "markdown":
        return Cell(kind, source)
    tree, shown, printed = ast.parse(source), None, io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "<notebook>", "exec"), names)
        if isinstance(last, ast.Expr):
            shown = eval(compile(ast.Expression(last.value), "<notebook>", "eval"), names)
    return Cell(kind, source, printed.getvalue(), shown)


@contextlib.contextmanager
def _scratch() -> Iterator[None]:
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(DOCS / "samples", Path(folder) / "samples")
        os.symlink(DOCS.parent / "benchmarks", Path(folder) / "benchmarks")
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(here)


def to_markdown(run_cells: list[Cell]) -> str:
    """The page with what its code shows."""
    parts = []
    for cell in run_cells:
        code = cell.kind == "code"
        parts.append(f"```python\n{cell.source}\n```" if code else cell.source)
        text, html = outputs(cell)
        parts += [f"```text\n{text}\n```"] * bool(text)
        parts += [f'<div class="output">{html}</div>'] * bool(html)
    return "\n\n".join(parts) + "\n"


def outputs(cell: Cell) -> tuple[str, str]:
    """What a cell shows: as text, and as HTML without blank lines, which would end it."""
    text, html = cell.printed.rstrip(), ""
    if hasattr(cell.shown, "_repr_html_"):
        html = re.sub(r"\n\s*\n", "\n", cell.shown._repr_html_())
    elif cell.shown is not None:
        text = f"{text}\n{cell.shown!r}".strip()
    return text, html


def to_notebook(run_cells: list[Cell]) -> str:
    """The page as a Jupyter notebook (.ipynb)."""
    made = []
    for at, cell in enumerate(run_cells):
        entry: dict[str, Any] = {"cell_type": cell.kind, "id": f"cell-{at}", "metadata": {}}
        entry["source"] = cell.source
        if cell.kind == "code":
            text, html = outputs(cell)
            data = {"text/html": html} if html else {"text/plain": text}
            shown = {"output_type": "display_data", "metadata": {}, "data": data}
            entry |= {"execution_count": None, "outputs": [shown] if text or html else []}
        made.append(entry)
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"cells": made, "metadata": {"kernelspec": kernel}}
    return json.dumps(notebook | {"nbformat": 4, "nbformat_minor": 5}, indent=1)
