"""Vote tables: one row per item, one column of counts per value -> Corpus.

    text,count,hate,offensive,neither,class
    so good!,5,0,1,4,2

Counts are recognised by what they hold: their sum stands in another column, or is the same in
every row, or a further column names the value with the largest count. That column is the majority,
which is no annotator's answer.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from dissensus.corpus import Corpus
from dissensus.errors import counted
from dissensus.readers.options import Options
from dissensus.readers.tables.answers import described
from dissensus.readers.tables.assembly import assembled
from dissensus.readers.tables.column_names import first_named
from dissensus.readers.tables.column_roles import Choice, one_each, shown_columns
from dissensus.readers.tables.item_rows import cells_of, free_name, wide_items
from dissensus.readers.tables.notes import amounts, remarks, told_parts
from dissensus.readers.tables.rows import Column, Rows
from dissensus.readers.tables.vote_columns import Votes

# ---- which columns are votes ----


# ---- as a corpus ----


def votes_table(rows: Rows, votes: Votes, options: Options) -> Corpus:
    """Turn a vote table into a corpus of one question, "answer", with a count for each value.

    Columns that are not counts, the item, what was shown, gold or a split become attributes of the
    items, so also the majority and the sum.
    """
    named = {name for name in (options.item, options.gold) if name} | set(options.text or ())
    rows.check(sorted(named))
    taken = {*named, *votes.counts} | {name for name in (votes.total, votes.majority) if name}
    item, items = wide_items(rows, taken, options)
    shown = shown_columns(rows, options, item, {*taken, item})
    taken |= {*shown.values()} | ({item} if item else set())

    def fits(column: Column) -> bool:
        return one_each(column, items)

    gold = options.gold or first_named("gold", rows, taken, fits)
    split = first_named("split", rows, {*taken, gold}, fits)
    answer, count, numbered = (free_name(n, rows.columns) for n in ("answer", "count", "item"))
    choice = Choice(
        item or numbered,
        None,
        (answer,),
        shown,
        gold={answer: gold} if gold else {},
        count=count,
        split=split,
    )
    built = assembled(_melted(rows, votes, items, choice), choice, replace(options, answer=None))
    parts = [
        f"item = {item or ('the column without a name' if rows.index else 'the row number')}",
        f"counts = {', '.join(votes.counts)} ({described(built.corpus[answer].scale)})",
        *([f"their sum = {votes.total}"] if votes.total else []),
        *told_parts(replace(choice, count=None)),
    ]
    line = f"vote table; {', '.join(parts)}"
    if votes.majority:
        line += f"; {votes.majority} is the majority, not an answer"
        line += f", except in {counted(votes.n_other, 'row')}" if votes.n_other else ""
    used = {votes.total, votes.majority}
    also = [name for names in built.others.values() for name in names if name not in used]
    line += f"; also {', '.join(also)}" if also else ""
    said = [f"{line}; {amounts(built.corpus)}", *remarks(built)]
    return replace(built.corpus, notes=tuple(f"{rows.name}: {one}" for one in said))


def _melted(rows: Rows, votes: Votes, items: Column, choice: Choice) -> Rows:
    """The counts in long form: a row for each item and value."""
    n_values = len(votes.counts)
    (answer,), count = choice.answer, str(choice.count)
    kept = {name: one for name, one in rows.columns.items() if name not in votes.counts}
    kept[str(choice.item)] = items
    columns = {n: Column(one.values, np.repeat(one.codes, n_values)) for n, one in kept.items()}
    values = np.tile(np.arange(n_values, dtype=np.int32), rows.n_rows)
    columns[answer] = Column(pa.array(votes.values, pa.string()), values)
    columns[count] = cells_of([rows.columns[name] for name in votes.counts])
    return replace(
        rows,
        columns=columns,
        place=lambda at: f"{rows.place(at // n_values)}, column {votes.counts[at % n_values]!r}",
        sets=frozenset(),
        orders={},
    )
