"""Readers: a file, a corpus folder or a table in memory -> Corpus.

`formats/` has a file for each format, `tables/` what the columns of a table mean, `exports/` what
the exports of annotation tools share. A table goes one way through them: its format makes `Rows` of
it (`tables/rows.py`), `tables/shapes.py` proposes a layout of it where none is stated,
`tables/forms.py` makes a row for each answer and finds the roles of its columns, and
`tables/assembly.py` the corpus. An export of an annotation tool becomes a list of `Response`
(`exports/responses.py`). `recognition.py` has the table of all formats, `READERS`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dissensus.corpus import Corpus
from dissensus.errors import DataError, did_you_mean
from dissensus.files.plain import check_plain
from dissensus.readers.joins import (
    with_annotator_attributes,
    with_feature_file,
    with_gold,
    with_items,
)
from dissensus.readers.layout import Layout, kept_layout, layout_of, layouts_taken, take
from dissensus.readers.recognition import READERS as READERS
from dissensus.readers.recognition import Format as Format
from dissensus.readers.recognition import recognise as recognise
from dissensus.readers.recognition import register as register
from dissensus.readers.tables.shapes import SHAPES

TABLES = ("spreadsheet", "parquet", "arrow", "jsonl", "csv")  # formats that are nothing but a table


def read(
    source: Any,
    *,
    gold: Any = None,
    items: Any = None,
    features: Any = None,
    annotator_attributes: Any = None,
    layout: Layout | str | Path | Mapping[str, Any] | None = None,
    **options: Any,
) -> Corpus:
    """Read a corpus from a file, a corpus folder or a table in memory.

    The format and the columns are recognised; `corpus.notes` says what was recognised. The
    arguments are those of `dissensus.read`, which reads public corpora too.

    Example:
        >>> import pyarrow as pa
        >>> table = pa.table({"task": ["t1", "t1"], "worker": ["ann", "bob"], "label": [1, 0]})
        >>> corpus = read(table)
        >>> print(*corpus.notes)
        table: long table; item = task, annotator = worker, answer = label (nominal: 0, 1);
        2 answers by 2 annotators on 1 item
    """
    files = {"gold": gold, "features": features}
    own = {part: value for part, value in files.items() if not _is_file(value)}
    laid_out = _with_layout(source, Layout(**options, **own), layout)
    if _is_file(laid_out.gold):
        gold, laid_out = laid_out.gold, laid_out.with_changes(gold=None)
    if len(laid_out.features) == 1 and _is_file(laid_out.features[0]):
        features, laid_out = laid_out.features[0], laid_out.with_changes(features=())
    items = laid_out.items if items is None else items
    if annotator_attributes is None:
        annotator_attributes = laid_out.annotator_attributes
    with layouts_taken() as taken:  # also those of tables to join, which are not the file's own
        corpus = _read(source, laid_out, None if laid_out.format in SHAPES else laid_out.format)
        layouts = list(taken)
        if annotator_attributes is not None:
            columns = _columns(annotator_attributes)
            corpus = with_annotator_attributes(corpus, annotator_attributes, columns)
        corpus = _joined(corpus, items, gold if _is_file(gold) else None,
                         features if _is_file(features) else None, laid_out.item)  # fmt: skip
    for layout_taken in layouts:
        take(layout_taken.with_changes(corpus=laid_out.corpus))
    return corpus


def _with_layout(source: Any, stated: Layout, layout: Any) -> Layout:
    """What is stated, and for the rest the layout that is given, or kept next to the file."""
    is_path = isinstance(source, str | os.PathLike)
    if layout is None and is_path:
        layout = kept_layout(Path(source))
    if layout is not None:
        stated = layout_of(layout).with_changes(**stated.stated())
    formats = (*READERS, *SHAPES)
    if stated.format is not None and stated.format not in formats:
        raise DataError(
            f"no format {stated.format!r}{did_you_mean(stated.format, formats)}; there are "
            f"{', '.join(formats)}"
        )
    return stated


def _read(source: Any, layout: Layout, file_format: str | None = None) -> Corpus:
    """Read a file of this format, or of the one that is recognised, or a table in memory."""
    if not isinstance(source, str | os.PathLike):
        from dissensus.readers.formats.memory import read_table

        return read_table(source, layout)
    path = Path(source)
    check_plain(path)
    if layout.files is not None and path.is_dir():
        file_format = file_format or "folder"
    return READERS[file_format or recognise(path)].corpus(path, layout)


def _is_file(source: Any) -> bool:
    """Whether an option names a file, not a column."""
    return isinstance(source, str | os.PathLike) and os.path.isfile(source)


def _columns(source: Any) -> dict[str, Any]:
    """The columns of a table as texts, whatever they mean."""
    file_format = None
    if isinstance(source, str | os.PathLike):
        file_format = recognise(Path(source))
        file_format = file_format if file_format in TABLES else "csv"
    return _read(source, Layout(columns_only=True), file_format).item_attributes


def _joined(corpus: Corpus, items: Any, gold: Any, features: Any, item: str | None) -> Corpus:
    order = None
    if items is not None:
        other = read(items, answer=(), item=item)
        order, corpus = other.items, with_items(corpus, items, other)
    if gold is not None:
        corpus = with_gold(corpus, gold, read, item)
    if features is not None:
        corpus = with_feature_file(corpus, features, read, item, order)
    return corpus
