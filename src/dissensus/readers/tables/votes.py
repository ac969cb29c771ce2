"""Vote tables: one row per item, one column of counts per value -> Corpus.

text,count,hate,offensive,neither,class
so good!,5,0,1,4,2
"""

from __future__ import annotations

from dataclasses import replace

from dissensus.corpus import Corpus
from dissensus.readers.layout import Layout
from dissensus.readers.tables.assembly import assemble
from dissensus.readers.tables.item_rows import cells_of, item_roles, repeated, spread
from dissensus.readers.tables.notes import votes_notes, with_notes
from dissensus.readers.tables.rows import Rows
from dissensus.readers.tables.vote_columns import Votes


def votes_table(rows: Rows, votes: Votes, options: Layout) -> Corpus:
    """Turn a vote table into a corpus of one question, "answer", with a count for each value.

    Columns that are neither counts nor the item, its content, gold or a split become attributes of
    the items; so do the majority and the sum.
    """
    rows.check([name for name in (options.item, options.gold, *(options.text or ())) if name])
    derived = {name for name in (votes.total, votes.majority) if name}
    roles, items = item_roles(rows, options, {*votes.counts, *derived}, added="count")
    (answer,) = roles.answer
    table = spread(rows, votes.counts, items, roles)
    columns = {
        **table.columns,
        answer: repeated(votes.values, rows.n_rows),
        str(roles.count): cells_of([rows.columns[name] for name in votes.counts]),
    }
    table = replace(table, columns=columns)
    assembled = assemble(table, roles, replace(options, answer=None))
    return with_notes(assembled.corpus, rows, votes_notes(rows, roles, assembled, votes))
