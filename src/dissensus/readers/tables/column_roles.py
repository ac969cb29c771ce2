"""Which column is what: recognised by its name, checked by what it holds, overruled by options."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.errors import DataError, NoAnswersError, listed
from dissensus.readers.options import Options
from dissensus.readers.tables.column_names import (
    PAIR,
    WEAK,
    answer_named,
    candidates,
    first_named,
    kind_of,
    plain,
)
from dissensus.readers.tables.rows import Column, Rows

MOST_QUESTIONS = 100


@dataclass(frozen=True)
class Choice:
    """What each column is taken for."""

    item: str | None  # None: an item is what was shown
    annotator: str | None
    answer: tuple[str, ...]
    shown: dict[str, str]  # role -> column
    question: str | None = None
    gold: dict[str, str] = field(default_factory=dict)  # answer's column -> column
    seconds: str | None = None
    count: str | None = None
    response: str | None = None
    split: str | None = None

    @property
    def used(self) -> set[str]:
        """Every column that has a part of its own."""
        single = (self.item, self.annotator, self.question, self.seconds, self.count)
        others = (*self.answer, *self.shown.values(), *self.gold.values(), *single)
        return {name for name in (*others, self.response, self.split) if name is not None}


def choose(rows: Rows, options: Options) -> Choice:
    """Tell what each column is: as the options say, else by name and content."""
    named = _named(options)
    rows.check(sorted(named))
    answer = _answer(rows, options, named)
    annotator = options.annotator or first_named("annotator", rows, named | set(answer))
    taken = {*named, *answer, annotator}
    item = options.item or _item(rows, taken)
    shown = shown_columns(rows, options, item, {*taken, item})
    if options.item is None and item is not None and _numbers_rows(rows, item, shown):
        item = None
    taken |= {item, *shown.values()}
    items = items_of(rows, item, shown)
    question = options.question or _question(rows, taken, items, len(answer))
    taken.add(question)
    return Choice(
        item,
        annotator,
        answer,
        shown,
        question,
        gold=_gold(rows, options, answer, taken, asked_groups(rows, items, question)),
        seconds=first_named("seconds", rows, taken, _is_numeric),
        count=None if annotator else _count(rows, options, answer, taken, items),
        response=first_named("response", rows, taken),
        split=first_named("split", rows, taken, lambda column: one_each(column, items)),
    )


def items_of(rows: Rows, item: str | None, shown: dict[str, str]) -> Column:
    """Which item each row is about, and the items' names; a row without one is refused.

    Without a column of items, an item is the distinct tuple of what was shown.
    """
    if item is None and not shown:
        raise DataError(_unrecognised(rows, "items", "item"))
    column = rows.columns[item] if item is not None else _joined(rows, list(shown.values()))
    if column.is_bytes:
        raise DataError(
            f"{rows.path}: column {item or next(iter(shown.values()))!r} holds bytes; "
            "name a column of items (item=, --item)"
        )
    blank = column.first_blank
    if blank is not None:
        names = listed([item] if item is not None else shown.values())
        raise DataError(f"{rows.at(blank)}: no item: {names} is blank")
    return column


def asked_groups(rows: Rows, items: Column, question: str | None) -> Column:
    """A code per row for what was asked: the item, or the item and the question."""
    if question is None:
        return items
    asked = rows.columns[question]
    pairs = items.codes.astype(np.int64) * (len(asked.values) + 1) + asked.codes + 1
    distinct, codes = np.unique(pairs, return_inverse=True)
    return Column(distinct, codes.reshape(-1))


def _joined(rows: Rows, names: list[str]) -> Column:
    columns = [rows.columns[name] for name in names]
    columns = [column for column in columns if not column.is_bytes] or columns
    if len(columns) == 1:
        return columns[0]
    texts = [pc.fill_null(column.array().cast(pa.string()), "") for column in columns]
    blank = np.all([column.codes < 0 for column in columns], axis=0)
    joined = pc.binary_join_element_wise(*texts, " | ")
    return Column.of(pc.if_else(pa.array(blank), pa.scalar(None, pa.string()), joined))


def _named(options: Options) -> set[str]:
    """Every column that the user named."""
    parts = (options.item, options.annotator, options.question, options.gold)
    named = {part for part in parts if part is not None}
    return named | set(options.answer or ()) | set(options.text or ())


def _answer(rows: Rows, options: Options, named: set[str]) -> tuple[str, ...]:
    if options.answer is not None:
        return options.answer
    found = answer_named(rows, named)
    if found is None:
        raise NoAnswersError(
            f"{_unrecognised(rows, 'answers', 'answer')}, or say "
            'format="wide" (--format wide) if every annotator has a column'
        )
    return (found,)


def _unrecognised(rows: Rows, what: str, option: str) -> str:
    return (
        f"{rows.path}: no column of {what} recognised in {listed(rows.columns, 40)}; "
        f"name it ({option}=, --{option})"
    )


def _item(rows: Rows, taken: Iterable[str | None]) -> str | None:
    """The first fitting name; but `task` may hold the task's name, the same for many texts."""
    shown = first_named("text", rows, taken)

    def fits(column: Column) -> bool:
        whole = len(column.values) > 1 and column.first_blank is None
        return whole and (shown is None or one_each(rows.columns[shown], column))

    return first_named("item", rows, taken, fits) or first_named("item", rows, taken)


