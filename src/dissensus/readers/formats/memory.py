"""Tables in memory: pandas, polars, Arrow or any other that narwhals supports, Hugging Face
datasets, lists of objects, and columns by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.readers.files import check_width
from dissensus.readers.formats.parquet import with_class_names
from dissensus.readers.json_text import value_text
from dissensus.readers.layout import IN_MEMORY, Layout
from dissensus.readers.tables.arrow_columns import arrow_rows, as_texts
from dissensus.readers.tables.shapes import table_corpus


def read_table(table: Any, options: Layout) -> Corpus:
    """Read a table that is in memory already."""
    return table_corpus(arrow_rows(*_columns(table), path=IN_MEMORY, name=IN_MEMORY), options)


def _columns(table: Any) -> tuple[list[Any], list[Any]]:
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    if hasattr(table, "with_format") and hasattr(table, "features"):  # of Hugging Face
        table = table.with_format("arrow")[:]
    if isinstance(table, pa.Table):
        table = with_class_names(table)
        return table.column_names, table.columns
    if isinstance(table, list | tuple | Mapping):
        columns = _of_objects(table)
        return list(columns), [_array(column) for column in columns.values()]
    import narwhals as nw

    table = _with_index(table)
    try:
        frame = nw.from_native(table)
        frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    except TypeError:
        raise DataError(
            f"{type(table).__name__} is neither a path nor a table: pass a pandas, polars or Arrow "
            "table, a dataset of Hugging Face, a list of dicts, or a dict of columns"
        ) from None
    except nw.exceptions.DuplicateError:
        names = [str(name) for name in table.columns]
        return names, [pa.array([])] * len(names)  # refused by `make_rows`, which names them
    check_width(len(frame.columns), IN_MEMORY)
    if any("\0" in str(name) for name in frame.columns):  # which polars panics at
        raise DataError(f"{IN_MEMORY}: the name of a column contains a NUL character; rename it")
    arrays = [_arrow(series) for series in frame.iter_columns()]
    if frame.implementation.is_polars():  # whose Enum names values, and need not order them
        arrays = [as_texts(a) if pa.types.is_dictionary(a.type) else a for a in arrays]
    return list(frame.columns), arrays


def _with_index(table: Any) -> Any:
    """A pandas table whose index has a name or contains texts, with the index as columns."""
    index: Any = getattr(table, "index", None)
    names = getattr(index, "names", None)
    if (
        names is None
        or not hasattr(table, "columns")
        or any(name in table.columns for name in names)
    ):
        return table
    if list(names) == [None] and "" not in table.columns and index.dtype.kind in "OTU":
        return table.reset_index(names="")
    return table if None in names else table.reset_index()


def _of_objects(table: Any) -> dict[str, list[Any]]:
    """The columns of a list of dicts, a row each, or of a dict of columns."""
    if isinstance(table, Mapping):
        try:
            columns = {str(name): list(column) for name, column in table.items()}
        except TypeError:
            raise DataError(f"{IN_MEMORY}: a dict must have a list of values by column") from None
        if len(lengths := {len(column) for column in columns.values()}) > 1:
            raise DataError(
                f"{IN_MEMORY}: the columns have different lengths: {sorted(lengths)[:5]}"
            )
        return columns
    if wrong := next((row for row in table if not isinstance(row, Mapping)), None):
        raise DataError(
            f"{IN_MEMORY}: a list must have a dict for each row, found {type(wrong).__name__}"
        )
    names = dict.fromkeys(name for row in table for name in row)
    check_width(len(names), IN_MEMORY)
    return {str(name): [row.get(name) for row in table] for name in names}


def _arrow(series: Any) -> Any:
    try:
        array = series.to_arrow()
        if not isinstance(array.type, pa.BaseExtensionType):
            return array
        return pa.array([None if _is_gap(value) else str(value) for value in series.to_list()])
    except (pa.ArrowException, TypeError, ValueError, OverflowError):  # 1, "a" and 2**70 together
        return _mixed([None if _is_gap(value) else value for value in series.to_list()])


def _array(values: list[Any]) -> Any:
    values = [None if _is_gap(value) else value for value in values]
    try:
        return pa.array(values)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return _mixed(values)


def _mixed(values: list[Any]) -> Any:
    """Values of different kinds as texts, or as sets if there are some."""
    several = (list, tuple, set, frozenset)
    if not any(isinstance(value, several) for value in values):
        return pa.array([value_text(value) for value in values], pa.string())
    sets = [list(value) if isinstance(value, several) else [value] for value in values]
    texts = [None if of == [None] else [value_text(one) for one in of] for of in sets]
    return pa.array(texts, pa.list_(pa.string()))


def _is_gap(value: Any) -> bool:
    """None, NaN, NaT and pandas' NA, none of which equals itself."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value
