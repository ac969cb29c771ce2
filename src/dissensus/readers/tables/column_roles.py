"""Column roles: which column is the item, the annotator, the answer and so on.

A role is recognised by the column's name and checked by its content; options overrule both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.errors import DataError, listed
from dissensus.readers.layout import Layout
from dissensus.readers.tables.column_names import (
    PAIR,
    WEAK,
    candidates,
    first_named,
    kind_of,
    plain,
)
from dissensus.readers.tables.rows import Column, Rows

MOST_QUESTIONS = 100
BY_NAME = "by its name"


@dataclass(frozen=True)
class ColumnRoles:
    """The role of each column."""

    item: str | None  # None: each distinct content is an item
    annotator: str | None
    answer: tuple[str, ...]
    shown: dict[str, str]  # role -> column
    question: str | None = None
    gold: dict[str, str] = field(default_factory=dict)  # answer's column -> column
    seconds: str | None = None
    count: str | None = None
    response: str | None = None
    split: str | None = None
    reasons: dict[str, tuple[str, str]] = field(default_factory=dict)  # column -> (taken for, why)
    choose: str = ""  # the command that reads one of several answers
    unread: tuple[str, ...] = ()  # columns that look like answers, too

    @property
    def used(self) -> set[str]:
        """Every column that has a role."""
        single = (self.item, self.annotator, self.question, self.seconds, self.count)
        others = (*self.answer, *self.shown.values(), *self.gold.values(), *single)
        return {name for name in (*others, self.response, self.split) if name is not None}


def named_roles(
    rows: Rows,
    options: Layout,
    item: str | None,
    annotator: str | None,
    answer: tuple[str, ...],
    shown: dict[str, str],
) -> ColumnRoles:
    """The roles of the other columns, by name and content, once these are known."""
    taken = {*named_columns(options), *answer, annotator, item, *shown.values()}
    items = items_of(rows, item, shown)
    question = options.question or _question(rows, taken, items, len(answer))
    taken.add(question)
    return ColumnRoles(
        item,
        annotator,
        answer,
        shown,
        question,
        gold=_gold(rows, options, answer, taken, question_groups(rows, items, question)),
        seconds=first_named("seconds", rows, taken, _is_numeric),
        count=None if annotator else _count(rows, options, answer, taken, items),
        response=first_named("response", rows, taken),
        split=first_named("split", rows, taken, lambda column: one_each(column, items)),
    )


def items_of(rows: Rows, item: str | None, shown: dict[str, str]) -> Column:
    """The item of each row, and the names of the items; a row without one is refused.

    Without an item column, each distinct tuple of contents is an item.
    """
    if item is None and not shown:
        raise DataError(unrecognised(rows, "items", "item"))
    column = rows.columns[item] if item is not None else joined(rows, list(shown.values()))
    if column.is_bytes:
        raise DataError(
            f"{rows.path}: column {item or next(iter(shown.values()))!r} contains bytes; "
            "name a column of items (item=, --item)"
        )
    blank = column.first_blank
    if blank is not None:
        names = listed([item] if item is not None else shown.values())
        raise DataError(f"{rows.at(blank)}: no item: {names} is blank")
    return column


def question_groups(rows: Rows, items: Column, question: str | None) -> Column:
    """A code per row for the item, or for the item and the question."""
    if question is None:
        return items
    questions = rows.columns[question]
    pairs = items.codes.astype(np.int64) * (len(questions.values) + 1) + questions.codes + 1
    distinct, codes = np.unique(pairs, return_inverse=True)
    return Column(distinct, codes.reshape(-1))


def joined(rows: Rows, names: list[str]) -> Column:
    columns = [rows.columns[name] for name in names]
    columns = [column for column in columns if not column.is_bytes] or columns
    if len(columns) == 1:
        return columns[0]
    texts = [pc.fill_null(column.array().cast(pa.string()), "") for column in columns]
    blank = np.all([column.codes < 0 for column in columns], axis=0)
    joined = pc.binary_join_element_wise(*texts, " | ")
    return Column.of(pc.if_else(pa.array(blank), pa.scalar(None, pa.string()), joined))


def named_columns(options: Layout) -> set[str]:
    """Every column that the user named."""
    parts = (options.item, options.annotator, options.question, options.gold)
    named = {part for part in parts if part is not None}
    return named | set(options.answer or ()) | set(options.text or ())


def unrecognised(rows: Rows, what: str, option: str) -> str:
    """The message for a table in which no column of items or answers is recognised."""
    return (
        f"{rows.path}: no column of {what} recognised in {listed(rows.columns, 40)}; "
        f"name it ({option}=, --{option})"
    )


def item_named(rows: Rows, taken: Iterable[str | None]) -> str | None:
    """The first name that fits; but `task` may be the name of the task, the same for many texts."""
    shown = first_named("text", rows, taken)

    def fits(column: Column) -> bool:
        whole = len(column.values) > 1 and column.first_blank is None and not _is_object(column)
        return whole and (shown is None or one_each(rows.columns[shown], column))

    return first_named("item", rows, taken, fits) or first_named("item", rows, taken)


def _is_object(column: Column) -> bool:
    """Whether the first value is a JSON object, which names nothing."""
    return not column.is_bytes and str(column.values[0].as_py()).startswith("{")


def shown_columns(
    rows: Rows, options: Layout, item: str | None, taken: set[str | None]
) -> dict[str, str]:
    """Role -> column; a single text has the role "text", a single picture "image"."""
    if options.text is not None:
        if len(options.text) == 1:
            return {kind_of(options.text[0]): options.text[0]}
        return {name: name for name in options.text}

    def fits(column: Column) -> bool:
        """Whether an item has one such content: a `comment` may be one by the annotator."""
        return item is None or one_each(column, items_of(rows, item, {}))

    pair = {plain(name): name for name in rows.columns if name not in taken}
    if all(part in pair and fits(rows.columns[pair[part]]) for part in PAIR):
        return {part: pair[part] for part in PAIR}
    kinds = ("text", "image", "audio", "video")
    columns = {kind: first_named(kind, rows, taken, fits) for kind in kinds}
    return {kind: column for kind, column in columns.items() if column is not None}


def numbers_rows(rows: Rows, item: str, shown: dict[str, str]) -> bool:
    """Whether this `id` counts rows: it never repeats, while the content does."""
    if plain(item) not in WEAK or not shown:
        return False
    n_contents = len(joined(rows, list(shown.values())).values)
    return len(rows.columns[item].values) == rows.n_rows > n_contents


def _question(rows: Rows, taken: Iterable[str | None], items: Column, n_answers: int) -> str | None:
    """A column that names the question, not one with another question for each item."""

    def fits(column: Column) -> bool:
        within = column.is_constant(items.codes, len(items.values))
        return len(column.values) == 1 or (len(column.values) <= MOST_QUESTIONS and not within)

    return first_named("question", rows, taken, fits) if n_answers == 1 else None


def _gold(
    rows: Rows,
    options: Layout,
    answer: tuple[str, ...],
    taken: Iterable[str | None],
    groups: Column,
) -> dict[str, str]:
    """The gold label column of each answer column."""
    if options.gold is not None:
        if len(answer) != 1:
            raise DataError(
                f"{rows.path}: {options.gold!r} is gold for one question, but there are "
                f"{len(answer)}; name gold columns gold_QUESTION instead"
            )
        return {answer[0]: options.gold}
    gold = {}
    for column in answer:
        own = {"gold" + plain(column), plain(column) + "gold"}
        names = [name for name in rows.columns if plain(name) in own and name not in taken]
        names += candidates("gold", rows, taken) if len(answer) == 1 else []
        names = [name for name in names if one_each(rows.columns[name], groups)]
        names = [name for name in names if (rows.columns[name].codes >= 0).any()]
        if names:
            gold[column] = names[0]
    return gold


def _count(
    rows: Rows, options: Layout, answer: tuple[str, ...], taken: set[str | None], items: Column
) -> str | None:
    """The column that says how often each row's answer was given.

    If every item has one row, all its answers would be the same: then the answer column is the
    majority, or the counts are of something else.
    """
    name = first_named("count", rows, taken, _is_count)
    counts = None if name is None else rows.columns[name].numbers()
    several = counts is not None and bool((counts > 1).any())
    alone = len(items.values) == rows.n_rows > 1
    if not (several and alone) or options.format == "long" or not answer:
        return name
    if options.answer is not None:
        return None
    raise DataError(
        f"{rows.path}: every item has one row, so all {name!r} answers to an item would be its "
        f"{answer[0]!r}; if that is the majority, write a column of counts for each value; if not, "
        f'use answer="{answer[0]}" (--answer {answer[0]}) to read one answer for each item, or '
        'format="long" (--format long) to read as many as counted'
    )


def one_each(column: Column, groups: Column) -> bool:
    """Whether no group has two different cells."""
    return column.conflict(groups.codes, len(groups.values)) is None


def _is_numeric(column: Column) -> bool:
    return len(column.values) > 0 and column.numbers() is not None


def _is_count(column: Column) -> bool:
    numbers = column.numbers()
    return numbers is not None and bool((numbers >= 0).all() and (numbers % 1 == 0).all())
