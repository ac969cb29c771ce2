"""Answer cells: lists, choices, spans and objects that cells of answers hold."""

from __future__ import annotations

import ast
import json
from typing import Any

import numpy as np

from dissensus.errors import DataError
from dissensus.readers.tables.rows import Rows
from dissensus.scales import (
    as_numbers,
)

MOST_LOOKED_AT = 1000  # distinct answers that are looked at for spans


def written_lists(values: list[str]) -> list[str] | None:
    """Lists that a table of texts holds, as JSON or Python writes them, as JSON; None if one of
    the texts is no list of values."""
    lists = []
    for text in values:
        if not (text.strip().startswith("[") and text.strip().endswith("]")):
            return None
        try:
            found = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return None
        if not all(isinstance(one, str | int | float) for one in found):
            return None
        lists.append(json.dumps([str(one) for one in found], ensure_ascii=False))
    return lists or None


def written_choices(values: list[str]) -> list[str] | None:
    """Lists of choices as JSON, as Label Studio's tables have them: `{"choices": ["joy", "fear"]}`
    for several, and one as it is; None if nobody chose several."""
    found = {text: _choices(text) for text in values if text.lstrip().startswith('{"choices"')}
    if not found or None in found.values():
        return None
    lists = (found.get(text) or [text] for text in values)
    return [json.dumps(chosen, ensure_ascii=False) for chosen in lists]


def _choices(text: str) -> list[str] | None:
    """The choices that an object of JSON is, if it is nothing else."""
    try:
        held = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return None
    chosen = held.get("choices") if isinstance(held, dict) and len(held) == 1 else None
    plain = isinstance(chosen, list) and all(isinstance(one, str) for one in chosen)
    return chosen if plain else None


def check_objects(
    rows: Rows, column: str, question: str, values: list[str], used: np.ndarray
) -> None:
    """Refuse answers that are objects of JSON, as exports of annotation tools hold them."""
    for code in used:
        found = values[code].lstrip()
        if found.startswith(("{", "[{", '["{')) and _holds_object(found):
            row = int((rows.columns[column].codes == code).argmax())
            shown = found if len(found) <= 60 else f"{found[:60]}..."
            raise DataError(
                f"{rows.at(row)}: the answer to {question!r} is a JSON object, found {shown}; "
                "write a row for each annotator, with the answer alone in a column"
            )


def check_spans(rows: Rows, column: str, question: str, counts: np.ndarray) -> None:
    """Refuse answers that are spans: lists of lists such as [10, 28, "Subject"]."""
    values = rows.columns[column].values.to_pylist()
    used = np.flatnonzero(counts)[:MOST_LOOKED_AT].tolist()
    lists = [code for code in used if values[code].lstrip().startswith("[")]
    filled = {code: held for code in lists if (held := _parsed_list(values[code]))}
    code = next((code for code, held in filled.items() if any(map(_is_span, held))), None)
    alone = len(lists) == len(used) and all(_is_span(held, True) for held in filled.values())
    if code is None and alone:
        code = next(iter(filled), None)
    if code is None:
        return
    row = int((rows.columns[column].codes == code).argmax())
    shown = values[code] if len(values[code]) <= 60 else f"{values[code][:60]}..."
    raise DataError(
        f"{rows.at(row)}: the answer to {question!r} is a list of spans (start, end), found "
        f"{shown}; spans are not read: name a column of values (answer=, --answer)"
    )


def _parsed_list(text: str) -> list[Any] | None:
    """The list that a text is in JSON or Python; its entries may be lists written as texts."""
    try:
        held = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    if not isinstance(held, list):
        return None
    nested = (_parsed_list(one) if _is_written_list(one) else None for one in held)
    return [one if inner is None else inner for one, inner in zip(held, nested, strict=True)]


def _is_written_list(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("[") and value.endswith("]")


def _is_span(held: Any, labelled: bool = False) -> bool:
    """Whether this is [start, end, ...]: two whole numbers in order, and perhaps labels.

    Args:
        labelled: whether there must be a label behind them, as two numbers may be two values.
    """
    if not isinstance(held, list | tuple) or len(held) < 2 + labelled:
        return False
    ends = [str(end) for end in held[:2]]
    if not all(end.isdecimal() and len(end) < 20 for end in ends):
        return False
    names = all(isinstance(one, str) and as_numbers([one]) is None for one in held[2:])
    return int(ends[0]) <= int(ends[1]) and (names or not labelled)


def _holds_object(text: str) -> bool:
    """Whether this is an object of JSON, or a list of such, which may be written as texts."""
    try:
        held = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if isinstance(held, list):
        return any(isinstance(one, dict) or _holds_object(one) for one in held if one)
    return isinstance(held, dict)
