"""Exports of crowdsourcing platforms: Mechanical Turk, Toloka and Figure Eight (now Appen).

A row is what one worker said about an item, or about several (Input.text1, Input.text2, ...): a
table whose columns of contents and of answers are called so. Check boxes of one question
(Answer.mood.joy, Answer.mood.fear) become one column.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from dissensus.corpus import Corpus
from dissensus.errors import DataError, listed
from dissensus.readers.delimited import delimited_rows
from dissensus.readers.exports.responses import check_known
from dissensus.readers.json_text import list_in, object_in, set_text, value_text
from dissensus.readers.layout import Layout, layouts_taken
from dissensus.readers.tables.answer_cells import (
    parsed_cell,
    separator_name,
    separator_of,
    split_cell,
)
from dissensus.readers.tables.column_names import families
from dissensus.readers.tables.column_roles import with_boxes
from dissensus.readers.tables.rows import FEW_VALUES, Column, Rows
from dissensus.readers.tables.shapes import table_corpus

TICKS = frozenset(("true", "false"))
TASK_ANSWERS = "Answer.taskAnswers"  # all answers of a row as JSON
GOLD = "GOLDEN:"
UNIT, WORKER, JUDGMENT = "_unit_id", "_worker_id", "_id"


@dataclass(frozen=True)
class Platform:
    """The names of a platform's columns."""

    tool: str
    item: str
    annotator: str
    shown: str  # the prefix of content columns
    answer: str  # and of answers


MTURK = Platform("Mechanical Turk", "HITId", "WorkerId", "Input.", "Answer.")
TOLOKA = Platform("Toloka", "ASSIGNMENT:task_id", "ASSIGNMENT:worker_id", "INPUT:", "OUTPUT:")


def _read(path: Path, options: Layout, platform: Platform) -> Corpus:
    """Read the assignments of Mechanical Turk or Toloka."""
    rows = _with_task_answers(delimited_rows(path, options, short_rows=True))
    rows.check([platform.annotator])
    rows, columns = _with_boxes(rows, platform)
    named = _short_names(rows, columns, platform)
    rows = replace(rows, columns={new: rows.columns[old] for old, new in named.items()},
                   sets=frozenset(named[name] for name in rows.sets))  # fmt: skip
    answers = [named[name] for name in columns]
    shown = [new for old, new in named.items() if old.startswith(platform.shown)]
    notes = [f"an export of {platform.tool}"]
    if options.answer is not None:
        wanted = [n if n in answers else n.removeprefix(platform.answer) for n in options.answer]
        check_known(path, wanted, answers, "answers")
        answers = wanted
    elif 0 < len(free := [name for name in answers if _is_free(rows, name)]) < len(answers):
        answers = [name for name in answers if name not in free]
        notes.append(f"free texts, not read as answers: {listed(free)}")
    rows, layout = _laid_out(rows, platform, shown, answers)
    if options.text is not None:
        texts = [named.get(f"{platform.shown}{t}", named.get(t, t)) for t in options.text]
        layout = layout.with_changes(text=texts)
    return _corpus(rows, notes, layout, options)


def _corpus(rows: Rows, notes: Sequence[str], layout: Layout, options: Layout) -> Corpus:
    stated = replace(options, answer=None, text=None).stated()
    with layouts_taken():  # this one is about columns that are called otherwise
        rows = replace(rows, notes=(*rows.notes, *notes))
        return table_corpus(rows, layout.with_changes(**stated))


read_mturk = partial(_read, platform=MTURK)
read_toloka = partial(_read, platform=TOLOKA)


def _with_task_answers(rows: Rows) -> Rows:
    """A column for each answer in the JSON of all: [{"mood": {"joy": true, "fear": false}}]."""
    if TASK_ANSWERS not in rows.columns:
        return rows
    texts = rows.columns[TASK_ANSWERS].array().to_pylist()
    cells = [_flat(one) for text in texts for one in [*list_in(parsed_cell(text or "")), {}][:1]]
    names = dict.fromkeys(name for cell in cells for name in cell)
    new = {name: Column.of(pa.array([cell.get(name) for cell in cells])) for name in names}
    return rows.without([TASK_ANSWERS]).with_columns(new)


def _flat(value: Any, name: str = "Answer") -> dict[str, str | None]:
    """What is in objects, by their keys: {"Answer.mood.joy": "true"} of {"mood": {"joy": True}}."""
    if not isinstance(value, dict):
        return {name: value_text(value)}
    inner = (_flat(one, f"{name}.{key}") for key, one in object_in(value).items())
    return {key: text for one in inner for key, text in one.items()}


