"""What the readers of annotation tools' exports share: a table of texts whose columns are known."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from dissensus.corpus import Corpus, LeftOut
from dissensus.errors import DataError, listed
from dissensus.readers.answers import described
from dissensus.readers.columns import Choice, kind_of
from dissensus.readers.long import amounts, assembled, remarks
from dissensus.readers.options import Options
from dissensus.readers.rows import Rows, make_rows

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
    return make_rows(
        list(columns),
        [pa.array(column, pa.string()) for column in columns.values()],
        str(path),
        name=path.name,
        place=places.__getitem__,
        folder=path.resolve().parent,
        sets=frozenset(sets),
    )


def corpus_of(
    rows: Rows, choice: Choice, options: Options, tool: str, left: Left, said: Iterable[str] = ()
) -> Corpus:
    """The corpus that a table of answers is; its first note says what was recognised.

    Args:
        said: further notes.
    """
    plain = replace(options, item=None, annotator=None, answer=None, text=None)
    built = assembled(rows, choice, plain)
    more = [LeftOut(question, reason, n) for (question, reason), n in left.items()]
    corpus = replace(built.corpus, left_out=(*built.corpus.left_out, *more))
    asked = "; ".join(f"{q} ({described(a.scale)})" for q, a in corpus.questions.items())
    notes = [f"{tool}; {asked}; {amounts(corpus)}", *said]
    notes += [f"left out: {by_reason(left)}"] if left else []
    return replace(corpus, notes=tuple(f"{rows.name}: {line}" for line in notes + remarks(built)))


def is_here(rows: Rows, column: str) -> bool:
    """Whether a column holds texts, or names one file at least that is here."""
    if kind_of(column) == "text":
        return True
    written = rows.columns[column].values.to_pylist()
    return any(os.path.isfile(os.path.join(rows.folder, path.strip())) for path in written)


def by_reason(left: Left) -> str:
    """How many answers are not read, and why.

    Example:
        >>> by_reason(Counter({("rude", "ignored"): 2, ("odd", "ignored"): 1}))
        'ignored 3'
    """
    reasons = Counter[str]()
    for (_, reason), n in left.items():
        reasons[reason] += n
    return ", ".join(f"{reason} {n}" for reason, n in reasons.items())
