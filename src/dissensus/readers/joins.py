"""Joins: facts about items and annotators that are in files of their own, joined by name."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.errors import DataError, counted, listed
from dissensus.files.plain import numpy_array
from dissensus.names import Names
from dissensus.readers.files import read_bytes
from dissensus.readers.tables.assembly import typed_cells
from dissensus.readers.tables.column_names import NAMES, plain
from dissensus.readers.tables.shapes import UNNAMED

Read = Callable[..., Corpus]


def with_items(corpus: Corpus, source: Any, other: Corpus) -> Corpus:
    """The corpus with the items that were read from a table: contents, attributes, splits."""
    names = _about(source)
    n_shared = _n_shared(corpus, other.items, names)
    joined = _on_items(corpus, other.items)
    at = other.items.find(joined.items)
    n_more = joined.n_items - corpus.n_items
    note = (
        f"{names}: items joined: {n_shared} of {counted(corpus.n_items, 'item')} with answers, "
        f"{counted(n_more, 'item')} without"
    )
    attributes = {name: _taken(values, at) for name, values in other.item_attributes.items()}
    splits = {name: _taken(values, at) for name, values in other.splits.items()}
    gold = {q: one.on(joined.items, Names.range(0)) for q, one in other.gold.items()}
    return _changed(
        joined,
        (*other.notes, note),
        contents=dict(joined.contents) | dict(other.contents),
        content=dict(joined.content) | {role: _at(of, at) for role, of in other.content.items()},
        item_attributes=joined.item_attributes | attributes,
        splits=joined.splits | splits,
        gold=joined.gold | gold,
    )


def _changed(corpus: Corpus, notes: tuple[str, ...], **fields: Any) -> Corpus:
    """The corpus with other fields, which are checked, and more notes."""
    result = replace(corpus, notes=(*corpus.notes, *notes), **fields)
    result.check()
    return result


def with_annotator_attributes(corpus: Corpus, source: Any, columns: Mapping[str, Any]) -> Corpus:
    """The corpus with the attributes of annotators in another table, a row for each annotator.

    Args:
        columns: of the table, as Arrow strings. The one with the names of annotators is recognised
            by its entries; among several, by its name.
    """
    names = _about(source)
    if not corpus.n_annotators:
        raise DataError(
            f"{names}: attributes of annotators, but the answers are anonymous; name the column of "
            "annotators (annotator=, --annotator)"
        )
    key = _annotator_column(corpus, columns, names)
    rows = np.flatnonzero(columns[key].is_valid())  # those that name an annotator
    found = Names(columns[key].take(pa.array(rows))).find(corpus.annotators)
    place = np.where(found >= 0, rows[found], -1)
    attributes = {
        name: typed_cells(_taken(values, place))
        for name, values in columns.items()
        if name not in (key, UNNAMED)
    }
    note = (
        f"{names}: {', '.join(attributes) or 'no attribute'} of {int((place >= 0).sum())} of "
        f"{counted(corpus.n_annotators, 'annotator')}"
    )
    every = corpus.annotator_attributes | attributes
    return _changed(corpus, (note,), annotator_attributes=every)


def _annotator_column(corpus: Corpus, columns: Mapping[str, Any], names: str) -> str:
    """The column with the names of annotators, one in each row; refused if there is none."""
    annotators = set(corpus.annotators)
    own_name = corpus.columns.get("annotator", "annotator")
    entries = {name: values.drop_null().to_pylist() for name, values in columns.items()}

    def likelihood(name: str) -> tuple[bool, bool, bool, int]:
        unique = len(set(entries[name])) == len(entries[name])
        known = plain(name) in NAMES["annotator"]
        return plain(name) == plain(own_name), unique, known, len(annotators & set(entries[name]))

    shared = [name for name in columns if annotators & set(entries[name])]
    if not shared:
        name = max(columns, key=lambda name: likelihood(name)[:3])
        raise DataError(
            f"{names}: no annotator in common: {name} has {listed(entries[name][:3])}, the answers "
            f"have {listed(list(corpus.annotators[:3]))}"
        )
    key = max(shared, key=likelihood)
    repeated = [name for name, n in Counter(entries[key]).items() if n > 1]
    if repeated:
        raise DataError(
            f"{names}: {counted(entries[key].count(repeated[0]), 'row')} for the annotator "
            f"{repeated[0]!r} in {key!r}; keep one row for each annotator"
        )
    return key


def with_gold(corpus: Corpus, source: Any, read: Read, item: str | None) -> Corpus:
    """The corpus with the gold labels of another table, one for each item."""
    if len(corpus.questions) != 1:
        raise DataError(
            f"{source}: gold labels for one question, but there are {listed(corpus.questions)}; "
            "choose one (answer=, --answer)"
        )
    ((question, annotations),) = corpus.questions.items()
    answer = _label_column(source, read, item)
    try:
        other = read(source, item=item, answer=answer, scale=annotations.scale)
    except DataError:  # labels that no annotator gave: a scale of their own
        other = read(source, item=item, answer=answer)
    (labels,) = other.questions.values()
    per_item = labels.per_item()
    if per_item.max() > 1:
        name = other.items[int(per_item.argmax())]
        raise DataError(f"{source}: item {name!r} has {per_item.max()} gold labels")
    names = _about(source)
    _n_shared(corpus, other.items, names)
    joined = _on_items(corpus, other.items)
    bare = Annotations.from_arrays(
        labels.item, None, labels.answer, labels.scale, items=labels.items
    )
    gold = {question: bare.on(joined.items, Names.range(0))}
    note = f"{names}: gold labels of {counted(bare.n_rows, 'item')} for {question!r}"
    return _changed(joined, (note,), gold=joined.gold | gold)


def _label_column(source: Any, read: Read, item: str | None) -> str:
    """The column of labels: one with a known name, or the only one beside the item."""
    other = read(source, answer=(), item=item)
    names = [*other.item_attributes, *other.columns.values(), *other.splits]
    names = [name for name in names if name != other.columns.get("item")]
    if not names:
        raise DataError(f"{source}: no column with one gold label for each item")
    known = [name for name in names if plain(name) in (*NAMES["gold"], *NAMES["answer"])]
    if len(known) == 1 or len(names) == 1:
        return (known or names)[0]
    raise DataError(f"{source}: which column has gold labels? It has {listed(names)}; keep one")


def with_feature_file(
    corpus: Corpus, source: Any, read: Read, item: str | None, order: Names | None
) -> Corpus:
    """The corpus with the features of another file: an array with a row per item, or a table.

    Args:
        order: the items in the order of the file of items, which the rows of an array follow.
    """
    names = _about(source)
    if str(source).endswith(".npy"):
        vectors, items = numpy_array(read_bytes(Path(source)), Path(source)), order
        if vectors.ndim not in (2, 3) or vectors.dtype.kind not in "iuf" or not len(vectors):
            shape = vectors.shape
            raise DataError(f"{source}: features are items x numbers, found the shape {shape}")
        if not np.isfinite(vectors).all():
            raise DataError(f"{source}: features contain nan or infinite numbers")
        numbers = Names.range(len(vectors))
        if items is None and (numbers.find(corpus.items) >= 0).all():
            items = numbers  # of the rows of the array
        if items is None or len(items) != len(vectors):
            known = f"{len(items)} items" if items is not None else "no order of items"
            raise DataError(
                f"{source}: {len(vectors)} rows, but {known}; give the items in the same order "
                "(items=, --items), or write a table with a column of items"
            )
        contents, codes = Contents.distinct("features", np.asarray(vectors, dtype=np.float32))
    else:
        other = read(source, answer=(), item=item)
        if "features" not in other.contents:
            raise DataError(
                f"{source}: no features recognised; name their columns x0, x1, x2 and so on"
            )
        items, contents, codes = other.items, other.contents["features"], other.content["features"]
    n_shared, at = _n_shared(corpus, items, names), items.find(corpus.items)
    note = f"{names}: features of {n_shared} of {counted(corpus.n_items, 'item')}"
    every = {**corpus.contents, "features": contents}
    content = {**corpus.content, "features": _at(codes, at)}
    return _changed(corpus, (note,), contents=every, content=content)


def _n_shared(corpus: Corpus, items: Names, names: str) -> int:
    """How many items of the corpus another table has; refused if there is none."""
    n_shared = int((items.find(corpus.items) >= 0).sum())
    if not n_shared:
        raise DataError(
            f"{names}: no item in common: it has {listed(list(items[:3]))}, the answers have "
            f"{listed(list(corpus.items[:3]))}"
        )
    return n_shared


def _on_items(corpus: Corpus, more: Names) -> Corpus:
    """The corpus with further items, after its own."""
    new = more.take(np.flatnonzero(corpus.items.find(more) < 0))
    if not len(new):
        return corpus
    items = Names(pa.concat_arrays([corpus.items.array, new.array]))
    at = corpus.items.find(items)
    return replace(
        corpus,
        items=items,
        questions={q: one.on(items, corpus.annotators) for q, one in corpus.questions.items()},
        content={role: _at(codes, at) for role, codes in corpus.content.items()},
        item_attributes={n: _taken(v, at) for n, v in corpus.item_attributes.items()},
        gold={q: one.on(items, Names.range(0)) for q, one in corpus.gold.items()},
        splits={n: _taken(v, at) for n, v in corpus.splits.items()},
    )


def _at(codes: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Codes of contents at these places, -1 at -1."""
    return np.asarray(np.r_[codes, -1][at], dtype=np.int32)


def _taken(values: Any, at: np.ndarray) -> Any:
    """Values at these places, null at -1."""
    return values.take(pa.array(at, mask=at < 0))


def _about(source: Any) -> str:
    return Path(source).name if isinstance(source, str | os.PathLike) else "table"
