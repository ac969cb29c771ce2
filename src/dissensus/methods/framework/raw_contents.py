"""What `predict` accepts: a corpus, lists of contents, or a table of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals
import numpy as np
import pyarrow as pa
from narwhals.typing import IntoDataFrame

from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.errors import DataError, listed
from dissensus.names import Names, string_array
from dissensus.readers.tables.column_names import NAMES, candidates, first_named, plain
from dissensus.readers.tables.rows import Column, Rows

Raw = Sequence[Any] | np.ndarray | Mapping[str, Sequence[Any] | np.ndarray]
ItemSource = Corpus | Raw | IntoDataFrame


def corpus_of(source: Any, roles: Sequence[str], kinds: Mapping[str, str]) -> Corpus:
    """Raw contents as a corpus without answers.

    The items of a table are called as in its column of items, such as `id` or `item`, else as in
    the index of a pandas DataFrame, else 0, 1, ...

    Args:
        roles: the roles that the model reads.
        kinds: the kind of content of every role of the training corpus.
    """
    frame = narwhals.from_native(source, eager_only=True, pass_through=True)
    if isinstance(frame, narwhals.DataFrame):
        return _corpus_of_table(source, frame, roles, kinds)
    by_role: Any = source
    if not isinstance(by_role, Mapping):
        if isinstance(by_role, (str, bytes)) or len(roles) != 1:
            names = ", ".join(f"{role!r} ({kinds[role]})" for role in roles) or "nothing"
            raise DataError(f"pass a list of contents for each role; the model reads {names}")
        by_role = {roles[0]: by_role}
    lengths = {len(values) for values in by_role.values()}
    if len(lengths) != 1 or any(role not in kinds for role in by_role):
        raise DataError(
            f"pass one list for each role, all of the same length; the model has the roles "
            f"{listed(kinds)}"
        )
    contents = {role: _contents(role, kinds[role], values) for role, values in by_role.items()}
    return Corpus.build("contents", Names.range(lengths.pop()), {}, contents=contents)


def index_of(source: Any) -> Any | None:
    """The index of a pandas DataFrame; None for other sources."""
    frame = narwhals.from_native(source, eager_only=True, pass_through=True)
    is_frame = isinstance(frame, narwhals.DataFrame) and frame.implementation.is_pandas()
    return source.index if is_frame else None


def _corpus_of_table(
    table: Any, frame: Any, roles: Sequence[str], kinds: Mapping[str, str]
) -> Corpus:
    known = {name for part in ("item", *roles) for name in NAMES.get(part, ())}
    wanted = [name for name in frame.columns if name in roles or plain(name) in known]
    rows = Rows({name: Column.of(_texts(frame[name])) for name in wanted}, "table", "table")
    columns = _role_columns(rows, roles, frame.columns)
    contents = {
        role: _contents(role, kinds[role], frame[column].to_arrow().to_pylist())
        for role, column in columns.items()
    }
    taken = set(columns.values())
    named = (name for name in candidates("item", rows, taken) for column in [rows.columns[name]]
             if len(column.values) == len(column))  # fmt: skip
    item = next(named, None)
    names = Names.range(len(frame))
    index = index_of(table)
    if item is not None:
        names = Names(rows.columns[item].array())
        columns = {"item": item, **columns}
    elif index is not None and index.is_unique and not index.isna().any():
        names = Names([str(label) for label in index])
    return Corpus.build("contents", names, {}, contents=contents, columns=columns)


def _texts(series: Any) -> Any:
    """A column as Arrow strings; null where its cells are no texts or numbers."""
    array = series.to_arrow()
    try:
        return string_array(array)
    except (pa.ArrowException, TypeError):
        return pa.nulls(len(array), pa.string())


def _role_columns(rows: Rows, roles: Sequence[str], every: Sequence[str]) -> dict[str, str]:
    """The column of each role: the one of the same name, or one that `read` would take for it."""
    columns = {role: role for role in roles if role in rows.columns}
    for role in roles:
        if role not in columns:
            name = first_named(role, rows, set(columns.values())) if role in NAMES else None
            if name is not None:
                columns[role] = name
    missing = [role for role in roles if role not in columns]
    if missing:
        raise DataError(
            f"the model reads {listed(roles)}, but the table has no column {listed(missing)}; it "
            f"has {listed(every)}"
        )
    return columns


def _contents(role: str, kind: Any, values: Any) -> tuple[Contents, np.ndarray]:
    """The contents of one role; a path may be a string or a Path."""
    plain = [os.fspath(value) if isinstance(value, os.PathLike) else value for value in values]
    try:
        return Contents.distinct(kind, plain)
    except (pa.ArrowException, TypeError, ValueError) as error:
        expected = {"text": "texts", "features": "arrays of numbers"}
        raise DataError(
            f"{role!r} must be {expected.get(kind, 'paths, or bytes of files')}, or None without "
            f"content ({str(error).splitlines()[0]})"
        ) from None
