"""What the readers of annotation tools' exports share: a table of texts whose columns are known."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from dissensus.corpus import Corpus, LeftOut
from dissensus.errors import DataError, listed
from dissensus.readers.files import head, read_utf8
from dissensus.readers.json_text import half_letter, objects, set_text, unit_of
from dissensus.readers.options import Options
from dissensus.readers.tables.answers import described
from dissensus.readers.tables.assembly import assemble
from dissensus.readers.tables.column_names import kind_of
from dissensus.readers.tables.column_roles import ColumnRoles, shown_columns
from dissensus.readers.tables.notes import amounts, remarks
from dissensus.readers.tables.rows import Rows, make_rows

ITEM, PERSON, SECONDS = "(item)", "(annotator)", "(seconds)"  # columns that no export has
_OPENING = re.compile(r"\s*(\[\s*)?\{")
Left = Counter[tuple[str, str]]  # (question, reason) -> answers that are not read


def check_options(
    path: Path, options: Options, tool: str, may: Iterable[str] = (), plain: str = "jsonl"
) -> None:
    """Refuse to be told what an export says itself.

    Args:
        may: the parts that may be named all the same.
        plain: the format that reads it as a table.
    """
    told = [part for part in options.columns_named if part not in may]
    told += ["merge_variants"] if options.merge_variants else []
    if told:
        raise DataError(
            f"{path}: an export of {tool} says itself what is what; leave {listed(told)} out, or "
            f'say format="{plain}" (--format {plain}) to read it as a table'
        )


def opens_with(path: Path, *keys: str) -> bool:
    """Whether a file opens with an object, alone or in an array, where all these patterns are."""
    opening = head(path, 1 << 16).decode("utf-8-sig", errors="replace")
    return bool(_OPENING.match(opening)) and all(re.search(key, opening) for key in keys)


def entries(path: Path, encoding: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a file, and where each stands: "line 3", or "entry 3" of an array."""
    text = read_utf8(path, encoding).decode("utf-8")
    unit = unit_of(text)
    for number, found in objects(text, path):
        yield f"{unit} {number}", found


def table(
    path: Path,
    columns: dict[str, list[str | None]],
    places: list[str],
    sets: Iterable[str] = (),
) -> Rows:
    """Columns of texts as rows.

    Args:
        places: where each row stands, such as "line 3".
        sets: the columns whose texts are lists, as JSON.
    """
    arrays = []
    for name, column in columns.items():
        try:
            arrays.append(pa.array(column, pa.string()))
        except UnicodeEncodeError:
            raise half_letter(name, column, path, places.__getitem__) from None
    return make_rows(
        list(columns),
        arrays,
        str(path),
        name=path.name,
        place=places.__getitem__,
        folder=path.resolve().parent,
        sets=frozenset(sets),
    )


def corpus_of(
    rows: Rows,
    roles: ColumnRoles,
    options: Options,
    tool: str,
    left: Left,
    said: Iterable[str] = (),
    known: Mapping[str, int] | None = None,
) -> Corpus:
    """The corpus that a table of answers is; its first note says what was recognised.

    Args:
        left: answers that are not read, or not in the table at all.
        said: further notes.
        known: question -> how many of its blank cells `left` counts already.
    """
    plain = replace(options, item=None, annotator=None, answer=None, text=None)
    assembled = assemble(rows, roles, plain)
    counted_left = Left()
    for question, reason, n in assembled.corpus.left_out:
        known_blank = (known or {}).get(question, 0) if reason == "no answer" else 0
        counted_left[question, reason] += n - known_blank
    counted_left += left  # which also drops what is 0
    more = tuple(LeftOut(question, reason, n) for (question, reason), n in counted_left.items())
    corpus = replace(assembled.corpus, left_out=more)
    asked = "; ".join(f"{q} ({described(a.scale)})" for q, a in corpus.questions.items())
    notes = [f"{tool}; {asked}; {amounts(corpus)}", *said]
    notes += [f"left out: {by_reason(left)}"] if left else []
    return replace(
        corpus, notes=tuple(f"{rows.name}: {line}" for line in notes + remarks(assembled))
    )


@dataclass
class Response:
    """What one person said of one item at one time."""

    place: str  # such as "line 3"
    item: str
    person: str | None
    answers: dict[str, list[str]]  # by question: a value, or as many as a set has
    beside: dict[str, str]  # what the export holds of the item: texts, paths, facts
    facts: dict[str, str] = field(default_factory=dict)  # of the response itself
    seconds: str | None = None
    reason: str | None = None  # why nothing of it is read, if so
    left: dict[str, str] = field(default_factory=dict)  # question -> why its answer is not read


