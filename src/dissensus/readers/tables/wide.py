"""Wide tables: one row per item, one column per annotator -> Corpus."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.readers.options import Options
from dissensus.readers.tables.annotator_columns import is_apart
from dissensus.readers.tables.answers import described
from dissensus.readers.tables.assembly import Assembled, assembled
from dissensus.readers.tables.column_names import NAMES, first_named, plain
from dissensus.readers.tables.column_roles import Choice, one_each, shown_columns
from dissensus.readers.tables.item_rows import cells_of, free_name, wide_items
from dissensus.readers.tables.notes import amounts, remarks, told_parts
from dissensus.readers.tables.rows import Column, Rows

MOST_TOLD = 8  # annotators that a note names


def wide_table(rows: Rows, people: tuple[str, ...], options: Options) -> Corpus:
    """Turn a table with a column per annotator into a corpus of one question, "answer".

    A blank cell is a judgement nobody was asked for. Columns that are neither people nor the
    item, what was shown, gold or a split become attributes of the items.
    """
    named = {name for name in (options.item, options.gold) if name} | set(options.text or ())
    _check_named(rows, named, people)
    item, items = wide_items(rows, {*named, *people}, options)
    shown = shown_columns(rows, options, item, {*named, *people, item})
    taken = {*people, item, *shown.values()}

    def fits(column: Column) -> bool:
        return one_each(column, items)

    gold = options.gold or first_named("gold", rows, taken, fits)
    split = first_named("split", rows, {*taken, gold}, fits)
    who, answer, numbered = (
        free_name(name, rows.columns) for name in ("annotator", "answer", "item")
    )
    choice = Choice(
        item or numbered,
        who,
        (answer,),
        shown,
        gold={answer: gold} if gold else {},
        split=split,
    )
    built = assembled(_melted(rows, people, items, choice), choice, options)
    left_out = tuple(row for row in built.corpus.left_out if row.reason != "no answer")
    built = replace(built, corpus=replace(built.corpus, left_out=left_out))
    said = [
        _recognised(rows, people, item, choice, built),
        *remarks(built),
        *_pattern_remarks(rows, built.others["item"]),
    ]
    return replace(built.corpus, notes=tuple(f"{rows.name}: {line}" for line in said))


def _melted(rows: Rows, people: tuple[str, ...], items: Column, choice: Choice) -> Rows:
    """The same cells in long form: a row per item and annotator, the blank ones too."""
    n_people = len(people)
    item, who, (answer,) = str(choice.item), str(choice.annotator), choice.answer
    kept = {name: column for name, column in rows.columns.items() if name not in people}
    kept[item] = items
    columns = {
        name: Column(column.values, np.repeat(column.codes, n_people))
        for name, column in kept.items()
    }
    everybody = np.tile(np.arange(n_people, dtype=np.int32), rows.n_rows)
    columns[who] = Column(pa.array(people, pa.string()), everybody)
    columns[answer] = cells_of([rows.columns[name] for name in people])
    sets = rows.sets - set(people) | ({answer} if rows.sets & set(people) else set())
    orders = {rows.orders.get(name) for name in people}
    (order,) = orders if len(orders) == 1 else (None,)
    return replace(
        rows,
        columns=columns,
        place=lambda cell: f"{rows.place(cell // n_people)}, column {people[cell % n_people]!r}",
        sets=frozenset(sets),
        orders={answer: order} if order else {},
    )


def _check_named(rows: Rows, named: set[str], people: tuple[str, ...]) -> None:
    rows.check(sorted(named))
    both = sorted(named & set(people))
    if both:
        raise DataError(f"{rows.path}: {both[0]!r} is named as an annotator and as something else")
    held = next((name for name in people if rows.columns[name].is_bytes), None)
    if held is not None:
        raise DataError(f"{rows.path}: column {held!r} holds bytes, not answers")


def _recognised(
    rows: Rows, people: tuple[str, ...], item: str | None, choice: Choice, built: Assembled
) -> str:
    """One line: which column is what, and how much was read."""
    scale = described(built.corpus.questions[choice.answer[0]].scale)
    index = "the column without a name" if rows.index is not None else "the row's number"
    names = ", ".join(people[:MOST_TOLD])
    more = f", ... ({len(people)} in all)" if len(people) > MOST_TOLD else ""
    parts = [f"item = {item or index}", f"annotators = {names}{more} ({scale})"]
    others = [name for names in built.others.values() for name in names]
    apart = [name for name in others if is_apart(name)]
    also = [name for name in others if name not in apart]
    line = f"wide table; {', '.join([*parts, *told_parts(choice)])}"
    line += f"; set apart, not people: {', '.join(apart)}" if apart else ""
    line += f"; also {', '.join(also)}" if also else ""
    return f"{line}; {amounts(built.corpus)}"


def _pattern_remarks(rows: Rows, attributes: list[str]) -> list[str]:
    """A column of counts may say how many items gave the same answers: said, not acted upon."""
    counts = [name for name in attributes if plain(name) in NAMES["count"]]
    return [
        f"{name!r} is kept as a fact about items; if a row stands for {name!r} items with the "
        "same answers, repeat it as often"
        for name in counts
        if rows.columns[name].numbers() is not None
    ]
