"""Tables of answers: the items of a prediction as the user has them, written to files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from dissensus.annotations.annotations import middle
from dissensus.corpus import Corpus
from dissensus.corpus.tables import item_column, item_columns, with_columns
from dissensus.errors import DataError
from dissensus.files.folders import check_free_file, staged
from dissensus.files.tabular import DIGITS, check_table, is_table, save_table
from dissensus.prediction.prediction import Prediction
from dissensus.scales import Nominal, Ordinal


def answers_table(
    corpus: Corpus, prediction: Prediction, by: Literal["item", "annotator"] = "item", **counts: Any
) -> pa.Table:
    """The items of a prediction as the user has them, with the answer, its confidence and the
    share of each value.

    Args:
        corpus: what was predicted; it has the text and other columns of each item.
        by: rows are items, or pairs of item and annotator.
        counts: further columns after the confidence.
    """
    table = prediction.to_table(by)
    columns: dict[str, Any] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):  # without a copy
        columns[name] = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    about = item_columns(corpus) or {item_column(corpus): corpus.items.array}
    items = columns.pop("item")
    if by != "item" or prediction.items is not corpus.items:
        at = pa.array(corpus.items.codes(items, "item"))
        about = {name: column.take(at) for name, column in about.items()}
    if "annotator" in columns:
        name = corpus.columns.get("annotator", "annotator")
        about = with_columns(about, {name: columns.pop("annotator")})
    first: dict[str, Any] = {
        name: columns.pop(name) for name in ("answer", "confidence", "sd") if name in columns
    }
    return pa.table(with_columns(about, {**first, **counts, **columns}))


def other_than_largest(prediction: Prediction) -> np.ndarray:
    """Items whose consensus is the median, but another level has a larger share, (n_items,)."""
    if not isinstance(prediction.scale, Ordinal):
        return np.zeros(len(prediction.consensus), dtype=bool)
    shares = prediction.distribution
    own = np.take_along_axis(shares, prediction.consensus[:, None].astype(int), axis=1)[:, 0]
    return np.asarray(own < shares.max(axis=1) * (1 - 1e-9))


def median_note(question: str, prediction: Prediction) -> list[str]:
    """A line if medians are not the levels with the largest share; else nothing."""
    n = int(other_than_largest(prediction).sum())
    one = "answer is the median" if n == 1 else "answers are medians"
    return [f"{question}: {n:,} {one}, where another level has a larger share"] if n else []


def consensus_table(corpus: Corpus, question: str, prediction: Prediction) -> pa.Table:
    """The items of a question with their consensus, its confidence, the number of answers, and the
    values that tie: with one, the answer is the first of them on the scale."""
    annotations = corpus[question]
    answers = annotations.per_item()[corpus.items.codes(prediction.items, "item")]
    counts: dict[str, Any] = {"answers": answers}
    if isinstance(prediction.scale, Nominal | Ordinal):
        mass = prediction.distribution
        best = mass >= mass.max(axis=1, keepdims=True) * (1 - 1e-9)
        if isinstance(prediction.scale, Ordinal) and prediction.gives == "share":
            if np.array_equal(prediction.consensus, prediction.scale.consensus(mass)):
                best = middle(np.round(mass, 9))  # it is a median
        counts |= _ties(best, np.array(prediction.scale.values, dtype=object))
    return answers_table(corpus, prediction, **counts)


def _ties(best: np.ndarray, values: np.ndarray) -> dict[str, Any]:
    """Whether several values of a row (n, n_values) are best, and which."""
    tied = np.flatnonzero(best.sum(axis=1) > 1)
    rows = np.ascontiguousarray(np.packbits(best[tied], axis=1))
    _, first, at = np.unique(rows.view(f"V{rows.shape[1]}"), return_index=True, return_inverse=True)
    names = pa.array([*(", ".join(values[best[row]]) for row in tied[first]), ""], pa.string())
    place = np.full(len(best), len(first))
    place[tied] = at.reshape(-1)
    return {"tied": place < len(first), "tied_values": names.take(pa.array(place))}


def write_answers(
    tables: Mapping[str, pa.Table], output: Path, overwrite: bool = False
) -> list[Path]:
    """Write the table of each question; return the files.

    One question is written to `output`, several to a file each, such as said-label.csv, or
    label.csv in a folder.

    Args:
        overwrite: whether files that exist are replaced.
    """
    if is_table(output) and len(tables) == 1:
        paths = dict.fromkeys(tables, output)
    elif is_table(output):
        stem, ending = output.with_suffix(""), output.suffix
        paths = {q: stem.with_name(f"{stem.name}-{_file_name(q)}{ending}") for q in tables}
    else:
        paths = {question: output / f"{_file_name(question)}.csv" for question in tables}
    if len(set(paths.values())) < len(paths):  # questions "a/b" and "a:b"
        numbered = enumerate(paths.items(), 1)
        paths = {q: p.with_name(f"{p.stem}-{n}{p.suffix}") for n, (q, p) in numbered}
    for path in paths.values():
        check_free_file(path, overwrite)
    for question, path in paths.items():
        own = tables[question]
        write_tables([with_question(own, question) if len(tables) > 1 else own], path)
    return list(paths.values())


def with_question(table: pa.Table, question: str) -> pa.Table:
    """The table with a column that names the question, before the answer."""
    names = [name for name in table.column_names if name.startswith("answer")]
    place = table.column_names.index(names[0]) if names else 0
    name = "question"
    while name in table.column_names:
        name += "_"
    return table.add_column(place, name, pa.array([question] * len(table), pa.string()))


def write_tables(tables: Sequence[Any], output: Path, digits: int = DIGITS) -> None:
    """Write the tables of all questions as one; columns that a table does not have are empty.

    Args:
        tables: an Arrow table, or cells by name of the column, for each question.
        output: a file whose ending says the format.
        digits: significant ones, of numbers in text files.
    """
    check_table(output)
    with staged(output) as path:
        save_table(joined(tables), path, digits)


def joined(tables: Sequence[Any]) -> pa.Table:
    """The rows of all tables; columns of different types, such as texts and numbers, are texts."""
    tables = [table if isinstance(table, pa.Table) else pa.table(table) for table in tables]
    if not tables:
        raise DataError("nothing to write: there is no question")
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowTypeError:
        types = {(field.name, field.type) for table in tables for field in table.schema}
        names = [name for name, _ in types]
        several = {name for name in names if names.count(name) > 1}
        return pa.concat_tables(
            [_with_texts(table, several) for table in tables], promote_options="permissive"
        )


def _with_texts(table: pa.Table, names: set[str]) -> pa.Table:
    """The table with these columns as texts, sets joined by commas."""
    for at, name in enumerate(table.column_names):
        if name in names:
            values = table[at].to_pylist()
            cells = [
                ",".join(map(str, each)) if isinstance(each, list) else each for each in values
            ]
            cells = [None if cell is None else str(cell) for cell in cells]
            table = table.set_column(at, name, pa.array(cells, pa.string()))
    return table


def _file_name(question: str) -> str:
    return re.sub(r'[\\/:*?"<>|\s.]+', "-", question).strip("-") or "question"