def _with_boxes(rows: Rows, platform: Platform) -> tuple[Rows, list[str]]:
    """The table with a column for each question, and their names; QUESTION.VALUE are boxes."""
    answers = [name for name in rows.columns if name.startswith(platform.answer)]
    boxes: dict[str, dict[str, str]] = {}  # question -> value -> column
    for name in answers:
        question, _, value = name.rpartition(".")
        values = {str(cell).strip().lower() for cell in rows.columns[name].values.to_pylist()}
        if question not in (*answers, platform.answer[:-1], "") and set() < values <= TICKS:
            boxes.setdefault(question, {})[value] = name
    for question, of in boxes.items():
        if len(of) > 1:
            rows = with_boxes(rows, question, of)
            answers = [name for name in answers if name not in of.values()] + [question]
    return rows, answers


def _short_names(rows: Rows, answers: Sequence[str], platform: Platform) -> dict[str, str]:
    """What the columns are called without their prefixes, where no other is called so."""
    bare = {name: name.removeprefix(platform.answer) for name in answers}
    short = {n: one.removesuffix(".labels").removesuffix(".label") for n, one in bare.items()}
    named = short if len(set(short.values())) == len(short) else bare
    others = {n: n.removeprefix(platform.shown).replace(GOLD, "gold_", 1) for n in rows.columns}
    for old, new in (named | {n: one for n, one in others.items() if n not in named}).items():
        taken = new in rows.columns or (old not in answers and new in named.values())
        named[old] = old if new != old and taken else new
    return {name: named[name] for name in rows.columns}


def _is_free(rows: Rows, name: str) -> bool:
    """Whether answers are free texts: most differ, and are not numbers."""
    texts = [one for one in rows.columns[name].array().to_pylist() if one and one.strip() != "{}"]
    words = [text for text in set(texts) if not re.fullmatch(r"[-+.\d]+", text.strip())]
    return name not in rows.sets and (not texts or len(words) > max(FEW_VALUES, len(texts) / 2))


def _laid_out(
    rows: Rows, platform: Platform, shown: Sequence[str], answers: Sequence[str]
) -> tuple[Rows, Layout]:
    """The layout of a table. If rows have several items, whose contents and answers differ in the
    same numbers, the table has a column that names each of them."""
    item = rows.columns.get(platform.item)
    layout = Layout(annotator=platform.annotator, answer=(*answers,))
    if item is None or not item.is_filled:
        return rows, layout.with_changes(item=shown[0] if len(shown) == 1 else None)
    layout = layout.with_changes(item=platform.item)
    numbered = [{pattern: of for pattern, of in families(names)[-1].items() if len(of) > 1}
                for names in (shown, answers)]  # fmt: skip
    numbers = set.intersection(*({n for of in one.values() for n in of} for one in numbered))
    if len(numbers) < 2:
        return rows, layout.with_changes(**({"text": shown} if len(shown) == 1 else {}))
    tasks = item.array().to_pylist()
    new = {f"{platform.item}-{n}": Column.of(pa.array([f"{one}-{n}" for one in tasks]))
           for n in numbers}  # fmt: skip
    texts, questions = (tuple(pattern.replace("{}", "{k}") for pattern, of in one.items()
                              if len(of.keys() & numbers) > 1) for one in numbered)  # fmt: skip
    of_items = Layout(item=f"{platform.item}-{{k}}", text=texts, answer=questions)
    return rows.with_columns(new), layout.with_changes(**of_items.stated())


# ---- judgments of Figure Eight ----


def read_figure_eight(path: Path, options: Layout) -> Corpus:
    """Read every judgment: a table of units and workers; several values in a cell are a set."""
    rows = delimited_rows(path, options)
    if WORKER not in rows.columns:
        raise DataError(
            f"{path}: an aggregated report of Figure Eight, with one answer for each unit; export "
            "the full report, which has a row for each judgment"
        )
    rows.check([UNIT])
    named = {name: "response_id" if name == JUDGMENT else name for name in rows.columns}
    rows = replace(rows, columns={new: rows.columns[old] for old, new in named.items()})
    notes = []
    for name, column in rows.columns.items():
        texts = [] if name[0] == "_" else column.values.to_pylist()
        separator = separator_of(texts)
        if separator is None or column.is_constant(rows.columns[UNIT]):
            continue
        for part in {name, f"{name}_gold"} & rows.columns.keys():
            cells = rows.columns[part].array().to_pylist()
            sets = [cell and set_text(split_cell(cell, separator)) for cell in cells]
            column = Column.of(pa.array(sets, pa.string()))
            rows = rows.with_columns({part: column}, sets=rows.sets | {part})
        how = separator_name(separator)
        notes.append(f"{name}: several answers in a cell, separated by {how}")
    given = {part: getattr(options, part) for part in ("answer", "text")}
    layout = Layout(item=UNIT, annotator=WORKER, **given)
    return _corpus(rows, [*notes, "an export of Figure Eight"], layout, options)
