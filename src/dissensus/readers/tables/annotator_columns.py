"""Which columns of a table are annotators: none in a long table, several in a wide one.

Questions can stand beside one another as people do ("toxic", "insult"; "V", "A", "D"), and their
answers look alike. So columns are taken for people by themselves only if their names say so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import pyarrow.compute as pc

from dissensus.errors import DataError, listed
from dissensus.readers.options import Options
from dissensus.readers.tables.answers import NEVER
from dissensus.readers.tables.column_names import (
    NAMES,
    PAIR,
    answer_named,
    candidates,
    first_named,
    plain,
)
from dissensus.readers.tables.rows import Rows
from dissensus.scales import as_numbers

SMALL = 20  # values that a set of answers has at most, where names alone do not tell
MANY = 6  # columns that are numbered from 0 or 1 and are people, even if nobody missed an item

_WORDS = sorted({word.removesuffix("id").removesuffix("name") for word in NAMES["annotator"]})
_PERSON = "|".join([*_WORDS, "ann", "anno", "human", "turker", "subject", "student"])
_ANSWER = "label|answer|rating|annotation|judgment|judgement|vote"
_SURE = re.compile(rf"({_ANSWER})?({_PERSON})(id)?\d+({_ANSWER})?")  # ann_1, worker851_label
_SLOT = re.compile(
    rf"({_ANSWER})({_PERSON})?\d+|({_PERSON})\d+({_ANSWER})"
)  # label_1, beside names
_LETTERED = re.compile(rf"(?i:{_PERSON})([ _.-]+[A-Za-z]|[A-Z])")  # Rater A, coder_b; not "raters"
_LIKELY = re.compile(rf"({_ANSWER}|[aprwju])?\d+")  # label_1, w851, 17
_ADDRESS = re.compile(r"A[0-9A-Z]{9,}|\S+@\S+")  # of a worker of Mechanical Turk, of a letter
_APART = frozenset(
    "mean avg average median mode majority mv aggregate aggregated consensus final adjudicated sd "
    "std stdev var variance entropy agreement alpha kappa sum total soft hard pred predicted "
    "prediction model gpt chatgpt llm bert claude llama mistral gemini baseline machine auto prob "
    "probability confidence".split()
)
_OTHER_PARTS = ("item", "text", "image", "audio", "video", "gold", "seconds", "count", "split")


def find_people(rows: Rows, options: Options) -> tuple[str, ...] | None:
    """The columns that are an annotator each; None if this is a long table.

    Refused are columns that may be either, and people who answer in different ways.
    """
    people: tuple[str, ...] | None
    parts = ("annotator", "answer", "question")
    told = [f"{part}=" for part in parts if getattr(options, part) is not None]
    if options.annotators is not None or options.format == "wide":
        if told:
            raise DataError(
                f"{rows.path}: in a wide table the columns are the annotators, their cells the "
                f"answers; leave out {', '.join(told)}"
            )
        if options.annotators == ():
            raise DataError(
                f"{rows.path}: no annotator is named; leave annotators= out or name columns"
            )
        people = options.annotators or _all_alike(rows, options)
    elif options.format == "long" or told:
        return None
    else:
        people = _named_people(rows, options)
    if people is not None:
        rows.check(people)
        _check_kinds(rows, people, options)
    return people


def names_annotators(rows: Rows, options: Options) -> bool:
    """Whether columns are annotators by their names, or one holds the annotators' names."""
    sure = _surely_people(rows, _free(rows, options))
    return len(sure) > 1 or first_named("annotator", rows, sure) is not None


def _free(rows: Rows, options: Options) -> list[str]:
    """The columns that may be an annotator's."""
    return [name for name in rows.columns if name not in _named(options) and not is_apart(name)]


def _surely_people(rows: Rows, free: Iterable[str]) -> list[str]:
    return [name for name in free if _SURE.fullmatch(plain(name)) or _LETTERED.fullmatch(name)]


def is_apart(name: str) -> bool:
    """Whether a column is a summary or a machine's answer, by its name.

    Example:
        >>> [is_apart(name) for name in ("majorityVote", "label_mean", "gpt4", "ann_1")]
        [True, True, True, False]
    """
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)
    return any(word.lower() in _APART for word in words)


def _named_people(rows: Rows, options: Options) -> tuple[str, ...] | None:
    """The columns that are people by their names."""
    free = _free(rows, options)
    sure = _surely_people(rows, free)
    who = first_named("annotator", rows, sure)
    if who is not None and _shares(rows, who, sure):
        sure.append(who)  # an expert beside the crowd
        who = first_named("annotator", rows, sure)
    if who is not None:
        return None
    answer = answer_named(rows, sure)
    if len(sure) > 1:
        _check_pairs(rows, sure)
        if answer is None or _shares(rows, answer, sure):
            return tuple(name for name in rows.columns if name in sure)
        raise DataError(
            f"{rows.path}: {listed(sure)} look like annotators and {answer!r} like answers; say "
            'format="wide" if they answered (--format wide), format="long" if not (--format long)'
        )
    return None if answer is not None else _likely(rows, free)


