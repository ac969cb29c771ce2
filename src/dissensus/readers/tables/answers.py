"""Answers: the texts of one question's column as stored answers on a scale."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.errors import DataError, listed
from dissensus.names import split_names
from dissensus.readers.options import Options
from dissensus.readers.tables.answer_cells import (
    check_objects,
    check_spans,
    written_choices,
    written_lists,
)
from dissensus.readers.tables.rows import Rows
from dissensus.readers.tables.spellings import spelling_key, spellings_note, variants
from dissensus.scales import (
    Interval,
    MultiLabel,
    Nominal,
    Ordinal,
    Scale,
    as_numbers,
    infer_scale,
    parse_scale,
    sorted_values,
)

NEVER = frozenset(("nan", "<na>", "null"))  # no answer, as programs write it
_COMMA = re.compile(r"[+-]?\d+,\d+")  # 1,5, as half of the world writes it
PERHAPS = frozenset(("na", "n/a", "none"))  # no answer among numbers; among words, a value


@dataclass(frozen=True, eq=False)
class Answers:
    """One question's answers: which rows hold one, and what it is."""

    rows: np.ndarray  # (n,) positions in the table
    stored: np.ndarray  # (n,) as the scale stores them
    scale: Scale
    blank: np.ndarray  # positions of the rows without an answer
    notes: tuple[str, ...]


def answers_of(
    rows: Rows,
    column: str,
    question: str,
    chosen: np.ndarray,
    options: Options,
    gold: bool = False,
) -> Answers:
    """Read the answers that stand in these rows of a column.

    Blank cells are left out, and so are words for a missing value (see `_missing`), which a note
    counts. Spellings of one value are kept apart with a note, unless `merge_variants` is set.

    Args:
        gold: whether the column holds gold labels, where "NA" and "none" are missing values
            unless the scale lists them.
    """
    held = rows.columns[column]
    if held.is_bytes:
        raise DataError(f"{rows.path}: column {column!r} holds bytes, not answers")
    codes = held.codes[chosen]
    counts = np.bincount(codes[codes >= 0], minlength=len(held.values))
    declared = declared_scale(question, options)
    if declared is None and column in rows.orders:
        declared = Ordinal(rows.orders[column])
    check_spans(rows, column, question, counts)
    values, is_set = _values(rows, column, declared)
    missing = np.zeros(len(values), dtype=bool)
    if not is_set:
        missing = _missing(values, counts, declared, gold)
    notes = _missing_notes(values, counts, missing)
    counts[missing] = 0
    used = np.flatnonzero(counts)
    if not len(used):
        raise DataError(f"{rows.path}: no answers to {question!r}: {column!r} is blank throughout")
    check_objects(rows, column, question, values, used)
    groups = [] if is_set else variants(values, counts)
    spelled = _spelled(values, declared, groups) if options.merge_variants else values
    texts = [spelled[code] for code in used]
    scale = _scale(texts, declared, is_set, f"{rows.path}: {question}")
    stored = _encoded(texts, scale, is_set)
    if stored is None:
        raise _outside(rows, question, scale, held.codes, chosen, used, values, texts, is_set)
    lookup = np.zeros(len(values), dtype=stored.dtype)
    lookup[used] = stored
    there = np.r_[counts > 0, False][codes]
    notes += _notes(values, counts, groups, declared, scale, options)
    notes += _stray(texts, declared, scale)
    return Answers(chosen[there], lookup[codes[there]], scale, chosen[~there], notes)


def _values(rows: Rows, column: str, declared: Scale | str | None) -> tuple[list[str], bool]:
    """The distinct texts, and whether they are JSON lists: sets of values.

    Lists of one value each are plain answers where a scale for such is declared.
    """
    values: list[str] = rows.columns[column].values.to_pylist()
    written = None if column in rows.sets else written_lists(values) or written_choices(values)
    is_set = column in rows.sets or written is not None
    values = written or values
    kind = declared if isinstance(declared, str) else getattr(declared, "kind", "multi-label")
    if not is_set or kind.startswith(("multi-label", "multilabel")):
        return values, is_set
    lists = [json.loads(value) for value in values]
    for code, found in enumerate(lists):
        if len(found) > 1:
            row = int((rows.columns[column].codes == code).argmax())
            raise DataError(
                f"{rows.at(row)}: {listed(found)} are several values; "
                f"declare a multi-label scale instead of {kind}"
            )
    return [found[0] if found else "nan" for found in lists], False


def declared_scale(question: str, options: Options) -> Scale | str | None:
    """What the user said of this question's scale."""
    if isinstance(options.scale, Mapping):
        return options.scale.get(question)
    return options.scale


def declared_values(options: Options) -> tuple[str, ...]:
    """The values that the declared scale lists, where it is one for all questions."""
    return () if isinstance(options.scale, Mapping) else _values_named(options.scale)


def described(scale: Scale) -> str:
    """A scale in a few words.

    Example:
        >>> described(Interval(0, 10)), described(parse_scale("ordinal:1,2,3"))
        ('interval: 0 to 10', 'ordinal: 1, 2, 3')
    """
    if isinstance(scale, Interval):
        return f"{scale.kind}: {scale.low:g} to {scale.high:g}"
    values = list(getattr(scale, "values", ()))
    more = f", ... ({len(values)} in all)" if len(values) > 8 else ""
    return f"{scale.kind}: {', '.join(values[:8])}{more}"


def _missing(
    values: list[str], counts: np.ndarray, declared: Scale | str | None, gold: bool
) -> np.ndarray:
    """Which values stand for a missing answer, (n_values,).

    A value that the declared scale lists never does. "nan", "null" and "<NA>", which programs
    write, always do. "NA", "N/A" and "none" do among numbers; among words they are values like
    any other, so that a declared scale has to list them.
    """
    plain = [value.strip().casefold() for value in values]
    never = np.array([text in NEVER for text in plain], dtype=bool)
    perhaps = np.array([text in PERHAPS for text in plain], dtype=bool)
    known = _values_named(declared)
    if perhaps.any() and not gold and not _is_numeric(declared):
        others = [values[code] for code in np.flatnonzero((counts > 0) & ~never & ~perhaps)]
        others = list(known) or others
        if not others or as_numbers(others) is None:
            perhaps[:] = False
    on_scale = np.array([value in set(known) for value in values], dtype=bool)
    return (never | perhaps) & ~on_scale


def _missing_notes(values: list[str], counts: np.ndarray, missing: np.ndarray) -> tuple[str, ...]:
    """A note that counts the words that are read as a missing answer."""
    words = [
        f"{values[code]!r} ({counts[code]})" for code in np.flatnonzero(missing & (counts > 0))
    ]
    return (f"{', '.join(words)} read as no answer",) if words else ()


def _is_numeric(declared: Scale | str | None) -> bool:
    """Whether a declared scale is one of numbers."""
    if isinstance(declared, str):
        return declared.startswith("interval")
    return isinstance(declared, Interval)


def _values_named(declared: Scale | str | None) -> tuple[str, ...]:
    """The values that a declaration lists; of an interval none."""
    if _is_numeric(declared):
        return ()
    if isinstance(declared, str):
        _, _, rest = declared.partition(":")
        return tuple(split_names(rest)) if rest else ()
    return tuple(getattr(declared, "values", ()))


def _spelled(values: list[str], declared: Scale | str | None, groups: list[list[int]]) -> list[str]:
    """Each value in one spelling: the scale's own, or else the most frequent."""
    spelling = {spelling_key(values[group[0]]): values[group[0]] for group in groups}
    spelling |= {spelling_key(value): value for value in _values_named(declared)}
    return [spelling.get(spelling_key(value), value) for value in values]


