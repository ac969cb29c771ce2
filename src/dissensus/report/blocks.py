"""What a report is made of: sections of texts, tables and figures."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Text:
    """A paragraph of plain text."""

    text: str

    def to_dict(self) -> dict[str, Any]:
        return {"text": self.text}


@dataclass(frozen=True)
class Table:
    """A table that can be sorted and filtered.

    Args:
        rows: texts, numbers or `Bars`; None and nan are empty cells.
        annotators: the column with names of annotators, who can be picked by a click.
        total: the number of rows of the whole table, if `rows` are only the first ones.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    annotators: int | None = None
    total: int | None = None

    def without_empty(self) -> Table:
        """The table without columns that have no value in any row."""
        filled = [
            at
            for at in range(len(self.columns))
            if not self.rows or any(plain(row[at]) not in (None, "") for row in self.rows)
        ]
        where = None if self.annotators is None else filled.index(self.annotators)
        return dataclasses.replace(
            self,
            columns=[self.columns[at] for at in filled],
            rows=[[row[at] for at in filled] for row in self.rows],
            annotators=where,
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "table": self.title,
            "columns": list(self.columns),
            "rows": [[plain(cell) for cell in row] for row in self.rows],
            "total": self.total or len(self.rows),
        }


@dataclass(frozen=True)
class Bars:
    """A cell with the shares of values, drawn as a bar; `sort` is the number to sort by."""

    shares: dict[str, float]
    sort: float = 0.0


@dataclass(frozen=True)
class Figure:
    """A picture, with what it shows as a table.

    Args:
        alt: what the picture shows, for those who cannot see it.
        svg: an <svg> element; text and lines in `currentColor` follow the colours of the page.
    """

    title: str
    alt: str
    svg: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def to_dict(self) -> dict[str, Any]:
        return {
            "figure": self.title,
            "shows": self.alt,
            "columns": list(self.columns),
            "rows": [[plain(cell) for cell in row] for row in self.rows],
        }


Block = Text | Table | Figure


@dataclass(frozen=True)
class Section:
    """A part of the report with a heading; `key` is its anchor."""

    key: str
    title: str
    blocks: Sequence[Block]

    def to_dict(self) -> dict[str, Any]:
        return {"section": self.title, "blocks": [block.to_dict() for block in self.blocks]}


def plain(value: Any) -> Any:
    """A cell as JSON; undefined numbers are null."""
    if isinstance(value, Bars):
        return {name: plain(share) for name, share in value.shares.items()}
    if isinstance(value, float):
        return None if not math.isfinite(value) else round(value, 6)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {key: plain(part) for key, part in dataclasses.asdict(value).items()}
    if hasattr(value, "item"):
        return plain(value.item())
    return value if value is None or isinstance(value, str | int | bool) else str(value)
