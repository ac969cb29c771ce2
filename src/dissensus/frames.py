"""Frames: Arrow tables as pandas DataFrames, and their short form for notebooks."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

from dissensus.errors import InstallError

MOST_ROWS = 10  # of a table in a notebook
MOST_LETTERS = 120  # of a cell in a notebook


def to_frame(table: Any, index: Any | None = None) -> Any:
    """An Arrow table as a pandas DataFrame; pandas is imported here and nowhere else.

    Args:
        index: the index of the frame; 0, 1, ... if left out.
    """
    try:
        import pandas as pd  # noqa: F401
    except ImportError:
        raise InstallError(
            "to_pandas() needs pandas, which is not installed: pip install pandas; or use "
            "to_table(), which returns an Arrow table"
        ) from None
    frame = table.to_pandas()
    if index is not None:
        frame.index = index
    return frame


def html_table(
    names: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "", total: int | None = None
) -> str:
    """A plain HTML table for a notebook; all texts are escaped, long ones are shortened.

    Args:
        total: the number of rows of the whole table, if `rows` are only the first ones.

    Example:
        >>> html_table(["item", "share"], [("<t1>", 0.25)])
        '<table><thead><tr><th>item</th><th>share</th></tr></thead><tbody><tr><td
        style="text-align:left">&lt;t1&gt;</td><td>0.25</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in names)
    cells = [list(row) for row in rows]
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in cells)
    if total is not None and total > len(cells):
        more = f"... {total - len(cells):,} more rows"
        body += f'<tr><td colspan="{len(names)}" style="text-align:left">{more}</td></tr>'
    title = f"<p>{html.escape(caption)}</p>" if caption else ""
    return f"{title}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_rows(table: Any, caption: str = "", total: int | None = None) -> str:
    """The first rows of an Arrow table as HTML, and how many more there are.

    Args:
        total: the number of rows of the whole table, if `table` has only the first ones.
    """
    first = table.slice(0, MOST_ROWS)
    rows = zip(*(column.to_pylist() for column in first.columns), strict=True)
    return html_table(table.column_names, rows, caption, len(table) if total is None else total)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"<td>{'' if value != value else format(value, '.4g')}</td>"
    if isinstance(value, int):
        return f"<td>{value}</td>"
    text = "" if value is None else _listed(value) if _is_set(value) else str(value)
    if len(text) > MOST_LETTERS:
        text = text[:MOST_LETTERS] + "..."
    return f'<td style="text-align:left">{html.escape(text)}</td>'


def _listed(values: Iterable[Any]) -> str:
    return ", ".join(format(v, ".4g") if isinstance(v, float) else str(v) for v in values)


def _is_set(value: Any) -> bool:
    return isinstance(value, list | tuple | set | frozenset)
