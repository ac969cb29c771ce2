"""What a report is made of: sections of texts, tables and figures."""

from __future__ import annotations

import dataclasses
import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow.csv import write_csv

from dissensus.drawing import save_picture
from dissensus.drawing.svg import LONGEST, brief, caption
from dissensus.errors import DataError
from dissensus.scales import Ordinal, Scale
from dissensus.tables import to_frame

MOST_NAME = 200  # letters of a value or an annotator in a figure or a bar
MOST_CELL = 2000  # letters of a cell or a title; of a paragraph 10,000
KINDS = (".svg", ".png", ".pdf", ".csv")  # of files that a figure is saved to
NOTEBOOK_STYLE = (
    "max-width:100%;height:auto;display:block;"
    "color:var(--jp-content-font-color1,var(--vscode-editor-foreground,currentColor))"
)


@dataclass(frozen=True)
class Text:
    """A paragraph of plain text."""

    text: str

    def to_dict(self) -> dict[str, Any]:
        return {"text": brief(self.text, LONGEST)}


@dataclass(frozen=True)
class Table:
    """A table that can be sorted and filtered.

    Args:
        rows: texts, numbers, `Bars` or `Thumbnail`; None and nan are empty cells.
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
            "table": brief(self.title, MOST_CELL),
            **cells_of(self),
            "total": self.total or len(self.rows),
        }


@dataclass(frozen=True)
class Bars:
    """A cell with the shares of values, drawn as a bar; `sort` is the number to sort by.

    Args:
        ordered: whether values are levels, which have shades of one colour.
    """

    shares: dict[str, float]
    sort: float = 0.0
    ordered: bool = False

    @classmethod
    def of(cls, scale: Scale, shares: np.ndarray, sort: float = 0.0) -> Bars:
        total = max(float(shares.sum()), 1.0)  # marginals of several values may sum to more
        values = getattr(scale, "values", ())
        cells = dict(zip(values, (shares / total).tolist(), strict=True))
        return cls(cells, sort, isinstance(scale, Ordinal))


@dataclass(frozen=True)
class Thumbnail:
    """A cell with a small picture of an item; as data it is its words."""

    address: str  # data:image/...
    words: str


@dataclass(frozen=True)
class Figure:
    """A picture, with what it shows as a table. A notebook shows it; `save` writes a file.

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
            "figure": brief(self.title, MOST_CELL),
            "shows": brief(self.alt, LONGEST),
            **cells_of(self),
        }

    def __repr__(self) -> str:
        return f"<Figure {self.title!r}: {self.alt}>"

    @property
    def data(self) -> pa.Table:
        """What the figure shows, as an Arrow table."""
        columns = []
        for at in range(len(self.columns)):
            cells = [plain(row[at]) for row in self.rows]
            try:
                columns.append(pa.array(cells))
            except pa.ArrowException:  # they are not of one kind
                columns.append(pa.array([None if c is None else str(c) for c in cells]))
        return pa.table(columns, list(map(str, self.columns)))

    def to_pandas(self) -> Any:
        """What the figure shows, as a pandas DataFrame."""
        return to_frame(self.data)

    def save(self, path: str | Path) -> Path:
        """Write the picture to a .svg, .png or .pdf file, or what it shows to a .csv file."""
        path = Path(path)
        kind = path.suffix.lower()
        if kind not in KINDS:
            raise DataError(f"{path}: figures are saved as {', '.join(KINDS)}; use such an ending")
        try:
            if kind == ".csv":
                write_csv(self.data, path)
            else:
                save_picture(path, self.svg + "\n")
        except OSError as error:
            raise DataError(f"{path}: cannot be written ({error.strerror})") from None
        return path

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        """The picture in the colours of the notebook, with its title and what it shows."""
        svg = self.svg.replace(' color="#222"', f' style="{NOTEBOOK_STYLE}"', 1)
        title, alt = (html.escape(caption(words)) for words in (self.title, self.alt))
        return (
            f'<figure style="margin:0;overflow-x:auto"><strong>{title}</strong>{svg}'
            f"<figcaption>{alt}</figcaption></figure>"
        )


Block = Text | Table | Figure


@dataclass(frozen=True)
class Section:
    """A part of the report with a heading; `key` is its anchor."""

    key: str
    title: str
    blocks: Sequence[Block]

    def to_dict(self) -> dict[str, Any]:
        return {"section": self.title, "blocks": [block.to_dict() for block in self.blocks]}


def cells_of(block: Table | Figure) -> dict[str, Any]:
    """The columns and rows of a block as JSON."""
    rows = [list(map(json_cell, row)) for row in block.rows]
    return {"columns": list(map(json_cell, block.columns)), "rows": rows}


def json_cell(value: Any) -> Any:
    """A cell as JSON, as a report has it: long texts are cut."""
    value = plain(value)
    if isinstance(value, dict):
        return dict(zip(brief_names(value), value.values(), strict=True))
    return brief(value, MOST_CELL) if isinstance(value, str) else value


def brief_names(names: Iterable[str]) -> list[str]:
    """Names that are cut where they are too long; numbered if they would be the same.

    Example:
        >>> brief_names(["yes", "no"]), len(brief_names(["a" * 300, "a" * 400])[1])
        (['yes', 'no'], 207)
    """
    every = list(names)
    cut = [brief(name, MOST_NAME) for name in every]
    if len(set(cut)) == len(set(every)):
        return cut
    numbered = enumerate(zip(cut, every, strict=True), start=1)
    return [short if short == name else f"{short} ({at})" for at, (short, name) in numbered]


def plain(value: Any) -> Any:
    """A cell as JSON; undefined numbers are null."""
    if isinstance(value, Thumbnail):
        return value.words
    if isinstance(value, Bars):
        return {name: plain(number) for name, number in value.shares.items()}
    if isinstance(value, float):
        return None if not math.isfinite(value) else round(value, 6)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {key: plain(part) for key, part in dataclasses.asdict(value).items()}
    if hasattr(value, "item"):
        return plain(value.item())
    return value if value is None or isinstance(value, str | int | bool) else str(value)
