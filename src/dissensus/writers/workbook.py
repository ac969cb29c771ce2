"""A minimal .xlsx file: sheets of texts and numbers, without styles."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from dissensus.errors import DataError

MOST_ROWS, MOST_COLUMNS, MOST_LETTERS = 1_048_576, 16_384, 32_767  # of a sheet; of a cell
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
Cell = str | float | int | None


def write_workbook(path: Path, sheets: Mapping[str, Iterable[Sequence[Cell]]]) -> None:
    """Write each sheet's rows."""
    names = list(sheets)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        parts = "".join(
            f'<Override PartName="/xl/worksheets/sheet{n}.xml" '
            f'ContentType="{_TYPE}.worksheet+xml"/>'
            for n in range(1, len(names) + 1)
        )
        packed.writestr(
            "[Content_Types].xml",
            f'<?xml version="1.0"?><Types xmlns="{_PACKAGE}/content-types">'
            '<Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
            f"{parts}</Types>",
        )
        packed.writestr("_rels/.rels", _relations([("officeDocument", "xl/workbook.xml")]))
        listed = "".join(
            f'<sheet name={quoteattr(name[:31])} sheetId="{n}" r:id="r{n}"/>'
            for n, name in enumerate(names, start=1)
        )
        packed.writestr(
            "xl/workbook.xml",
            f'<?xml version="1.0"?><workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}">'
            f"<sheets>{listed}</sheets></workbook>",
        )
        packed.writestr(
            "xl/_rels/workbook.xml.rels",
            _relations(
                [("worksheet", f"worksheets/sheet{n}.xml") for n in range(1, len(names) + 1)]
            ),
        )
        for number, name in enumerate(names, start=1):
            with packed.open(f"xl/worksheets/sheet{number}.xml", "w") as file:
                file.write(f'<?xml version="1.0"?><worksheet xmlns="{_MAIN}"><sheetData>'.encode())
                for n, row in enumerate(sheets[name], start=1):
                    if n > MOST_ROWS or len(row) > MOST_COLUMNS:
                        raise DataError(
                            f"{path}: a sheet has at most {MOST_ROWS:,} rows and {MOST_COLUMNS:,} "
                            "columns; write CSV or Parquet"
                        )
                    file.write(_row(n, row).encode())
                file.write(b"</sheetData></worksheet>")


def _relations(targets: list[tuple[str, str]]) -> str:
    parts = "".join(
        f'<Relationship Id="r{n}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(targets, start=1)
    )
    opening = f'<Relationships xmlns="{_PACKAGE}/relationships">'
    return f'<?xml version="1.0"?>{opening}{parts}</Relationships>'


def _row(number: int, row: Sequence[Cell]) -> str:
    cells = "".join(
        _cell(f"{_letters(at)}{number}", cell) for at, cell in enumerate(row) if cell is not None
    )
    return f'<row r="{number}">{cells}</row>'


def _cell(place: str, cell: str | float | int) -> str:
    if isinstance(cell, int | float) and cell == cell:
        return f'<c r="{place}"><v>{cell!r}</v></c>'
    text = escape(_CONTROL.sub("\ufffd", str(cell)[:MOST_LETTERS]))
    return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'


def _letters(column: int) -> str:
    """A column's name: A, B, ..., Z, AA.

    Example:
        >>> _letters(0), _letters(25), _letters(26)
        ('A', 'Z', 'AA')
    """
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters
