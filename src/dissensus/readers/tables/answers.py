"""Answers: the texts of one question's column as stored answers on a scale."""

from __future__ import annotations

import json
import re
import shlex
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.errors import DataError, listed
from dissensus.names import split_names
from dissensus.readers.layout import Layout
from dissensus.readers.tables.answer_cells import cell_values
from dissensus.readers.tables.column_names import ORDERED, WORDS, plain
from dissensus.readers.tables.rows import FEW_VALUES, MISSING, Rows, at_rows, taken, value_counts
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

Declared = Scale | str | None
LONGEST_SHOWN = 40  # letters of a value
FREE = 0.5  # different values, as a share of the answers: more are free text
LONG = 60  # letters of a value, on average: longer ones are free text
FEWEST_ORDERED = 3  # words with an order that are in a column
SENTIMENT = {"negative", "neutral", "positive"}  # words that have an order, but are classes
MERGE = "merge_variants=True (--merge-variants) makes them one"
_COMMA = re.compile(r"[+-]?\d+,\d+")  # 1,5 for 1.5, as in much of Europe
# Words for a missing answer: as people write it, in signs; and what may mean it.
NOT_AVAILABLE = frozenset("na n/a n.a. #n/a #ref!".split())
DASHES = frozenset("- -- – —".split())
AMONG_NUMBERS = NOT_AVAILABLE | DASHES | {"none", "?", "??", ".", "/"}
NO_ANSWER = (-999, -99, -88, -77, -9, -8, 99, 999)  # among others that are not so
SUSPECTED = frozenset("missing unanswered skipped skip".split())


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers to one question: which rows have one, and what it is."""

    rows: np.ndarray  # (n,) positions in the table
    stored: np.ndarray  # (n,) as the scale stores them
    scale: Scale
    blank: np.ndarray  # positions of the rows without an answer
    notes: tuple[str, ...]


def answers_of(
    rows: Rows, column: str, question: str, chosen: np.ndarray, options: Layout, gold: bool = False
) -> Answers:
    """Read the answers in these rows of a column.

    Blank cells are left out, and so are words for a missing value (see `_missing`), which a note
    counts. Spellings of one value are the same answer, with a note, unless a scale is declared.

    Args:
        gold: whether the column contains gold labels, where "NA" and "none" are missing values
            unless the scale lists them.
    """
    rows.check_texts([column], "answers")
    cells = rows.columns[column]
    codes = at_rows(cells.codes, chosen)
    counts = value_counts(codes, len(cells.values))
    declared = options.scale.get(question) if isinstance(options.scale, Mapping) else options.scale
    if declared is None and column in rows.orders:
        declared = Ordinal(rows.orders[column])
    members = listed_values(declared)
    values, is_set, notes = cell_values(rows, column, question, counts, declared, members)
    if not is_set:
        values, comma_notes = _decimal_points(values, declared, rows, options)
        missing = _missing(values, counts, declared, options, gold)
        if words := _counted(values, counts, np.flatnonzero(missing & (counts > 0)).tolist()):
            notes.append(f"{words} read as no answer")
        counts[missing] = 0
        notes += _suspects(values, counts) if declared is None and not gold else []
        notes += comma_notes
    used = np.flatnonzero(counts).tolist()
    if not used:
        raise DataError(
            f"{rows.path}: no answers to {question!r}: {column!r} is blank in every row"
        )
    groups = [] if is_set else variants(values, counts)
    merged = options.merge_variants or (declared is None and not is_set)
    spelling: dict[str | float, str] = {}
    spelled = {code: values[code] for code in used}
    if declared is None and not is_set:
        spelled = {code: value.strip() for code, value in spelled.items()}
    if merged:  # as the scale lists it, or as it is spelled most often
        spelling = {spelling_key(values[group[0]]): spelled[group[0]] for group in groups}
        spelling |= {spelling_key(value): value for value in listed_values(declared)}
    if spelling:
        spelled = {code: spelling.get(spelling_key(v), v) for code, v in spelled.items()}
    texts = list(dict.fromkeys(spelled.values()))
    scale_notes: list[str] = []
    if declared is None and not is_set:
        scale, scale_notes = _inferred(texts, question, 0 if gold else int(counts.sum()))
    else:
        scale = _scale(texts, declared, is_set, f"{rows.path}: {question}")
    stored = _encoded([*spelled.values()], scale, is_set)
    if stored is None:
        off = [code for code, text in spelled.items() if _encoded([text], scale, is_set) is None]
        at = chosen[np.isin(codes, off)]
        raise _outside(rows.at(int(at[0])), question, scale, len(at), [values[c] for c in off])
    lookup = np.zeros(len(values), dtype=stored.dtype)
    lookup[used] = stored
    if groups and (options.merge_variants or not isinstance(scale, Interval)):
        shown = "; ".join(_counted(values, counts, group) for group in groups[:3])
        more = f"; and {len(groups) - 3} more" if len(groups) > 3 else ""
        apart = "merged", "declare the scale to keep them apart"
        became, advice = apart if merged else ("kept apart", MERGE)
        advice = "" if options.merge_variants else f"; {advice}"
        notes.append(f"spelled in several ways and {became}: {shown}{more}{advice}")
    answered = taken(np.r_[counts > 0, False], codes)
    kept, blank = chosen, chosen[:0]
    if not answered.all():
        kept, blank, codes = chosen[answered], chosen[~answered], codes[answered]
    return Answers(kept, taken(lookup, codes), scale, blank, (*notes, *scale_notes))


# ---- values ----


def _decimal_points(
    values: list[str], declared: Declared, rows: Rows, options: Layout
) -> tuple[list[str], list[str]]:
    """Numbers with a decimal comma with a point instead, and a note; others as they are.

    "1,5" may be a set of two values. So it is a number only on an interval scale, in a table whose
    delimiter is no comma, or if no set is written so: a first value that is not smaller, or more
    digits than one.
    """
    commas = [value.strip() for value in values if _COMMA.fullmatch(value.strip())]
    words = MISSING | AMONG_NUMBERS | _folded(options.missing)
    others = [one for value in values if (one := value.strip()) not in {*commas}]
    others = [one for one in others if one.casefold() not in words]
    if not commas or (others and as_numbers(others) is None) or any("." in one for one in others):
        return values, []
    pairs = [text.lstrip("+-").split(",") for text in commas]
    no_sets = any(len(second) > 1 or int(first) >= int(second) for first, second in pairs)
    if not (_is_interval(declared) or (declared is None and (rows.commas or no_sets))):
        return values, []
    points = [v.replace(",", ".") if _COMMA.fullmatch(v.strip()) else v for v in values]
    return points, [f"{listed(commas, 3)}: read as numbers with a decimal comma"]


def _missing(
    values: list[str], counts: np.ndarray, declared: Declared, options: Layout, gold: bool
) -> np.ndarray:
    """Which values mean a missing answer, (n_values,).

    A value that the declared scale lists never does, one that the layout names always. "nan",
    "null" and "<NA>", which programs write, do. "NA", "N/A", "none" and signs do among numbers;
    "NA", "N/A" and "-" also do among words, if no scale is declared and no other answer is a sign.
    """
    low = [value.strip().casefold() for value in values]
    on_scale = listed_values(declared)
    used = [low[code] for code in np.flatnonzero(counts).tolist()]
    others = list(on_scale) or [v for v in used if v not in MISSING | AMONG_NUMBERS]
    words = set(MISSING)
    if _is_interval(declared) or (len(others) > 1 and as_numbers(others) is not None):
        words |= AMONG_NUMBERS
    elif gold or (others and as_numbers(others) is not None):
        words |= {"na", "n/a", "none"}
    elif declared is None and len(others) > 1 and all(any(map(str.isalpha, v)) for v in others):
        words |= NOT_AVAILABLE | DASHES
    stated, pairs = _folded(options.missing), zip(values, low, strict=True)
    return np.array([t in stated or (t in words and v not in on_scale) for v, t in pairs], bool)


def _folded(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word.strip().casefold() for word in words)


def _suspects(values: list[str], counts: np.ndarray) -> list[str]:
    """A note about answers that may stand for a missing one."""
    used = np.flatnonzero(counts).tolist()
    words = {code: word for code in used if _is_suspect(word := values[code].strip())}
    numbers = as_numbers(values[code] for code in used)
    if numbers is not None and (odd := {*NO_ANSWER} & {*numbers}):
        most, least = (end({*numbers} - odd, default=0) for end in (max, min))
        odd = {one for one in odd if (one < 0 <= least) or (one > 0 and most <= FEW_VALUES)}
        words |= {c: values[c].strip() for c, one in zip(used, numbers, strict=True) if one in odd}
    if not words or len(words) == len(used):
        return []
    option = " ".join(f"--missing {shlex.quote(word)}" for word in words.values())
    how = f"missing={list(words.values())!r} ({option})"
    shown = _counted(values, counts, list(words)[:5])
    return [f"{shown} read as answers; if they mean no answer, use {how}"]


def _is_suspect(word: str) -> bool:
    is_sign = not any(map(str.isalnum, word)) and word not in ("+", "=")
    return is_sign or word.casefold() in SUSPECTED | NOT_AVAILABLE


def _counted(values: list[str], counts: np.ndarray, codes: list[int]) -> str:
    """Values, each with how often it occurs."""
    return ", ".join(f"{values[code]!r} ({counts[code]})" for code in codes)


# ---- spellings: values that differ only in case, outer space or the way to write a number ----


def spelling_key(text: str) -> str | float:
    """What the spellings of one value share."""
    bare = unicodedata.normalize("NFC", text.strip()).casefold()
    number = as_numbers([bare])
    if number is None:
        return bare
    whole = bare.lstrip("+-").isdecimal() and len(bare) < 1000  # beyond 2**53 too
    return int(bare) if whole else number[0]


def variants(values: list[str], counts: np.ndarray) -> list[list[int]]:
    """Groups of values that differ only in case, outer space, the way to write a number, or in
    how accents are encoded; the most frequent spelling of a group comes first."""
    used = np.flatnonzero(counts).tolist()
    numbers = as_numbers(values[code] for code in used)
    if numbers is not None and len(set(numbers)) == len(numbers):
        return []  # the quick way out for a million different ratings
    groups: dict[str | float, list[int]] = defaultdict(list)
    for code in used:
        groups[spelling_key(values[code])].append(code)
    several = (group for group in groups.values() if len(group) > 1)
    return [sorted(group, key=lambda code: -counts[code]) for group in several]


# ---- scales ----


def described(scale: Scale) -> str:
    """A scale in a few words.

    Example:
        >>> described(Interval(0, 10)), described(parse_scale("ordinal:1,2,3"))
        ('interval: 0 to 10', 'ordinal: 1, 2, 3')
    """
    if isinstance(scale, Interval):
        return f"{scale.kind}: {scale.low:g} to {scale.high:g}"
    texts = [value.strip().replace("\n", "\\n") for value in getattr(scale, "values", ())]
    values = [t if len(t) <= LONGEST_SHOWN else f"{t[:LONGEST_SHOWN]}..." for t in texts]
    more = f", ... ({len(values)} in total)" if len(values) > 8 else ""
    return f"{scale.kind}: {', '.join(values[:8])}{more}"


def listed_values(declared: Any) -> tuple[str, ...]:
    """The values that a declared scale lists; none for an interval, or scales by question."""
    if isinstance(declared, str) and not _is_interval(declared):
        values = declared.partition(":")[2]
        return tuple(split_names(values)) if values else ()
    return tuple(getattr(declared, "values", ())) if isinstance(declared, Scale) else ()


def _is_interval(declared: Declared) -> bool:
    of_kind = isinstance(declared, str) and declared.startswith("interval")
    return of_kind or isinstance(declared, Interval)


def _scale(texts: list[str], declared: Declared, is_set: bool, about: str) -> Scale:
    """The scale as declared, completed by the distinct answers."""
    if isinstance(declared, Scale):
        return declared
    try:
        if is_set and (declared is None or ":" not in declared):
            members = {value for text in texts for value in json.loads(text)}
            return MultiLabel(tuple(sorted_values(members)))
        return parse_scale(str(declared), texts)
    except DataError as error:
        raise DataError(f"{about}: {error}") from None


def _encoded(texts: list[str], scale: Scale, is_set: bool) -> np.ndarray | None:
    """Texts as stored answers; None if one is not on the scale."""
    answers: Any = texts
    if is_set:
        answers = [json.loads(text) for text in texts]
    elif not isinstance(scale, MultiLabel):
        answers = pa.array(texts, pa.string())
    try:
        return scale.encode(answers)
    except DataError:
        return None


def _inferred(texts: list[str], question: str, n_answers: int) -> tuple[Scale, list[str]]:
    """The scale of the distinct answers, and what else they may be: words with an order are levels,
    numbers of classes are names. Nothing is noted about 0 answers."""
    scale = infer_scale(texts)
    words = re.split(r"[\s_.-]+", question.casefold().strip(" _.-"))
    if not n_answers:
        return scale, []
    if isinstance(scale, Ordinal) and plain(words[-1]) in WORDS["class"]:
        return Nominal(tuple(sorted_values(scale.values))), [
            f"numbers of classes, by the name {question!r}, are read as nominal; if their order "
            'means something, use scale="ordinal" (--scale ordinal)'
        ]
    if not isinstance(scale, Nominal):
        return scale, []
    if ordered := ordered_values(texts):
        return Ordinal(tuple(ordered)), [
            f"words with an order are read as ordinal: {', '.join(map(str.strip, ordered))}; if "
            'their order means nothing, use scale="nominal" (--scale nominal)'
        ]
    letters = sum(map(len, texts)) / len(texts)
    if len(texts) > FEW_VALUES and (len(texts) > FREE * n_answers or letters > LONG):
        return scale, [
            f"{len(texts):,} different answers in {n_answers:,} rows look like free text; name "
            'another column (answer=, --answer), or use scale="nominal" (--scale nominal) if two '
            "answers agree only where they are the same letter for letter"
        ]
    strange = sorted({text for text in texts if as_numbers([text]) is None})
    commas = all(_COMMA.fullmatch(text.strip()) for text in strange)
    how = "correct these rows or leave them out"
    how = 'use scale="interval" (--scale interval)' if commas else how
    if strange and (commas or 2 * len(strange) < len(texts) - 1):
        return scale, [
            f"{listed(strange, 3)}: not read as numbers, so all answers are names; if they are "
            f"ratings, {how}"
        ]
    return scale, []


def ordered_values(values: Iterable[str]) -> list[str]:
    """Words with an order, from the lowest to the highest; none if they have no order, or are
    classes that have one, such as sentiments.

    Example:
        >>> ordered_values(["Agree", "STRONGLY DISAGREE", "neutral"]), ordered_values(["no", "yes"])
        (['STRONGLY DISAGREE', 'neutral', 'Agree'], [])
    """
    by_words = {" ".join(re.findall(r"\w+", value.casefold())): value for value in values}
    if len(by_words) < FEWEST_ORDERED or by_words.keys() == SENTIMENT:
        return []
    words = next((words for words in ORDERED if by_words.keys() <= set(words)), [])
    return [by_words[word] for word in words if word in by_words]


def _outside(
    where: str, question: str, scale: Scale, n_answers: int, off: Sequence[str]
) -> DataError:
    """The error for answers that are not on the scale: the place of the first, and their values."""
    key = spelling_key(off[0])
    near = [value for value in getattr(scale, "values", ()) if spelling_key(value) == key]
    advice = "correct it or declare another scale"
    if off[0].strip().casefold() in AMONG_NUMBERS:
        advice += ", or use missing= (--missing) if it means no answer"
    many = f"; {n_answers} such answers: {listed(off)}" if n_answers > 1 else ""
    return DataError(
        f"{where}: answer {off[0]!r} to {question!r} is not on the scale "
        f"({described(scale)}){many}; {f'{near[0]!r} is; {MERGE}' if near else advice}"
    )
