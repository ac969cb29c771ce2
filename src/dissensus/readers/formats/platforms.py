"""Batches of Mechanical Turk and pools of Toloka: tables with a row per task and assignment.

    HITId,AssignmentId,WorkerId,AssignmentStatus,Input.tweet,Answer.mood.label,...
    INPUT:image  OUTPUT:result  GOLDEN:result  ASSIGNMENT:task_id  ASSIGNMENT:worker_id  ...

An item is a HIT or a task, or its content if it has no id. A question is a column with the prefix
of answers; boxes and buttons, a column of "true" and "false" for each value (`Answer.mood.joy`),
are one question. Assignments that were rejected, skipped or expired are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from dissensus.corpus import Corpus
from dissensus.errors import DataError, listed
from dissensus.readers.delimited import delimited_rows
from dissensus.readers.exports.responses import (
    Left,
    by_reason,
    check_known,
    export_corpus,
    shown_content,
)
from dissensus.readers.json_text import set_text
from dissensus.readers.layout import Layout
from dissensus.readers.tables import cleaning
from dissensus.readers.tables.cleaning import Status, reasons_of
from dissensus.readers.tables.column_roles import ColumnRoles
from dissensus.readers.tables.rows import Column, Rows, cells_of, take_rows

TICKS = frozenset(("true", "false"))
MANY = 20  # different texts, above which an answer may be a free text
_NUMBERED = re.compile(r"(.*?)[._ ]?(\d+)")


@dataclass(frozen=True)
class Platform:
    """The names of a platform's columns."""

    tool: str
    shown: str  # the prefix of content columns; `answer` and `gold` are prefixes too
    answer: str
    item: str
    annotator: str
    response: str
    status: Status
    gold: str | None = None
    seconds: str | None = None


MTURK = Platform(
    "Mechanical Turk",
    shown="Input.",
    answer="Answer.",
    item="HITId",
    annotator="WorkerId",
    response="AssignmentId",
    status=cleaning.MTURK,
    seconds="WorkTimeInSeconds",
)
TOLOKA = Platform(
    "Toloka",
    shown="INPUT:",
    answer="OUTPUT:",
    item="ASSIGNMENT:task_id",
    annotator="ASSIGNMENT:worker_id",
    response="ASSIGNMENT:assignment_id",
    status=cleaning.TOLOKA,
    gold="GOLDEN:",
)


def _read(path: Path, options: Layout, platform: Platform) -> Corpus:
    """Read a table of a platform; options may name the answers and the content."""
    notes: list[str] = []
    rows = delimited_rows(path, options, short_rows=True)
    rows.check([platform.annotator])
    rows = _unfolded(rows, platform, notes)
    sets: set[str] = set()
    answers = _answers(rows, options, platform, sets, notes)
    reasons = reasons_of(rows, platform.status)
    left = Left((question, why) for question in answers for why in reasons if why is not None)
    kept = np.array([why is None for why in reasons])
    if not kept.any():
        raise DataError(f"{path}: no answers: {by_reason(left)}")
    named = _renamed(rows, answers, platform)
    columns = {new: rows.columns[old] for old, new in named.items()} | answers
    batch = take_rows(replace(rows, columns=columns, sets=frozenset(sets & {*answers})), kept)
    roles, missing_media = _roles(batch, tuple(answers), named, options, platform)
    return export_corpus(batch, roles, options, platform.tool, left, notes, missing_media)


read_mturk = partial(_read, platform=MTURK)
read_toloka = partial(_read, platform=TOLOKA)