def shown_columns(
    rows: Rows, options: Options, item: str | None, taken: set[str | None]
) -> dict[str, str]:
    """Role -> column; a single text has the role "text", a single picture "image"."""
    if options.text is not None:
        if len(options.text) == 1:
            return {kind_of(options.text[0]): options.text[0]}
        return {name: name for name in options.text}

    def fits(column: Column) -> bool:
        """Whether an item has one such content: a `comment` may be the annotator's own."""
        return item is None or one_each(column, items_of(rows, item, {}))

    pair = {plain(name): name for name in rows.columns if name not in taken}
    if all(part in pair and fits(rows.columns[pair[part]]) for part in PAIR):
        return {part: pair[part] for part in PAIR}
    found = {
        role: first_named(role, rows, taken, fits) for role in ("text", "image", "audio", "video")
    }
    return {role: column for role, column in found.items() if column is not None}


def _numbers_rows(rows: Rows, item: str, shown: dict[str, str]) -> bool:
    """Whether this `id` counts rows: it never repeats, while what was shown does."""
    if plain(item) not in WEAK or not shown:
        return False
    n_contents = len(_joined(rows, list(shown.values())).values)
    return len(rows.columns[item].values) == rows.n_rows > n_contents


def _question(rows: Rows, taken: Iterable[str | None], items: Column, n_answers: int) -> str | None:
    """A column that names the question; not the wording of a question per item."""

    def fits(column: Column) -> bool:
        within = column.is_constant(items.codes, len(items.values))
        return len(column.values) == 1 or (len(column.values) <= MOST_QUESTIONS and not within)

    return first_named("question", rows, taken, fits) if n_answers == 1 else None


def _gold(
    rows: Rows,
    options: Options,
    answer: tuple[str, ...],
    taken: Iterable[str | None],
    groups: Column,
) -> dict[str, str]:
    """The column of gold labels of each column of answers."""
    if options.gold is not None:
        if len(answer) != 1:
            raise DataError(
                f"{rows.path}: {options.gold!r} is gold for one question, but there are "
                f"{len(answer)}; name gold columns gold_QUESTION instead"
            )
        return {answer[0]: options.gold}
    found = {}
    for column in answer:
        own = {"gold" + plain(column), plain(column) + "gold"}
        names = [name for name in rows.columns if plain(name) in own and name not in taken]
        names += candidates("gold", rows, taken) if len(answer) == 1 else []
        names = [name for name in names if one_each(rows.columns[name], groups)]
        names = [name for name in names if (rows.columns[name].codes >= 0).any()]
        if names:
            found[column] = names[0]
    return found


def _count(
    rows: Rows, options: Options, answer: tuple[str, ...], taken: set[str | None], items: Column
) -> str | None:
    """The column that counts each row's answer.

    Where every item has one row, all its answers would be the same: the column of answers is a
    majority, or the table no table of votes.
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
        f'say answer="{answer[0]}" (--answer {answer[0]}) to read one answer for each item, or '
        'format="long" (--format long) to read as many as counted'
    )


def one_each(column: Column, groups: Column) -> bool:
    """Whether no group has two different entries."""
    return column.conflict(groups.codes, len(groups.values)) is None


def _is_numeric(column: Column) -> bool:
    return len(column.values) > 0 and column.numbers() is not None


def _is_count(column: Column) -> bool:
    numbers = column.numbers()
    return numbers is not None and bool((numbers >= 0).all() and (numbers % 1 == 0).all())
