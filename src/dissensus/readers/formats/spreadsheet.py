"""Spreadsheets of Excel and LibreOffice: .xlsx, .xlsm, .xlsb, .xls and .ods.

A sheet is read as a table: a row per answer, or a column per annotator. Several sheets with the
same columns are an annotator each, or parts of one table. Titles may stand above the column names.
A cell merged over several rows counts for each of them. Of a formula, the saved value is read.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.files.plain import OPTION, check_zip, most_unpacked
from dissensus.readers.exports.grids import Grid, grid, grids_corpus
from dissensus.readers.files import ending, first_bytes
from dissensus.readers.formats import spreadsheet_cells
from dissensus.readers.layout import Layout

ZIP, OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"


def read(path: Path, options: Layout) -> Corpus:
    """Read the sheet or sheets of answers; `corpus` names one sheet."""
    return grids_corpus(path, sheets(path, options), options, "sheet")


def sheets(path: Path, layout: Layout) -> list[Grid]:
    """Every sheet that is not empty, as a table."""
    start = first_bytes(path, 4)
    if not start:
        raise DataError(f"{path}: the file is empty or cannot be read")
    if start == ZIP:
        check_zip(path)
    elif start != OLE:
        raise DataError(f"{path}: not a spreadsheet: it begins with {start!r}")
    limit = most_unpacked(path.stat().st_size)
    result = _parsed(path, limit)
    error = result.get("error")
    if error == "MemoryError":
        raise DataError(
            f"{path}: a table of more than {limit / 1e6:,.0f} MB; is a cell far away from the "
            "others? Delete the rows and columns between, or allow more: "
            + OPTION.replace("{}", f"{4 * -(-limit // 10**9)}GB")
        )
    if error == "PasswordError":
        raise DataError(f"{path}: protected by a password; save a copy without one")
    if error is not None:
        encrypted = start == OLE and ending(path) in (".xlsx", ".xlsm", ".xlsb")
        what = "protected by a password, or damaged" if encrypted else "damaged"
        reason = result.get("reason") or error
        raise DataError(f"{path}: {what}; save a copy without a password ({reason})")
    grids = [grid(name, rows, layout=layout) for name, rows in result["sheets"]]
    return [one for one in grids if one is not None]


def _parsed(path: Path, limit: int) -> dict[str, Any]:
    """What `spreadsheet_cells` writes about a file; a process that was ended took too much."""
    command = [sys.executable, "-P", str(spreadsheet_cells.__file__), str(limit), str(path)]
    done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL)
    try:
        result: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        return {"error": "MemoryError"}
    return result