def _notes(
    values: list[str],
    counts: np.ndarray,
    groups: list[list[int]],
    declared: Scale | str | None,
    scale: Scale,
    options: Options,
) -> tuple[str, ...]:
    """What is to be said about values that are spelled in several ways."""
    if not groups:
        return ()
    if options.merge_variants:
        return (spellings_note(values, counts, groups, "merged"),)
    advice = "merge_variants=True (--merge-variants) makes them one"
    if isinstance(scale, Interval):  # to which 1 and 1.0 are the same; said where it was a guess
        told = spellings_note(values, counts, groups, "read as numbers")
        return () if declared is not None else (f"{told}; {advice}",)
    return (f"{spellings_note(values, counts, groups, 'kept apart')}; {advice}",)


def _stray(texts: list[str], declared: Scale | str | None, scale: Scale) -> tuple[str, ...]:
    """What is to be said where a few words among many numbers make words of all of them."""
    if declared is not None or not isinstance(scale, Nominal):
        return ()
    strange = sorted({text for text in texts if as_numbers([text]) is None})
    if strange and all(_COMMA.fullmatch(text.strip()) for text in strange):
        return (
            f"{listed(strange, 3)}: taken for names because of the comma; write it as a point "
            "(1.5) if these are numbers, or declare a multi-label scale if they are sets",
        )
    if not strange or 2 * len(strange) >= len(set(texts)) - 1:
        return ()
    are = "is no number" if len(strange) == 1 else "are no numbers"
    return (
        f"{listed(strange)} {are}, so that all answers are taken for names; correct it, or "
        "leave these rows out, if the others are ratings",
    )


def _scale(texts: list[str], declared: Scale | str | None, is_set: bool, about: str) -> Scale:
    """The scale as declared, completed or inferred from what was found."""
    if isinstance(declared, Scale):
        return declared
    try:
        if is_set and (declared is None or ":" not in declared):
            found = {value for text in texts for value in json.loads(text)}
            return MultiLabel(tuple(sorted_values(found)))
        distinct = list(dict.fromkeys(texts))
        return infer_scale(distinct) if declared is None else parse_scale(declared, distinct)
    except DataError as error:
        raise DataError(f"{about}: {error}") from None


def _encoded(texts: list[str], scale: Scale, is_set: bool) -> np.ndarray | None:
    """The distinct texts as stored answers; None if one is not on the scale."""
    answers: Any = texts
    if is_set:
        answers = [json.loads(text) for text in texts]
    elif not isinstance(scale, MultiLabel):
        answers = pa.array(texts, pa.string())
    try:
        return scale.encode(answers)
    except DataError:
        return None


def _outside(
    rows: Rows,
    question: str,
    scale: Scale,
    codes: np.ndarray,
    chosen: np.ndarray,
    used: np.ndarray,
    values: list[str],
    texts: list[str],
    is_set: bool,
) -> DataError:
    """What to say of answers that are not on the scale."""
    strange = np.array([_encoded([text], scale, is_set) is None for text in texts], dtype=bool)
    off = np.isin(codes[chosen], used[strange])
    row = int(chosen[off.argmax()])
    found = values[codes[row]]
    near = [
        value
        for value in getattr(scale, "values", ())
        if spelling_key(value) == spelling_key(found)
    ]
    advice = "correct it or declare another scale"
    if near:
        advice = f"{near[0]!r} is; merge_variants=True (--merge-variants) makes them one"
    elif found.strip().casefold() in PERHAPS:
        advice = "add it to the scale if it is an answer, or empty the cell if it means no answer"
    others = [values[code] for code in used[strange]]
    many = f"; {int(off.sum())} such answers: {listed(others)}" if off.sum() > 1 else ""
    return DataError(
        f"{rows.at(row)}: answer {found!r} to {question!r} is not on the scale "
        f"({described(scale)}){many}; {advice}"
    )
