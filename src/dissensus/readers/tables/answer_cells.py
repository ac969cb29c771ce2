"""Answer cells: what the cells of an answer column contain: values, lists of values, or neither."""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from dissensus.errors import DataError, listed
from dissensus.readers.tables.rows import Rows
from dissensus.scales import Scale, as_numbers

MOST_LOOKED_AT = 1000  # distinct answers that are looked at for spans and objects
SEPARATORS = ("\n", "|", ";")
KNOWN = 0.8  # share of the parts that occur in several cells or alone
MOST_LETTERS = 60  # of an answer, on average


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


def cell_values(
    rows: Rows, column: str, question: str, counts: np.ndarray, declared: Scale | str | None
) -> tuple[list[str], bool, tuple[str, ...]]:
    """The distinct texts of a column, whether they are JSON lists (sets of values), and notes.

    Lists of one value each are plain values if the declared scale has single values. Cells with
    several values, such as "joy|fear", are sets. Spans and other JSON are refused.

    Args:
        counts: how often each text is an answer, (n_values,).
    """
    texts: list[str] = rows.columns[column].values.to_pylist()
    used = np.flatnonzero(counts).tolist()
    cells = {code: _deeply_parsed(texts[code]) for code in used[:MOST_LOOKED_AT]}
    cells = {code: cell for code, cell in cells.items() if cell is not None}
    is_set, values = column in rows.sets, texts
    notes: tuple[str, ...] = ()
    _check_spans(rows, column, question, cells, len(used))
    kind = declared if isinstance(declared, str) else getattr(declared, "kind", "multi-label")
    of_sets = kind.startswith(("multi-label", "multilabel"))
    lists = None if is_set else _written_lists(texts) or _written_choices(texts)
    if lists is None:
        _check_objects(rows, column, question, cells)
    if lists is None and not is_set and of_sets:
        separator = separator_of([texts[code] for code in used if texts[code].strip() != "[]"])
        if separator is not None:
            lists = [[] if text.strip() == "[]" else split_cell(text, separator) for text in texts]
            notes = (f"cells split at {separator_name(separator)} into sets of values",)
    if lists is not None:
        is_set, values = True, [json.dumps(one, ensure_ascii=False) for one in lists]
    if is_set and not of_sets:
        values, is_set = _single_values(rows, column, values, kind), False
    return values, is_set, notes


def _single_values(rows: Rows, column: str, values: list[str], kind: str) -> list[str]:
    """Lists of at most one value as that value."""
    lists = [json.loads(value) for value in values]
    for code, members in enumerate(lists):
        if len(members) > 1:
            row = int((rows.columns[column].codes == code).argmax())
            raise DataError(
                f"{rows.at(row)}: {listed(members)} are several values; "
                f"declare a multi-label scale instead of {kind}"
            )
    return [members[0] if members else "nan" for members in lists]


def _written_lists(texts: list[str]) -> list[list[str]] | None:
    """Texts that are lists in JSON or Python; None if one is not a list of values."""
    lists = []
    for text in texts:
        members = parsed_cell(text)
        if not isinstance(members, list):
            return None
        if not all(isinstance(member, str | int | float) for member in members):
            return None
        if any(str(member).startswith("{") for member in members):
            return None
        lists.append([str(member) for member in members])
    return lists or None


def _written_choices(texts: list[str]) -> list[list[str]] | None:
    """Choices as lists, as the tables of Label Studio have them.

    Several choices are `{"choices": ["joy", "fear"]}`, one is plain text. None if no cell has
    several.
    """
    lists = []
    for text in texts:
        cell = parsed_cell(text) if text.lstrip().startswith('{"choices"') else None
        choices = [text] if cell is None else cell.get("choices")
        if not isinstance(choices, list) or not all(isinstance(one, str) for one in choices):
            return None
        if cell is not None and len(cell) > 1:
            return None
        lists.append(choices)
    return lists if any(text.lstrip().startswith('{"choices"') for text in texts) else None


# ---- what is refused ----