def _unfolded(rows: Rows, platform: Platform, notes: list[str]) -> Rows:
    """Rows with several items (Input.x1, Input.x2 and Answer.y1, Answer.y2) as a row for each."""
    numbered = {p: _numbered(rows.columns, p) for p in (platform.shown, platform.answer)}
    shown_numbers, numbers = ({n for of in one.values() for n in of} for one in numbered.values())
    both = sorted(shown_numbers & numbers, key=int)
    if len(both) < 2:
        return rows
    stems = {
        f"{prefix}{stem}": of
        for prefix, names in numbered.items()
        for stem, of in names.items()
        if len(of.keys() & {*both}) > 1
    }
    taken = {of[number] for of in stems.values() for number in both if number in of}
    columns: dict[str, Column] = {
        f"{name} (row)" if name in stems else name: replace(
            column, codes=np.repeat(column.codes, len(both))
        )
        for name, column in rows.columns.items()
        if name not in taken
    }
    blank = Column(pa.array([], pa.string()), np.full(rows.n_rows, -1))
    for name, of in stems.items():
        columns[name] = cells_of([rows.columns.get(of.get(n, ""), blank) for n in both])
    shown = [columns[name] for name in stems if name.startswith(platform.shown)]
    columns[platform.item] = _items_of(rows, platform, shown, both)
    bare = {name: name.removeprefix(platform.answer) for name in columns if name not in stems}
    alone = [short for name, short in bare.items() if short != name]
    columns = {bare.get(name, name): column for name, column in columns.items()}
    notes.append(
        f"{len(both)} items in each row, numbered {both[0]} to {both[-1]}, are read as an item each"
    )
    if alone:
        notes.append(f"answered once for all items of a row, not read: {', '.join(alone)}")
    return replace(
        rows,
        columns=columns,
        place=lambda row: f"{rows.place(row // len(both))}, item {both[row % len(both)]}",
    )


def _numbered(names: Iterable[str], prefix: str) -> dict[str, dict[str, str]]:
    """Name without prefix and number -> number -> name, where several differ in the number only."""
    stems: dict[str, dict[str, str]] = {}
    for name in names:
        match = _NUMBERED.fullmatch(name.removeprefix(prefix)) if name.startswith(prefix) else None
        if match:
            stems.setdefault(match[1] or "item", {})[match[2]] = name
    return {stem: of for stem, of in stems.items() if len(of) > 1}


def _items_of(rows: Rows, platform: Platform, shown: list[Column], numbers: list[str]) -> Column:
    """The item of each unfolded row: by content if no worker saw the same content twice."""
    joined = np.unique(np.stack([c.codes for c in shown], axis=1), axis=0, return_inverse=True)[1]
    joined = joined.reshape(-1)
    workers = np.repeat(rows.columns[platform.annotator].codes, len(numbers))
    pairs = np.unique(np.stack([joined, workers], axis=1), axis=0)
    n_contents = int(joined.max()) + 1
    if len(pairs) == len(joined) and all((c.codes >= 0).all() for c in shown):
        alone = [c for c in shown if len(c.values) == n_contents]
        if alone:
            return min(alone, key=lambda c: sum(map(len, c.values.to_pylist())))
    tasks = rows.columns.get(platform.item)
    names = [(tasks and tasks[row]) or f"row {row + 1}" for row in range(rows.n_rows)]
    texts = [f"{name}-{number}" for name in names for number in numbers]
    return Column.of(pa.array(texts, pa.string()))


# ---- answers ----


def _answers(
    rows: Rows, options: Layout, platform: Platform, sets: set[str], notes: list[str]
) -> dict[str, Column]:
    """The answers by question; check boxes of one question are joined, free texts left out.

    Args:
        sets: questions whose answers are sets are added to it.
    """
    prefix = platform.answer
    columns = {n.removeprefix(prefix): c for n, c in rows.columns.items() if n.startswith(prefix)}
    boxes = _boxes(columns)
    boxed = {name for parts in boxes.values() for name in parts.values()}
    answers = {name: column for name, column in columns.items() if name not in boxed}
    for name, parts in boxes.items():
        answers[name] = _ticked({value: columns[box] for value, box in parts.items()}, name, sets)
    short = {name: name.removesuffix(".labels").removesuffix(".label") for name in answers}
    if len(set(short.values())) < len(short):
        short = {name: name for name in answers}
    short = {old: f"{prefix}{n}" if n in rows.columns else n for old, n in short.items()}
    answers = {short[name]: column for name, column in answers.items()}
    sets |= {short[name] for name in sets}
    if options.answer is not None:
        wanted = [n if n in answers else n.removeprefix(prefix) for n in options.answer]
        check_known(rows.path, wanted, answers, "answers")
        return {name: answers[name] for name in wanted}
    free = [name for name, column in answers.items() if name not in sets and _is_free(column)]
    if free and len(free) < len(answers):
        notes.append(f"free texts, not read as answers: {listed(free)}")
        return {name: column for name, column in answers.items() if name not in free}
    return answers


