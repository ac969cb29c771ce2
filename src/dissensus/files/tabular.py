"""Tables as files: CSV, TSV, Parquet, JSON, JSON lines and spreadsheets."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dissensus.errors import DataError

TABLES = (".csv", ".tsv", ".parquet", ".json", ".jsonl", ".xlsx")
ENDINGS = ".csv, .tsv, .parquet, .json, .jsonl or .xlsx"  # for help and messages
DIGITS = 6  # significant ones, of confidences and shares in text files
MOST_ROWS, MOST_COLUMNS, MOST_LETTERS = 1_048_576, 16_384, 32_767  # of a sheet; of a cell
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_OPEN = "http://schemas.openxmlformats.org"
_MAIN, _OFFICE = f"{_OPEN}/spreadsheetml/2006/main", f"{_OPEN}/officeDocument/2006/relationships"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_FROZEN = (
    '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" '
    'activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>'
)
MEASURED_ROWS, WIDEST = 100, 60  # of which the widths of columns are those of; letters
_XML = '<?xml version="1.0"?>'
Cell = str | float | int | None


def is_table(path: Path) -> bool:
    """Whether a path ends like a table that can be written."""
    return path.suffix.lower() in TABLES


def check_table(path: Path) -> None:
    """Refuse a file that is not a table."""
    if not is_table(path):
        raise DataError(f"{path}: write a {ENDINGS} file")


def save_table(table: pa.Table, path: Path, digits: int | None = None) -> None:
    """Write a table in the format that its ending names.

    Args:
        digits: significant ones of numbers, which are then for people: sets are values with commas.
            If left out, numbers are written in full and sets as JSON lists, to be read back.
    """
    ending = path.suffix.lower()
    if ending == ".parquet":
        pq.write_table(table, path)
    elif ending in (".json", ".jsonl"):  # a list of objects, or one in each line
        objects = ({k: rounded(v, digits) for k, v in row.items()} for row in table.to_pylist())
        texts = [json.dumps(each, ensure_ascii=False, default=str) for each in objects]
        whole = "[\n" + ",\n".join(texts) + "\n]\n"
        path.write_text("\n".join([*texts, ""]) if ending == ".jsonl" else whole, encoding="utf-8")
    elif ending == ".xlsx":
        rows = _rows(table, digits, lambda value: float(rounded(value, digits)))
        write_workbook(path, {"answers": [table.column_names, *rows]})
    else:
        delimiter = "\t" if ending == ".tsv" else ","
        path.write_bytes(delimited(table, delimiter, digits).encode())


def delimited(table: pa.Table, delimiter: str = ",", digits: int | None = DIGITS) -> str:
    """A table as CSV, with the digits of `save_table`."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(table.column_names)

    def number(value: float) -> str:
        if digits is not None:
            return f"{value:.{digits}g}"
        return repr(int(value)) if value.is_integer() else repr(value)

    writer.writerows(_rows(table, digits, number))
    return text.getvalue()


def rounded(value: Any, digits: int | None = DIGITS) -> Any:
    """A number with six significant digits; None if it is nan; anything else unchanged.

    Example:
        >>> rounded(2 / 3), rounded(1e-9 / 3), rounded("a")
        (0.666667, 3.33333e-10, 'a')
    """
    if not isinstance(value, float) or not math.isfinite(value):
        return None if isinstance(value, float) else value
    return value if digits is None else float(f"{value:.{digits}g}")


def _rows(
    table: pa.Table, digits: int | None, number: Callable[[float], Any]
) -> Iterable[tuple[Any, ...]]:
    """Rows of texts and numbers; a float is what `number` makes of it."""

    def cell(value: Any) -> Any:
        if isinstance(value, float):
            return number(value) if math.isfinite(value) else None
        if isinstance(value, list) and digits is None:
            return json.dumps(value, ensure_ascii=False, default=str)
        if isinstance(value, list):
            return ",".join(map(str, value))
        return value if value is None or isinstance(value, str | int) else str(value)

    def cells(column: Any) -> list[Any]:
        if pa.types.is_floating(column.type):  # which often has few different numbers
            coded = column.combine_chunks().dictionary_encode()
            known = np.array([*map(cell, coded.dictionary.to_pylist()), None], object)
            at = coded.indices.fill_null(len(known) - 1).to_numpy(zero_copy_only=False)
            return known[at].tolist()
        return [cell(value) for value in column.to_pylist()]

    return zip(*map(cells, table.columns), strict=True)


def write_workbook(path: Path, sheets: Mapping[str, Iterable[Sequence[Cell]]]) -> None:
    """Write each sheet's rows; the first one stays in view, columns are as wide as their texts."""
    numbers = range(1, len(sheets) + 1)
    names = "".join(
        f'<sheet name={quoteattr(name[:31])} sheetId="{n}" r:id="r{n}"/>'
        for n, name in enumerate(sheets, start=1)
    )
    types = "".join(
        f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{_TYPE}.worksheet+xml"/>'
        for n in numbers
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_OPEN}/package/2006/content-types"><Default '
        'Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>{types}'
        "</Types>",
        "_rels/.rels": _relations("officeDocument", ["xl/workbook.xml"]),
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{names}</sheets>'
        "</workbook>",
        "xl/_rels/workbook.xml.rels": _relations(
            "worksheet", [f"worksheets/sheet{n}.xml" for n in numbers]
        ),
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for part, text in parts.items():
            packed.writestr(part, _XML + text)
        for number, rows in enumerate(sheets.values(), start=1):
            with packed.open(f"xl/worksheets/sheet{number}.xml", "w") as file:
                rest = iter(rows)
                first = list(itertools.islice(rest, MEASURED_ROWS))
                start = f'{_XML}<worksheet xmlns="{_MAIN}">{_FROZEN}{_widths(first)}<sheetData>'
                file.write(start.encode())
                for n, row in enumerate(itertools.chain(first, rest), start=1):
                    if n > MOST_ROWS or len(row) > MOST_COLUMNS:
                        raise DataError(
                            f"{path}: a sheet has at most {MOST_ROWS:,} rows and {MOST_COLUMNS:,} "
                            "columns; write CSV or Parquet"
                        )
                    file.write(f"<row>{''.join(map(_xml_cell, row))}</row>".encode())
                file.write(b"</sheetData></worksheet>")


def _widths(rows: Sequence[Sequence[Cell]]) -> str:
    """The width of each column, by the longest cell of some rows."""
    columns = itertools.zip_longest(*rows)
    longest = [max(len(str(cell or "")) for cell in column) for column in columns]
    parts = "".join(
        f'<col min="{n}" max="{n}" width="{min(2 + letters, WIDEST)}" customWidth="1"/>'
        for n, letters in enumerate(longest[:MOST_COLUMNS], start=1)
    )
    return f"<cols>{parts}</cols>" if parts else ""


def _relations(kind: str, targets: list[str]) -> str:
    parts = "".join(
        f'<Relationship Id="r{n}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for n, target in enumerate(targets, start=1)
    )
    return f'<Relationships xmlns="{_OPEN}/package/2006/relationships">{parts}</Relationships>'


def _xml_cell(cell: Cell) -> str:
    if cell is None:
        return "<c/>"
    if isinstance(cell, bool):
        return f'<c t="b"><v>{cell:d}</v></c>'
    if isinstance(cell, int | float) and cell == cell:
        return f"<c><v>{cell!r}</v></c>"
    text = escape(_CONTROL.sub("\ufffd", str(cell)[:MOST_LETTERS]))
    return f'<c t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
