"""Tables of crowdsourcing platforms: a row for each assignment, perhaps of several items.

Mechanical Turk (a batch), Toloka (a pool) and Figure Eight (CrowdFlower, Appen: a full report):

    HITId,AssignmentId,WorkerId,AssignmentStatus,Input.tweet,Answer.mood.label,...
    INPUT:image  OUTPUT:result  GOLDEN:result  ASSIGNMENT:task_id  ASSIGNMENT:worker_id  ...
    _unit_id,_id,_tainted,_trust,_worker_id,_country,sentence,relations,relations_gold

An item is a HIT, a task or a unit, or its content if it has no id. A question is a column with the
prefix of answers; boxes and buttons, a column of "true" and "false" for each value
(`Answer.mood.joy`), are one question. Figure Eight has no prefix: a question is a column that
differs between the judgments of a unit, and several answers in a cell are a set. Assignments that
were rejected, skipped, expired or tainted are left out.
"""

from __future__ import annotations

import re
from collections import Counter
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
    are_free,
    check_known,
    counts,
    export_corpus,
    shown_content,
)
from dissensus.readers.json_text import set_text
from dissensus.readers.layout import Layout
from dissensus.readers.tables import cleaning
from dissensus.readers.tables.answer_cells import separator_name, separator_of, split_cell
from dissensus.readers.tables.cleaning import Status, reasons_of
from dissensus.readers.tables.column_roles import ColumnRoles
from dissensus.readers.tables.rows import Column, Rows, cells_of, take_rows
from dissensus.readers.tables.shapes import table_corpus

TICKS = frozenset(("true", "false"))
MANY = 20  # different texts, above which an answer may be a free text
_NUMBERED = re.compile(r"(.*?)[._ ]?(\d+)")
Prepared = tuple[Rows, tuple[str, ...], dict[str, str], list[str]]  # with the names of answers, the
# new names of other columns, and those that can be content


@dataclass(frozen=True)
class Platform:
    """The names of a platform's columns."""

    tool: str
    item: str
    annotator: str
    response: str
    shown: str = ""  # the prefix of content columns
    answer: str = ""  # and of answers
    gold: str = ""  # the name of the gold labels of an answer; {} is the answer
    status: Status | None = None
    seconds: str | None = None


MTURK = Platform(
    "Mechanical Turk", "HITId", "WorkerId", "AssignmentId", shown="Input.", answer="Answer.",
    status=cleaning.MTURK, seconds="WorkTimeInSeconds",
)  # fmt: skip
TOLOKA = Platform(
    "Toloka", "ASSIGNMENT:task_id", "ASSIGNMENT:worker_id", "ASSIGNMENT:assignment_id",
    shown="INPUT:", answer="OUTPUT:", gold="GOLDEN:{}", status=cleaning.TOLOKA,
)  # fmt: skip
TAINTED, ABOUT_GOLD = "_tainted", ("_gold", "_gold_reason")
FIGURE_EIGHT = Platform("Figure Eight", "_unit_id", "_worker_id", "_id", gold="{}_gold")


def _read(path: Path, options: Layout, platform: Platform) -> Corpus:
    """Read a table of a platform; options may name the answers and the content."""
    notes: list[str] = []
    rows = delimited_rows(path, options, short_rows=bool(platform.answer))
    if platform is FIGURE_EIGHT and platform.annotator not in rows.columns:
        raise DataError(
            f"{path}: an aggregated report of {platform.tool}, with one answer for each unit; "
            "export the full report, which has a row for each judgment"
        )
    rows.check([platform.annotator])
    rows = _unfolded(rows, platform, notes) if platform.shown else rows
    rows, n_left = _counting(rows, platform)
    prepare = _judgments if platform is FIGURE_EIGHT else _assignments
    rows, answers, named, may = prepare(rows, options, platform, notes)
    if not answers:  # too few judgments to see which columns differ within a unit
        return table_corpus(rows, options)
    if options.text is not None:
        text = tuple(named.get(f"{platform.shown}{t}", named.get(t, t)) for t in options.text)
        options = replace(options, text=text)
    columns = rows.columns
    whole = platform.item in columns and columns[platform.item].first_blank is None
    item = platform.item if whole or not platform.answer else None
    shown, missing_media = shown_content(rows, options, item, may)
    item = missing_media[0] if item is None and missing_media else item
    if item is None and not shown:
        raise DataError(
            f"{rows.path}: no items: there is neither {platform.item!r} nor a content column"
        )
    gold = {question: platform.gold.format(question) for question in answers}
    seconds = columns.get(platform.seconds or "")
    roles = ColumnRoles(
        item,
        platform.annotator,
        answers,
        shown,
        gold={q: name for q, name in gold.items() if name in columns and columns[name].values},
        seconds=platform.seconds if seconds and seconds.numbers() is not None else None,
        response=platform.response if platform.response in columns and len(answers) > 1 else None,
    )
    left = Left({(question, why): n for question in answers for why, n in n_left.items()})
    return export_corpus(
        rows, roles, options, platform.tool, left, notes, missing_media, reasons=n_left
    )


def _counting(rows: Rows, platform: Platform) -> tuple[Rows, Counter[str]]:
    """The rows that count, and how many do not, by reason."""
    if platform.status is not None:
        reasons = reasons_of(rows, platform.status)
    else:
        column = rows.columns.get(TAINTED)
        cells = [None] * rows.n_rows if column is None else column.array().to_pylist()
        reasons = ["tainted" if str(cell).strip().casefold() == "true" else None for cell in cells]
    n_left = Counter(why for why in reasons if why is not None)
    if n_left.total() == rows.n_rows:
        raise DataError(f"{rows.path}: no answers: {counts(n_left)}")
    return take_rows(rows, np.array([why is None for why in reasons])), n_left


