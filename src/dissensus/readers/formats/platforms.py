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
from pathlib import Path

import numpy as np
import pyarrow as pa

from dissensus.corpus import Corpus
from dissensus.errors import DataError, did_you_mean, listed
from dissensus.readers.delimited import delimited_rows
from dissensus.readers.exports.responses import (
    Left,
    by_reason,
    export_corpus,
    shown_content,
)
from dissensus.readers.json_text import set_text
from dissensus.readers.layout import Layout
from dissensus.readers.tables import assignments
from dissensus.readers.tables.assignments import Status, reasons_of
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
    status=assignments.MTURK,
    seconds="WorkTimeInSeconds",
)
TOLOKA = Platform(
    "Toloka",
    shown="INPUT:",
    answer="OUTPUT:",
    item="ASSIGNMENT:task_id",
    annotator="ASSIGNMENT:worker_id",
    response="ASSIGNMENT:assignment_id",
    status=assignments.TOLOKA,
    gold="GOLDEN:",
)


def read_mturk(path: Path, options: Layout) -> Corpus:
    """Read a batch of Mechanical Turk; options may name the answers and the content."""
    return _read(path, options, MTURK)


def read_toloka(path: Path, options: Layout) -> Corpus:
    """Read a pool of Toloka; options may name the answers and the content."""
    return _read(path, options, TOLOKA)


def _read(path: Path, options: Layout, platform: Platform) -> Corpus:
    notes: list[str] = []
    rows = _unfolded(delimited_rows(path, options, short_rows=True), platform, notes)
    answers = _answers(rows, options, platform, notes)
    reasons = reasons_of(rows, platform.status)
    left = Left((question, why) for question in answers for why in reasons if why is not None)
    kept = np.array([why is None for why in reasons])
    if not kept.any():
        raise DataError(f"{path}: no answers: {by_reason(left)}")
    named = _renamed(rows, answers, platform)
    columns = {new: rows.columns[old] for old, new in named.items()}
    sets = {name for name, array in answers.items() if pa.types.is_list(array.type)}
    columns |= {name: Column.of(_as_texts(array)) for name, array in answers.items()}
    batch = take_rows(replace(rows, columns=columns, sets=frozenset(sets)), kept)
    roles, missing_media = _roles(batch, answers, named, options, platform)
    return export_corpus(batch, roles, options, platform.tool, left, notes, missing_media)


def _unfolded(rows: Rows, platform: Platform, notes: list[str]) -> Rows:
    """Rows with several items (Input.x1, Input.x2 and Answer.y1, Answer.y2) as a row for each."""
    numbers = {
        prefix: _numbers(n.removeprefix(prefix) for n in rows.columns if n.startswith(prefix))
        for prefix in (platform.shown, platform.answer)
    }
    both = sorted(numbers[platform.shown] & numbers[platform.answer], key=int)
    if len(both) < 2:
        return rows
    stems = {prefix: _stems(rows, prefix, both) for prefix in (platform.shown, platform.answer)}
    unfolded = {f"{prefix}{stem}" for prefix, names in stems.items() for stem in names}
    numbered_ones = {n for names in stems.values() for of in names.values() for n in of.values()}
    columns: dict[str, Column] = {
        f"{name} (row)" if name in unfolded else name: replace(
            column, codes=np.repeat(column.codes, len(both))
        )
        for name, column in rows.columns.items()
        if name not in numbered_ones
    }
    blank = Column(pa.array([], pa.string()), np.full(rows.n_rows, -1))
    for prefix, names in stems.items():
        for stem, numbered in names.items():
            parts = [rows.columns.get(numbered.get(number, ""), blank) for number in both]
            columns[f"{prefix}{stem}"] = cells_of(parts)
    shown = [columns[f"{platform.shown}{stem}"] for stem in stems[platform.shown]]
    columns[platform.item] = _items_of(rows, platform, shown, both)
    bare = {name: name.removeprefix(platform.answer) for name in columns}
    alone = [bare[n] for n in columns if bare[n] != n and bare[n] not in stems[platform.answer]]
    columns = {bare[n] if bare[n] in alone else n: column for n, column in columns.items()}
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


def _stems(rows: Rows, prefix: str, numbers: list[str]) -> dict[str, dict[str, str]]:
    """Name without its number -> number -> column."""
    stems: dict[str, dict[str, str]] = {}
    for name in rows.columns:
        match = _NUMBERED.fullmatch(name.removeprefix(prefix)) if name.startswith(prefix) else None
        if match and match[2] in numbers:
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
    hits = rows.columns.get(platform.item)
    names = [f"row {n + 1}" for n in range(rows.n_rows)]
    if hits is not None:
        names = [hits[row] or names[row] for row in range(rows.n_rows)]
    texts = [f"{name}-{number}" for name in names for number in numbers]
    return Column.of(pa.array(texts, pa.string()))


def _numbers(names: Iterable[str]) -> set[str]:
    """The numbers at the end of names, where several names differ in them only."""
    matches = [match for match in map(_NUMBERED.fullmatch, names) if match]
    stems = [match[1] for match in matches]
    return {match[2] for match in matches if stems.count(match[1]) > 1}


# ---- answers ----


