"""Spreadsheets of Excel and LibreOffice: .xlsx, .xlsm, .xlsb, .xls and .ods.

A sheet is read as a table: a row per answer, or a column per annotator. Several sheets with the
same columns are an annotator each, or parts of one table. Titles may stand above the column names.
A cell merged over several rows counts for each of them. Of a formula, the saved value is read.
"""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.files.plain import check_zip
from dissensus.readers.exports.grids import Cells, Grid, grid, grids_corpus
from dissensus.readers.files import ending, first_bytes
from dissensus.readers.layout import Layout

ZIP, OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"


def read(path: Path, options: Layout) -> Corpus:
    """Read the sheet or sheets of answers; `corpus` names one sheet."""
    return grids_corpus(path, sheets(path), options, "sheet")


def sheets(path: Path) -> list[Grid]:
    """Every sheet that is not empty, as a table."""
    import python_calamine

    start = first_bytes(path, 4)
    if not start:
        raise DataError(f"{path}: the file is empty or cannot be read")
    if start == ZIP:
        check_zip(path)
    elif start != OLE:
        raise DataError(f"{path}: not a spreadsheet: it begins with {start!r}")
    try:
        with python_calamine.CalamineWorkbook.from_path(str(path)) as book:
            named = [(name, _cells(book.get_sheet_by_name(name))) for name in _visible(book)]
    except python_calamine.PasswordError:
        raise DataError(f"{path}: protected by a password; save a copy without one") from None
    except (python_calamine.CalamineError, OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        encrypted = start == OLE and ending(path) in (".xlsx", ".xlsm", ".xlsb")
        what = "protected by a password, or damaged" if encrypted else "damaged"
        raise DataError(f"{path}: {what}; save a copy without a password ({reason})") from None
    grids = [grid(name, rows) for name, rows in named]
    return [one for one in grids if one is not None]


def _visible(book: Any) -> list[str]:
    """The names of the sheets that contain cells; charts do not."""
    return [sheet.name for sheet in book.sheets_metadata if str(sheet.typ).endswith("WorkSheet")]


def _cells(sheet: Any) -> list[Cells]:
    """All cells of a sheet as texts; one that is merged over several rows is repeated."""
    rows = [[_text(cell) for cell in row] for row in sheet.to_python(skip_empty_area=False)]
    for (top, left), (bottom, right) in sheet.merged_cell_ranges or ():
        if left == right and bottom < len(rows) and left < len(rows[top]):
            for row in rows[top : bottom + 1]:
                row[left] = rows[top][left]
    return rows


def _text(cell: Any) -> str | None:
    """A cell as a text: whole numbers without ".0", dates as ISO 8601.

    Example:
        >>> _text(3.0), _text(0.5), _text(True), _text("  "), _text(datetime.date(2024, 5, 1))
        ('3', '0.5', 'TRUE', None, '2024-05-01')
    """
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    text = str(cell)
    return text if text.strip() else None