def _check_pairs(rows: Rows, sure: list[str]) -> None:
    """Refuse columns that go in pairs: who it was (annotator_1), and what they said (label_1)."""
    slots = [name for name in rows.columns if _SLOT.fullmatch(plain(name))]
    others = [name for name in sure if name not in slots]
    if len(slots) > 1 and len(others) > 1:
        raise DataError(
            f"{rows.path}: {listed(others)} beside {listed(slots)}: who is the annotator? name "
            "the columns of answers (annotators=, --annotator-columns), or give every answer a row "
            "of its own"
        )


def _likely(rows: Rows, free: list[str]) -> tuple[str, ...] | None:
    """Columns that are people by their names and by answering from one small set."""
    found = [name for name in free if _LIKELY.fullmatch(plain(name)) or _ADDRESS.fullmatch(name)]
    values = set().union(*(_values(rows, name) for name in found))
    alike = all(_shares(rows, name, found) for name in found if _values(rows, name))
    if len(found) < 2 or not alike or len(values) > SMALL:
        return None
    gaps = sum(rows.columns[name].first_blank is not None for name in found)
    if len(found) == len(rows.columns) and _is_numbered(found) and gaps < 2 and len(found) < MANY:
        return None  # "0,1,2" may be the header of a long table that has no names
    return tuple(found)


def _is_numbered(names: list[str]) -> bool:
    numbers = [str(number) for number in range(len(names) + 1)]
    return names in (numbers[:-1], numbers[1:])


def _all_alike(rows: Rows, options: Options) -> tuple[str, ...]:
    """The people of a table that is known to be wide, by their names or else by their answers."""
    known = {name for part in _OTHER_PARTS for name in candidates(part, rows)} | _named(options)
    free = [name for name in rows.columns if name not in known and not is_apart(name)]
    free = [name for name in free if plain(name) not in PAIR and "unnamed" not in plain(name)]
    sure = _surely_people(rows, free)
    if len(sure) > 1:
        _check_pairs(rows, sure)
        return tuple(sure)
    found = [name for name in free if _shares(rows, name, free)]
    if len(found) < 2:
        raise DataError(
            f"{rows.path}: no columns of annotators recognised in {listed(rows.columns, 40)}; "
            "name them (annotators=, --annotator-columns)"
        )
    return tuple(found)


def _named(options: Options) -> set[str]:
    single = {name for name in (options.item, options.gold) if name is not None}
    return single | set(options.text or ())


def _values(rows: Rows, name: str) -> set[str]:
    """What a column holds, without what programs write for nothing."""
    column = rows.columns[name]
    if column.is_bytes:
        return set()
    trimmed = pc.utf8_trim_whitespace(column.values).to_pylist()
    return {value for value in trimmed if value.casefold() not in NEVER}


def _shares(rows: Rows, name: str, others: Iterable[str]) -> bool:
    """Whether a value of this column occurs in other columns too."""
    own = _values(rows, name)
    return any(own & _values(rows, other) for other in others if other != name)


def _check_kinds(rows: Rows, people: tuple[str, ...], options: Options) -> None:
    """Refuse people of whom some answer in numbers only and some in words only."""
    first: dict[str, str] = {}
    for name in people:
        kind = "sets" if name in rows.sets else _kind(_values(rows, name))
        if kind is not None:
            first.setdefault(kind, name)
    kinds = [kind for kind in ("numbers", "words", "sets") if kind in first]
    if len(kinds) < 2 or (options.scale is not None and "sets" not in kinds):
        return
    told = [f"{first[kind]!r} answers in {kind} ({_example(rows, first[kind])})" for kind in kinds]
    raise DataError(
        f"{rows.path}: {', '.join(told)}; name the columns that are annotators (annotators=, "
        "--annotator-columns), or declare a scale that holds both (scale=, --scale)"
    )


def _kind(values: set[str]) -> str | None:
    numeric = [as_numbers([value]) is not None for value in values]
    if not numeric or (any(numeric) and not all(numeric)):
        return None  # "1", "2", "3+" go with either
    return "numbers" if all(numeric) else "words"


def _example(rows: Rows, name: str) -> str:
    values = _values(rows, name)
    column = rows.columns[name].values.to_pylist()
    found = next(value for value in column if value.strip() in values)
    return repr(found if len(found) <= 40 else found[:40] + "...")