def of_responses(
    path: Path,
    responses: list[Response],
    questions: Mapping[str, bool],
    options: Options,
    tool: str,
    said: Iterable[str],
    fields: Iterable[str] = (),
) -> Corpus:
    """The corpus of responses.

    Each response counts once for each question: as an answer, or as left out for a reason. Where
    some responses have an annotator, those without one are left out.

    Args:
        questions: whether the answers to each are sets.
        fields: of what stands beside answers, what was shown; found by their names if left out.
    """
    said = list(said)
    named = any(one.person for one in responses if one.reason is None)
    kept, left = [], Left()
    for one in responses:
        reason = one.reason or ("no annotator" if named and not one.person else None)
        if reason is None:
            kept.append(one)
        whys = dict.fromkeys(questions, reason) | one.left
        left.update((question, why) for question, why in whys.items() if why is not None)
    if not kept:
        raise DataError(f"{path}: no answers: {by_reason(left)}")
    if not named:
        said.append("nobody is named, so that answers are anonymous")
    columns: dict[str, list[str | None]] = {ITEM: [one.item for one in kept]}
    if named:
        columns[PERSON] = [one.person for one in kept]
    if any(one.seconds for one in kept):
        columns[SECONDS] = [one.seconds for one in kept]
    for question, is_set in questions.items():
        columns[question] = [_cell(one.answers.get(question), is_set) for one in kept]
    keys = [key for key in dict.fromkeys(k for one in kept for k in one.beside) if key.strip()]
    beside = {key: f"data.{key.strip()}" if key.strip() in columns else key.strip() for key in keys}
    columns |= {new: [one.beside.get(old) for one in kept] for old, new in beside.items()}
    for key in dict.fromkeys(key for one in kept for key in one.facts):
        columns[key] = [one.facts.get(key) for one in kept]
    rows = table(path, columns, [one.place for one in kept], [q for q, s in questions.items() if s])
    shown, away = shown_in(
        rows, options, ITEM, list(beside.values()), [beside[key] for key in fields if key in beside]
    )
    said += not_here(away)
    person, seconds = PERSON if named else None, SECONDS if SECONDS in columns else None
    roles = ColumnRoles(ITEM, person, tuple(questions), shown, seconds=seconds)
    known = Counter(question for one in kept for question in one.left)
    return corpus_of(rows, roles, options, tool, left, said, known)


def _cell(answers: list[str] | None, is_set: bool) -> str | None:
    if answers is None:
        return None
    return set_text(answers) if is_set else next(iter(answers), None)


def shown_in(
    rows: Rows, options: Options, item: str | None, may: list[str], fields: Sequence[str] = ()
) -> tuple[dict[str, str], list[str]]:
    """What was shown, role -> column, as the user, the export or names tell; and the columns of
    media that are not here.

    Args:
        may: the columns that can be shown at all; where there is one, it was.
        fields: those that were shown, where the export says so.
    """
    if options.text is not None:
        rows.check(options.text)
    if fields and options.text is None:
        shown = {kind_of(f): f for f in fields} if len(fields) == 1 else {f: f for f in fields}
    else:
        shown = shown_columns(
            rows, options, item, {name for name in rows.columns if name not in may}
        )
    if not shown and len(may) == 1:
        shown = {kind_of(may[0]): may[0]}
    away = [column for column in shown.values() if not _is_here(rows, column)]
    return {role: column for role, column in shown.items() if column not in away}, away


def _is_here(rows: Rows, column: str) -> bool:
    """Whether a column holds texts, or names one file at least that is here."""
    if kind_of(column) == "text":
        return True
    written = rows.columns[column].values.to_pylist()
    return any(os.path.isfile(os.path.join(rows.folder, path.strip())) for path in written)


def not_here(away: Iterable[str]) -> list[str]:
    """What is to be said of columns of media that are not here."""
    return [f"{column!r} names no file that is here; it is not read" for column in away]


def by_reason(left: Left) -> str:
    """How many answers are not read, by reason.

    Example:
        >>> by_reason(Counter({("rude", "ignored"): 2, ("odd", "ignored"): 1}))
        'ignored 3'
    """
    reasons = Counter[str]()
    for (_, reason), n in left.items():
        reasons[reason] += n
    return counts(reasons)


def counts(found: Mapping[str, int]) -> str:
    """What was counted, and how often: "ignored 3, rejected 1"."""
    return ", ".join(f"{name} {n}" for name, n in found.items())