def _answers(
    rows: Rows, options: Layout, platform: Platform, notes: list[str]
) -> dict[str, pa.Array]:
    """The answers by question; check boxes of one question are joined, free texts left out."""
    prefix = platform.answer
    columns = {n.removeprefix(prefix): c for n, c in rows.columns.items() if n.startswith(prefix)}
    answers: dict[str, pa.Array] = {}
    for name, parts in _grouped(columns).items():
        single = columns[parts[0]].array() if name in columns else None
        answers[name] = _ticked(columns, name, parts) if single is None else single
    short = {name: name.removesuffix(".labels").removesuffix(".label") for name in answers}
    if len(set(short.values())) == len(short):
        answers = {short[name]: array for name, array in answers.items()}
    answers = {f"{prefix}{n}" if n in rows.columns else n: array for n, array in answers.items()}
    if options.answer is not None:
        wanted = [n if n in answers else n.removeprefix(prefix) for n in options.answer]
        missing = [name for name in wanted if name not in answers]
        if missing:
            raise DataError(
                f"{rows.path}: no answers {listed(missing)}{did_you_mean(missing[0], answers)}; "
                f"there are {listed(answers)}"
            )
        return {name: answers[name] for name in wanted}
    free = [name for name, array in answers.items() if _is_free(array)]
    if free and len(free) < len(answers):
        notes.append(f"free texts, not read as answers: {listed(free)}")
        return {name: array for name, array in answers.items() if name not in free}
    return answers


def _grouped(columns: dict[str, Column]) -> dict[str, list[str]]:
    """The columns of each question: several if they are check boxes `NAME.VALUE`."""
    ticks: dict[str, list[str]] = {}
    for name, column in columns.items():
        values = {str(value).strip().lower() for value in column.values.to_pylist()}
        if "." in name and values and values <= TICKS:
            ticks.setdefault(name.rpartition(".")[0], []).append(name)
    groups = {name: [name] for name in columns}
    for question, parts in ticks.items():
        if len(parts) > 1 and question not in columns:
            groups = {name: group for name, group in groups.items() if name not in parts}
            groups[question] = parts
    return groups


def _ticked(columns: dict[str, Column], question: str, parts: list[str]) -> pa.Array:
    """The checked values of each row: one value if every row has one, otherwise a set."""
    values = [part.removeprefix(f"{question}.") for part in parts]
    texts = [columns[part].array().to_pylist() for part in parts]
    shown = [any(cell is not None for cell in row) for row in zip(*texts, strict=True)]
    chosen = [
        [value for value, cell in zip(values, row, strict=True) if str(cell).lower() == "true"]
        for row in zip(*texts, strict=True)
    ]
    if all(len(checked) == 1 for checked, seen in zip(chosen, shown, strict=True) if seen):
        return pa.array([checked[0] if checked else None for checked in chosen], pa.string())
    sets = [checked if seen else None for checked, seen in zip(chosen, shown, strict=True)]
    return pa.array(sets, pa.list_(pa.string()))


def _as_texts(array: pa.Array) -> pa.Array:
    """Sets as JSON lists."""
    if not pa.types.is_list(array.type):
        return array
    return pa.array([None if a is None else set_text(a) for a in array.to_pylist()], pa.string())


def _is_free(array: pa.Array) -> bool:
    """Whether most answers differ and are not numbers: free texts."""
    if pa.types.is_list(array.type):
        return False
    texts = [text for text in array.to_pylist() if text is not None and text.strip() != "{}"]
    if not texts:
        return True
    words = [text for text in set(texts) if not re.fullmatch(r"[-+.\d]+", text.strip())]
    return len(words) > MANY and len(words) > len(texts) / 2


# ---- roles ----


def _renamed(rows: Rows, answers: dict[str, pa.Array], platform: Platform) -> dict[str, str]:
    """The columns besides answers, old name -> new: without a prefix if no other has that name."""
    named = {}
    for name in rows.columns:
        if name.startswith(platform.answer):
            continue
        bare = name.removeprefix(platform.shown)
        taken = bare in answers or (bare != name and bare in rows.columns)
        named[name] = name if taken else bare
    return named


def _roles(
    batch: Rows,
    answers: dict[str, pa.Array],
    named: dict[str, str],
    options: Layout,
    platform: Platform,
) -> tuple[ColumnRoles, list[str]]:
    """The roles of the columns, and the columns of media files that do not exist."""
    shown_ones = [new for old, new in named.items() if old.startswith(platform.shown)]
    text = None
    if options.text is not None:
        text = tuple(named.get(f"{platform.shown}{t}", named.get(t, t)) for t in options.text)
    item: str | None = platform.item
    if item not in batch.columns or batch.columns[item].first_blank is not None:
        item = None
    shown, missing_media = shown_content(batch, replace(options, text=text), item, shown_ones)
    item = missing_media[0] if item is None and missing_media else item
    if item is None and not shown:
        raise DataError(
            f"{batch.path}: no items: there is neither {platform.item!r} nor a content column"
        )
    response = platform.response if platform.response in batch.columns else None
    seconds = platform.seconds if platform.seconds in batch.columns else None
    gold = {q: f"{platform.gold}{q}" for q in answers if f"{platform.gold}{q}" in batch.columns}
    gold = {q: column for q, column in gold.items() if len(batch.columns[column].values)}
    return ColumnRoles(
        item,
        platform.annotator,
        tuple(answers),
        shown,
        gold=gold,
        seconds=seconds if seconds and batch.columns[seconds].numbers() is not None else None,
        response=response if len(answers) > 1 else None,
    ), missing_media
