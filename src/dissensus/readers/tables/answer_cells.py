"""Answer cells: what the cells of an answer column contain: values, lists of values, or neither."""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from dissensus.errors import DataError, cut, listed
from dissensus.readers.tables.rows import Column, Rows
from dissensus.scales import Scale, as_numbers

MOST_LOOKED_AT = 1000  # distinct answers that are looked at for spans and objects
MOST_LETTERS = {"\n": 60, "|": 60, ";": 60, ", ": 25, ",": 25}  # separators: letters of an answer
KNOWN_PARTS = 0.8  # share of the parts that occur in several cells or alone
Entries = list[Any] | None  # of a cell; None: a blank
TICKED = ("1", "true", "x", "yes", "✓", "✔", "checked")  # of a check box
UNTICKED = ("0", "false", "no", "unchecked")


def parsed_cell(text: str) -> Any:
    """A cell as a list or an object, in JSON or in Python; None if it is neither.

    Example:
        >>> parsed_cell('["a", 1]'), parsed_cell("['a', []]"), parsed_cell("a")
        (['a', '1'], ['a', []], None)
    """
    if text.strip()[:1] not in ("[", "{"):
        return None
    try:
        return json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def parsed_column(column: Column) -> list[Any] | None:
    """The list or object of each row, None for a blank; None unless every value is one."""
    if column.is_bytes or not len(column.values):
        return None
    if not str(column.values[0].as_py()).lstrip().startswith(("[", "{")):
        return None
    values = [parsed_cell(text) for text in column.values.to_pylist()]
    return None if None in values else [(*values, None)[code] for code in column.codes.tolist()]


def as_records(value: Any) -> list[Any] | None:
    """A list, whose entries may be written as texts of objects; an object of lists as a list.

    Example:
        >>> as_records({"worker": ["ann", "bob"], "label": [1, 0]})
        [{'worker': 'ann', 'label': 1}, {'worker': 'bob', 'label': 0}]
    """
    if isinstance(value, list):
        parsed = [parsed_cell(one) if isinstance(one, str) else None for one in value]
        return [one if as_is is None else as_is for one, as_is in zip(value, parsed, strict=True)]
    lists = list(value.values()) if isinstance(value, dict) else []
    if not lists or not all(isinstance(one, list) and len(one) == len(lists[0]) for one in lists):
        return None
    return [dict(zip(value, entry, strict=True)) for entry in zip(*lists, strict=True)]


def ticks_of(column: Column) -> np.ndarray | None:
    """Which cells of a column of check boxes are ticked, (n_rows,); None for another column.

    A box is "1" and "0", "TRUE" and "FALSE" and so on, or a mark and a blank.
    """
    if column.is_bytes or not 0 < len(column.values) < 3:
        return None
    words = [value.strip().casefold() for value in column.values.to_pylist()]
    yes, no = ([word for word in words if word in known] for known in (TICKED, UNTICKED))
    blank = bool((column.codes < 0).any())
    if len(yes) != 1 or len(no) + 1 < len(words) or blank == bool(no):
        return None
    return np.asarray(column.codes == words.index(yes[0]))


def cell_values(
    rows: Rows,
    column: str,
    question: str,
    counts: np.ndarray,
    declared: Scale | str | None,
    members: Sequence[str] = (),
) -> tuple[list[str], bool, list[str]]:
    """The distinct texts of a column, whether they are JSON lists (sets of values), and notes.

    Lists of one value each are plain values if the declared scale has single values. Cells with
    several values, such as "joy|fear", are sets. Spans and other JSON are refused.

    Args:
        counts: how often each text is an answer, (n_values,).
        members: the values that the declared scale lists.
    """
    cells = rows.columns[column]
    texts: list[str] = cells.values.to_pylist()
    used = np.flatnonzero(counts).tolist()
    is_set, notes = column in rows.sets, []
    kind = declared if isinstance(declared, str) else getattr(declared, "kind", "multi-label")
    of_sets = kind.startswith(("multi-label", "multilabel"))
    lists = None if is_set else _written_lists(texts)
    if (wrong := _wrong_cell(texts, used, lists is not None)) is not None:
        code, what = wrong
        raise DataError(
            f"{_place(rows, column, code)}: the answer to {question!r} is {what}, found "
            f"{cut(texts[code], 60)}; write a row for each annotator, with the answer alone in a "
            "column, or name a column of values (answer=, --answer)"
        )
    if lists is None and not is_set and of_sets:
        full = [texts[code] for code in used if texts[code].strip() != "[]"]
        separator = separator_of([*full, *members])
        if separator is not None:
            lists = [[] if text.strip() == "[]" else split_cell(text, separator) for text in texts]
            notes = [f"cells split at {separator_name(separator)} into sets of values"]
    if lists is not None:
        is_set, texts = True, [json.dumps(one, ensure_ascii=False) for one in lists]
    if not is_set or of_sets:
        return texts, is_set, notes
    members = [json.loads(text) for text in texts]
    several = next((code for code, one in enumerate(members) if len(one) > 1), None)
    if several is not None:
        raise DataError(
            f"{_place(rows, column, several)}: {listed(members[several])} are several values; "
            f"declare a multi-label scale instead of {kind}"
        )
    return [one[0] if one else "nan" for one in members], False, notes