def _boxes(columns: dict[str, Column]) -> dict[str, dict[str, str]]:
    """Question -> value -> column, of check boxes that are called `QUESTION.VALUE`."""
    boxes: dict[str, dict[str, str]] = {}
    for name, column in columns.items():
        question, dot, value = name.rpartition(".")
        values = {str(cell).strip().lower() for cell in column.values.to_pylist()}
        if dot and question not in columns and values and values <= TICKS:
            boxes.setdefault(question, {})[value] = name
    return {question: parts for question, parts in boxes.items() if len(parts) > 1}


def _ticked(boxes: dict[str, Column], question: str, sets: set[str]) -> Column:
    """The checked values of each row: one value if every row has one, otherwise a set."""
    cells = list(zip(*(column.array().to_pylist() for column in boxes.values()), strict=True))
    chosen = [
        [value for value, cell in zip(boxes, row, strict=True) if str(cell).lower() == "true"]
        if any(cell is not None for cell in row)
        else None
        for row in cells
    ]
    if all(checked is None or len(checked) == 1 for checked in chosen):
        return Column.of(pa.array([one[0] if one else None for one in chosen], pa.string()))
    sets.add(question)
    texts = [None if checked is None else set_text(checked) for checked in chosen]
    return Column.of(pa.array(texts, pa.string()))


def _is_free(column: Column) -> bool:
    """Whether most answers differ and are not numbers: free texts."""
    texts = [text for text in column.array().to_pylist() if text and text.strip() != "{}"]
    words = [text for text in set(texts) if not re.fullmatch(r"[-+.\d]+", text.strip())]
    return not texts or (len(words) > MANY and len(words) > len(texts) / 2)


# ---- roles ----


def _renamed(rows: Rows, answers: dict[str, Column], platform: Platform) -> dict[str, str]:
    """The columns besides answers, old name -> new: without a prefix if no other has that name."""
    named = {}
    for name in rows.columns:
        bare = name.removeprefix(platform.shown)
        taken = bare in answers or (bare != name and bare in rows.columns)
        if not name.startswith(platform.answer):
            named[name] = name if taken else bare
    return named


def _roles(
    batch: Rows,
    answers: tuple[str, ...],
    named: dict[str, str],
    options: Layout,
    platform: Platform,
) -> tuple[ColumnRoles, list[str]]:
    """The roles of the columns, and the columns of media files that do not exist."""
    columns = batch.columns
    shown_ones = [new for old, new in named.items() if old.startswith(platform.shown)]
    if options.text is not None:
        text = tuple(named.get(f"{platform.shown}{t}", named.get(t, t)) for t in options.text)
        options = replace(options, text=text)
    whole = platform.item in columns and columns[platform.item].first_blank is None
    item = platform.item if whole else None
    shown, missing_media = shown_content(batch, options, item, shown_ones)
    item = missing_media[0] if item is None and missing_media else item
    if item is None and not shown:
        raise DataError(
            f"{batch.path}: no items: there is neither {platform.item!r} nor a content column"
        )
    seconds = columns.get(platform.seconds or "")
    gold = {question: f"{platform.gold}{question}" for question in answers}
    return ColumnRoles(
        item,
        platform.annotator,
        answers,
        shown,
        gold={q: name for q, name in gold.items() if name in columns and columns[name].values},
        seconds=platform.seconds if seconds and seconds.numbers() is not None else None,
        response=platform.response if platform.response in columns and len(answers) > 1 else None,
    ), missing_media
