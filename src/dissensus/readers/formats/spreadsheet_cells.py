"""The cells of a spreadsheet, read in a process of its own: python spreadsheet_cells.py LIMIT FILE.

A hostile file makes the parser take all memory, or ends the process. LIMIT is in bytes, of cells
that may be blank. What is written is JSON: the sheets as [name, rows], or what is wrong.
"""

import datetime
import json
import sys
from typing import Any

SECONDS = 60  # of work
MEMORY = 2 * 10**9  # bytes, at most, unless more cells are allowed
BYTES = 20  # of a cell that may be blank
Row = list[str | None]


def text_of(cell: Any) -> str | None:
    """A cell as a text: whole numbers without ".0", dates as ISO 8601.

    Example:
        >>> text_of(3.0), text_of(0.5), text_of(True), text_of("  "), text_of(datetime.time(9, 5))
        ('3', '0.5', 'TRUE', None, '09:05:00')
    """
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    text = str(cell)
    return text if text.strip() else None


def cells_of(sheet: Any) -> list[Row]:
    """All cells as texts, without blank ones at the end of rows; one that is merged over several
    rows is repeated."""
    rows = [[text_of(cell) for cell in row] for row in sheet.iter_rows()]
    for (top, left), (bottom, right) in sheet.merged_cell_ranges or ():
        if left == right and bottom < len(rows) and left < len(rows[top]):
            for row in rows[top : bottom + 1]:
                row[left] = rows[top][left]
    for row in rows:
        while row and row[-1] is None:
            row.pop()
    return rows


def sheets_of(path: str, limit: int) -> list[tuple[str, list[Row]]]:
    """The sheets that contain cells; charts do not."""
    import python_calamine

    with python_calamine.CalamineWorkbook.from_path(path) as book:
        named = [one.name for one in book.sheets_metadata if str(one.typ).endswith("WorkSheet")]
        sheets = [(name, book.get_sheet_by_name(name)) for name in named]
        if sum(one.total_height * one.total_width for _, one in sheets) * BYTES > limit:
            raise MemoryError
        return [(name, cells_of(one)) for name, one in sheets]


def main(limit: int, path: str) -> None:
    memory = max(limit, min(MEMORY, MEMORY // 4 + 10 * limit))
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, OSError, ValueError):
        pass  # of other systems, or more than this process may have
    try:
        result: dict[str, Any] = {"sheets": sheets_of(path, limit)}
    except MemoryError:
        result = {"error": "MemoryError"}
    except BaseException as error:  # a panic of the parser is no Exception
        result = {"error": type(error).__name__, "reason": (str(error).splitlines() or [""])[0]}
    sys.stdout.write(json.dumps(result))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