def _place(rows: Rows, column: str, code: int) -> str:
    """Where a column's value stands first."""
    return rows.at(int((rows.columns[column].codes == code).argmax()))


def _written_lists(texts: list[str]) -> list[list[str]] | None:
    """Texts that are lists of values in JSON or Python; None if one is not."""
    lists = []
    for text in texts:
        members = parsed_cell(text)
        if not isinstance(members, list):
            return None
        if any(not isinstance(one, str | int | float) or str(one)[:1] == "{" for one in members):
            return None
        lists.append([str(member) for member in members])
    return lists or None


# ---- what is refused ----


def _deeply_parsed(value: Any) -> Any:
    """A list or an object; members of a list may be written as texts. Others as they are."""
    parsed = parsed_cell(value) if isinstance(value, str) else value
    if isinstance(parsed, list):
        return [_deeply_parsed(one) for one in parsed]
    return value if parsed is None else parsed


def _wrong_cell(texts: list[str], used: list[int], are_lists: bool) -> tuple[int, str] | None:
    """The first cell with spans, or with another JSON object, and what it is."""
    cells = {code: _deeply_parsed(texts[code]) for code in used[:MOST_LOOKED_AT]}
    members = {code: cell if isinstance(cell, list) else [cell] for code, cell in cells.items()}
    one_each = all(_is_span(cell, labelled=True) for cell in cells.values() if cell != [])
    for code, of in members.items():
        if any(map(_is_span, of)) or (one_each and of):
            return code, "a list of spans (start, end)"
        if not are_lists and any(isinstance(one, dict) for one in of):
            return code, "a JSON object"
    return None


def _is_span(members: Any, labelled: bool = False) -> bool:
    """Whether this is [start, end, ...]: two whole numbers in order, and labels, which have to
    follow if two numbers alone may be two values."""
    if not isinstance(members, list | tuple) or len(members) < 2 + labelled:
        return False
    ends = [str(end) for end in members[:2]]
    if not all(end.isdecimal() and len(end) < 20 for end in ends):
        return False
    labels = all(isinstance(one, str) and as_numbers([one]) is None for one in members[2:])
    return int(ends[0]) <= int(ends[1]) and (labels or not labelled)


# ---- several answers in a cell: "joy|fear", "joy; fear", lines ----


def separator_of(texts: Sequence[str]) -> str | None:
    """What separates the answers in a column's distinct cells; None if each is one answer.

    A comma also stands within answers: it separates only words that are answers alone, too.

    Example:
        >>> separator_of(["joy|fear", "joy", "fear"]), separator_of(["yes", "no"])
        ('|', None)
        >>> separator_of(["joy, fear", "joy", "fear"]), separator_of(["yes, mostly", "yes", "no"])
        (', ', None)
    """
    cells = [text.strip() for text in texts if text.strip()]
    for separator, most_letters in MOST_LETTERS.items():
        if not any(separator in cell for cell in cells):
            continue
        parts = [split_cell(cell, separator) for cell in cells]
        n_cells = Counter(part for cell in parts for part in set(cell))
        inside = {part for cell in parts if len(cell) > 1 for part in cell}
        known = inside & {cell[0] for cell in parts if len(cell) == 1}
        if separator[0] != ",":
            known |= {part for part in inside if n_cells[part] > 1}
        elif len(known) < len(inside) or len(inside) < 2 or as_numbers([*inside]) is not None:
            continue
        letters = sum(map(len, inside)) / max(len(inside), 1)
        if inside and len(known) >= KNOWN_PARTS * len(inside) and letters <= most_letters:
            return separator
    return None


def split_cell(text: str, separator: str) -> list[str]:
    """The answers in a cell, each once: joy and fear of "joy | fear|joy"."""
    parts = (part.strip() for part in text.replace("\r\n", "\n").split(separator))
    return list(dict.fromkeys(part for part in parts if part))


def separator_name(separator: str) -> str:
    """A separator for a note."""
    return "line breaks" if separator == "\n" else repr(separator)