def _deeply_parsed(value: Any) -> Any:
    """A list or an object; members of a list may be written as texts. None if it is neither."""
    if isinstance(value, str):
        value = parsed_cell(value)
    if not isinstance(value, list):
        return value if isinstance(value, dict) else None
    inner = [_deeply_parsed(one) if isinstance(one, str | list) else None for one in value]
    return [one if cell is None else cell for one, cell in zip(value, inner, strict=True)]


def _check_objects(rows: Rows, column: str, question: str, cells: dict[int, Any]) -> None:
    """Refuse answers that are JSON objects, as exports of annotation tools contain them."""
    for code, cell in cells.items():
        if isinstance(cell, dict) or any(isinstance(one, dict) for one in cell):
            place, text = _place_and_text(rows, column, code)
            raise DataError(
                f"{place}: the answer to {question!r} is a JSON object, found {text}; write a row "
                "for each annotator, with the answer alone in a column"
            )


def _check_spans(
    rows: Rows, column: str, question: str, cells: dict[int, Any], n_used: int
) -> None:
    """Refuse answers that are spans: lists of lists such as [10, 28, "Subject"]."""
    lists = {code: cell for code, cell in cells.items() if isinstance(cell, list) and cell}
    spans = [code for code, members in lists.items() if any(map(_is_span, members))]
    if not spans and len(cells) == n_used:  # a single span in each cell
        spans = list(lists) if all(_is_span(one, labelled=True) for one in lists.values()) else []
    if spans:
        place, text = _place_and_text(rows, column, spans[0])
        raise DataError(
            f"{place}: the answer to {question!r} is a list of spans (start, end), found {text}; "
            "spans are not read: name a column of values (answer=, --answer)"
        )


def _is_span(members: Any, labelled: bool = False) -> bool:
    """Whether this is [start, end, ...]: two whole numbers in order, and perhaps labels.

    Args:
        labelled: whether a label must follow, because two numbers alone may be two values.
    """
    if not isinstance(members, list | tuple) or len(members) < 2 + labelled:
        return False
    ends = [str(end) for end in members[:2]]
    if not all(end.isdecimal() and len(end) < 20 for end in ends):
        return False
    labels = all(isinstance(one, str) and as_numbers([one]) is None for one in members[2:])
    return int(ends[0]) <= int(ends[1]) and (labels or not labelled)


def _place_and_text(rows: Rows, column: str, code: int) -> tuple[str, str]:
    """Where a value is first, and the value, shortened."""
    cells = rows.columns[column]
    text = cells.values[code].as_py()
    row = int((cells.codes == code).argmax())
    return rows.at(row), text if len(text) <= 60 else f"{text[:60]}..."


# ---- several answers in a cell: "joy|fear", "joy; fear", lines ----


def separator_of(texts: Sequence[str]) -> str | None:
    """What separates the answers in a column's distinct cells; None if each is one answer.

    Example:
        >>> separator_of(["joy|fear", "joy", "fear"]), separator_of(["yes", "no"])
        ('|', None)
    """
    cells = [text.strip() for text in texts if text.strip()]
    for separator in SEPARATORS:
        joined = [cell for cell in cells if separator in cell]
        if not joined:
            continue
        parts = [split_cell(cell, separator) for cell in cells]
        n_cells = Counter(part for cell in parts for part in set(cell))
        alone = {cell[0] for cell in parts if len(cell) == 1}
        inside = {part for cell in parts if len(cell) > 1 for part in cell}
        known = [part for part in inside if n_cells[part] > 1 or part in alone]
        letters = sum(map(len, inside)) / max(len(inside), 1)
        if inside and len(known) >= KNOWN * len(inside) and letters <= MOST_LETTERS:
            return separator
    return None


def split_cell(text: str, separator: str) -> list[str]:
    """The answers in a cell, each once.

    Example:
        >>> split_cell("joy | fear|joy", "|")
        ['joy', 'fear']
    """
    parts = (part.strip() for part in text.replace("\r\n", "\n").split(separator))
    return list(dict.fromkeys(part for part in parts if part))


def separator_name(separator: str) -> str:
    """A separator for a note."""
    return "line breaks" if separator == "\n" else repr(separator)