read_mturk = partial(_read, platform=MTURK)
read_toloka = partial(_read, platform=TOLOKA)
read_figure_eight = partial(_read, platform=FIGURE_EIGHT)


# ---- judgments of Figure Eight ----


def _judgments(rows: Rows, options: Layout, platform: Platform, notes: list[str]) -> Prepared:
    """Answers depend neither on the unit nor on the worker alone, contents on the unit."""
    rows.check([platform.item])
    units, workers = rows.columns[platform.item], rows.columns[platform.annotator]
    if options.answer is not None:
        rows.check(options.answer)
    answers = list(options.answer or ())
    may = []
    for name, column in rows.columns.items():
        filled = int((column.codes >= 0).sum())
        if name.startswith("_") or name.endswith(ABOUT_GOLD) or name in answers:
            continue
        constant = [column.is_constant(of) for of in (units, workers)]
        if constant[0]:
            may.append(name)
        elif options.answer is None and filled and not constant[1]:
            texts = column.values.to_pylist()
            if not are_free(texts, filled) or separator_of(texts) is not None:
                answers.append(name)
    columns, sets = dict(rows.columns), set(rows.sets)
    for name in answers:
        gold = f"{name}{ABOUT_GOLD[0]}"
        if gold in columns and columns[gold].conflict(units) is not None:
            del columns[gold]
        separator = separator_of(columns[name].values.to_pylist())
        if separator is None:
            continue
        for part in (name, gold):
            if part in columns and len(columns[part].values):
                codes, cells = columns[part].codes, columns[part].values.to_pylist()
                texts = pa.array([set_text(split_cell(cell, separator)) for cell in cells])
                columns[part] = Column.of(texts.take(pa.array(codes, mask=codes < 0)))
                sets.add(part)
        notes.append(f"{name}: several answers in a cell, separated by {separator_name(separator)}")
    return replace(rows, columns=columns, sets=frozenset(sets)), tuple(answers), {}, may


# ---- assignments of Mechanical Turk and Toloka ----


def _assignments(rows: Rows, options: Layout, platform: Platform, notes: list[str]) -> Prepared:
    """Answers and contents have a prefix each, which their names lose if no other column has it."""
    sets: set[str] = set()
    answers = _answers(rows, options, platform, sets, notes)
    named = {}
    for name in rows.columns:
        bare = name.removeprefix(platform.shown)
        taken = bare in answers or (bare != name and bare in rows.columns)
        if not name.startswith(platform.answer):
            named[name] = name if taken else bare
    columns = {new: rows.columns[old] for old, new in named.items()} | answers
    shown = [new for old, new in named.items() if old.startswith(platform.shown)]
    kept = replace(rows, columns=columns, sets=frozenset(sets & {*answers}))
    return kept, tuple(answers), named, shown


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


def _answers(
    rows: Rows, options: Layout, platform: Platform, sets: set[str], notes: list[str]
) -> dict[str, Column]:
    """The answers by question; check boxes of one question are joined, free texts left out.

    Args:
        sets: questions whose answers are sets are added to it.
    """
    prefix = platform.answer
    columns = {n.removeprefix(prefix): c for n, c in rows.columns.items() if n.startswith(prefix)}
    boxes: dict[str, dict[str, str]] = {}  # question -> value -> column, of `QUESTION.VALUE`
    for name, column in columns.items():
        question, dot, value = name.rpartition(".")
        values = {str(cell).strip().lower() for cell in column.values.to_pylist()}
        if dot and question not in columns and values and values <= TICKS:
            boxes.setdefault(question, {})[value] = name
    boxes = {question: parts for question, parts in boxes.items() if len(parts) > 1}
    boxed = {name for parts in boxes.values() for name in parts.values()}
    answers = {name: column for name, column in columns.items() if name not in boxed}
    for name, parts in boxes.items():
        answers[name], is_set = _ticked({value: columns[box] for value, box in parts.items()})
        sets |= {name} if is_set else set()
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
    free = []  # where most answers differ and are not numbers
    for name, column in answers.items():
        texts = [text for text in column.array().to_pylist() if text and text.strip() != "{}"]
        words = [text for text in set(texts) if not re.fullmatch(r"[-+.\d]+", text.strip())]
        if name not in sets and (not texts or len(words) > max(MANY, len(texts) / 2)):
            free.append(name)
    if free and len(free) < len(answers):
        notes.append(f"free texts, not read as answers: {listed(free)}")
        return {name: column for name, column in answers.items() if name not in free}
    return answers


def _ticked(boxes: dict[str, Column]) -> tuple[Column, bool]:
    """The checked values of each row, and whether they are sets: not if every row has one."""
    cells = list(zip(*(column.array().to_pylist() for column in boxes.values()), strict=True))
    filled = [any(cell is not None for cell in row) for row in cells]
    chosen = [
        [value for value, cell in zip(boxes, row, strict=True) if str(cell).lower() == "true"]
        for row in cells
    ]
    if {len(one) for one, is_filled in zip(chosen, filled, strict=True) if is_filled} <= {1}:
        return Column.of(pa.array([one[0] if one else None for one in chosen], pa.string())), False
    blank = ~np.array(filled, dtype=bool)
    texts = pa.array([set_text(checked) for checked in chosen], pa.string(), mask=blank)
    return Column.of(texts), True
