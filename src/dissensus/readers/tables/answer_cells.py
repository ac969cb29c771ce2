"""Answer cells: what the cells of an answer column contain: values, lists of values, or neither."""

from __future__ import annotations

import ast
import json
from typing import Any

import numpy as np

from dissensus.errors import DataError, listed
from dissensus.readers.separators import separator_name, separator_of, split_cell
from dissensus.readers.tables.rows import Rows
from dissensus.scales import Scale, as_numbers

MOST_LOOKED_AT = 1000  # distinct answers that are looked at for spans


def cell_values(
    rows: Rows, column: str, question: str, counts: np.ndarray, declared: Scale | str | None
) -> tuple[list[str], bool, tuple[str, ...]]:
    """The distinct texts of a column, whether they are JSON lists (sets of values), and notes.

    Lists of one value each are plain values if the declared scale has single values. Cells with
    several values, such as "joy|fear", are sets. Spans and other JSON are refused.

    Args:
        counts: how often each text is an answer, (n_values,).
    """
    _check_spans(rows, column, question, counts)
    texts: list[str] = rows.columns[column].values.to_pylist()
    lists = None if column in rows.sets else _written_lists(texts) or _written_choices(texts)
    kind = declared if isinstance(declared, str) else getattr(declared, "kind", "multi-label")
    notes: tuple[str, ...] = ()
    if lists is None and column not in rows.sets and kind.startswith(("multi-label", "multilabel")):
        lists, notes = _separated(texts, np.flatnonzero(counts).tolist())
    is_set = column in rows.sets or lists is not None
    values = lists or texts
    if is_set and not kind.startswith(("multi-label", "multilabel")):
        values, is_set = _single_values(rows, column, values, kind), False
    _check_objects(rows, column, question, values, counts)
    return values, is_set, notes


def _separated(texts: list[str], used: list[int]) -> tuple[list[str] | None, tuple[str, ...]]:
    """Texts with several values as JSON lists, and a note; `[]` is the empty set."""
    separator = separator_of([texts[code] for code in used if texts[code].strip() != "[]"])
    if separator is None:
        return None, ()
    parts = [[] if text.strip() == "[]" else split_cell(text, separator) for text in texts]
    note = f"cells split at {separator_name(separator)} into sets of values"
    return [json.dumps(members, ensure_ascii=False) for members in parts], (note,)


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


def _written_lists(texts: list[str]) -> list[str] | None:
    """Texts that are lists in JSON or Python, as JSON; None if one is not a list of values."""
    lists = []
    for text in texts:
        if not (text.strip().startswith("[") and text.strip().endswith("]")):
            return None
        try:
            members = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return None
        if not all(isinstance(member, str | int | float) for member in members):
            return None
        lists.append(json.dumps([str(member) for member in members], ensure_ascii=False))
    return lists or None


def _written_choices(texts: list[str]) -> list[str] | None:
    """Choices as JSON lists, as the tables of Label Studio have them.

    Several choices are `{"choices": ["joy", "fear"]}`, one is plain text. None if no cell has
    several.
    """
    choices = {text: _choices(text) for text in texts if text.lstrip().startswith('{"choices"')}
    if not choices or None in choices.values():
        return None
    lists = (choices.get(text) or [text] for text in texts)
    return [json.dumps(members, ensure_ascii=False) for members in lists]


def _choices(text: str) -> list[str] | None:
    """The choices of a JSON object that contains nothing else."""
    try:
        content = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return None
    choices = content.get("choices") if isinstance(content, dict) and len(content) == 1 else None
    plain = isinstance(choices, list) and all(isinstance(choice, str) for choice in choices)
    return choices if plain else None


# ---- what is refused ----


def _check_objects(
    rows: Rows, column: str, question: str, values: list[str], counts: np.ndarray
) -> None:
    """Refuse answers that are JSON objects, as exports of annotation tools contain them."""
    for code in np.flatnonzero(counts):
        text = values[code].lstrip()
        if text.startswith(("{", "[{", '["{')) and _contains_object(text):
            row = int((rows.columns[column].codes == code).argmax())
            raise DataError(
                f"{rows.at(row)}: the answer to {question!r} is a JSON object, found "
                f"{_shortened(text)}; write a row for each annotator, with the answer alone in a "
                "column"
            )


def _contains_object(text: str) -> bool:
    """Whether this is a JSON object, or a list of such, which may be written as texts."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if isinstance(content, list):
        return any(isinstance(one, dict) or _contains_object(one) for one in content if one)
    return isinstance(content, dict)


def _check_spans(rows: Rows, column: str, question: str, counts: np.ndarray) -> None:
    """Refuse answers that are spans: lists of lists such as [10, 28, "Subject"]."""
    texts = rows.columns[column].values.to_pylist()
    used = np.flatnonzero(counts)[:MOST_LOOKED_AT].tolist()
    codes = [code for code in used if texts[code].lstrip().startswith("[")]
    lists = {code: members for code in codes if (members := _parsed_list(texts[code]))}
    spans = [code for code, members in lists.items() if any(map(_is_span, members))]
    if not spans and len(codes) == len(used):  # a single span in each cell
        spans = list(lists) if all(_is_span(one, labelled=True) for one in lists.values()) else []
    if spans:
        row = int((rows.columns[column].codes == spans[0]).argmax())
        raise DataError(
            f"{rows.at(row)}: the answer to {question!r} is a list of spans (start, end), found "
            f"{_shortened(texts[spans[0]])}; spans are not read: name a column of values (answer=, "
            "--answer)"
        )


def _parsed_list(text: str) -> list[Any] | None:
    """The list that a text is in JSON or Python; its members may be lists written as texts."""
    try:
        members = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    if not isinstance(members, list):
        return None
    inner = [_parsed_list(one) if _is_written_list(one) else None for one in members]
    return [one if list_ is None else list_ for one, list_ in zip(members, inner, strict=True)]


def _is_written_list(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("[") and value.endswith("]")


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


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}..."
