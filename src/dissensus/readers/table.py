"""Tables in memory: pandas, polars, Arrow or any other that narwhals knows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.names import order_of
from dissensus.readers.jsonl import set_text, value_text
from dissensus.readers.options import Options
from dissensus.readers.rows import Rows, make_rows
from dissensus.readers.shapes import any_table

_EXACT = 2**53  # beyond, not every whole number is a float


def read_table(table: Any, options: Options) -> Corpus:
    """Read a table that is in memory already."""
    return any_table(rows_of(*_columns(table), path="table", name="table"), options)


def file_rows(path: Path, open_table: Callable[[], Any]) -> Rows:
    """Rows from a file in columns; one that is damaged, or is no UTF-8, is refused.

    The table is checked down to its last offset and letter: its libraries would trust it.
    """
    try:
        table = open_table()
        table.validate(full=True)
        names = table.column_names
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0].removesuffix(".")
        raise DataError(f"{path}: damaged ({reason}); is the file cut off?") from None
    folder = path.resolve().parent
    return rows_of(names, table.columns, str(path), name=path.name, folder=folder)


def rows_of(names: list[Any], arrays: list[Any], path: str, **facts: Any) -> Rows:
    """Rows from Arrow columns of any type, written out as texts."""
    if not arrays:
        raise DataError(f"{path}: no columns")
    sets: set[str] = set()
    orders: dict[str, tuple[str, ...]] = {}
    texts = []
    for name, array in zip(names, arrays, strict=True):
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks() if array.num_chunks else pa.array([], array.type)
        if _is_list(array.type):
            sets.add(str(name).strip())
        if (order := order_of(array)) is not None:
            orders[str(name).strip()] = order
        texts.append(as_texts(array))
    return make_rows(names, texts, path, sets=frozenset(sets), orders=orders, **facts)


def _columns(table: Any) -> tuple[list[Any], list[Any]]:
    """The columns of a table with their names."""
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    if isinstance(table, pa.Table):
        return table.column_names, table.columns
    import narwhals as nw

    table = _with_index(table)
    try:
        frame = nw.from_native(table)
        frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    except TypeError:
        raise DataError(
            f"{type(table).__name__} is neither a path nor a pandas, polars or Arrow table"
        ) from None
    except nw.exceptions.DuplicateError:
        names = [str(name) for name in table.columns]
        return names, [pa.array([])] * len(names)  # refused by `make_rows`, which names them
    arrays = [_arrow(series) for series in frame.iter_columns()]
    if frame.implementation.is_polars():  # whose Enum names values, and need not order them
        arrays = [as_texts(a) if pa.types.is_dictionary(a.type) else a for a in arrays]
    return list(frame.columns), arrays


def _with_index(table: Any) -> Any:
    """A pandas table whose index has a name or holds texts, with the index as columns."""
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


def _arrow(series: Any) -> Any:
    try:
        found = series.to_arrow()
        if not isinstance(found.type, pa.BaseExtensionType):
            return found
        return pa.array([None if _is_gap(value) else str(value) for value in series.to_list()])
    except (pa.ArrowException, TypeError, ValueError, OverflowError):  # 1, "a" and 2**70 together
        values = [None if _is_gap(value) else value for value in series.to_list()]
        if any(isinstance(value, list | tuple | set | frozenset) for value in values):
            sets = [None if value is None else _members(value) for value in values]
            return pa.array(sets, pa.list_(pa.string()))
        return pa.array([value_text(value) for value in values], pa.string())


def _members(value: Any) -> list[str | None]:
    many = isinstance(value, list | tuple | set | frozenset)
    return [value_text(one) for one in (value if many else [value])]


def _is_gap(value: Any) -> bool:
    """None, NaN, NaT and pandas' NA, none of which equals itself."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def as_texts(array: Any) -> Any:
    """An Arrow array as strings, null where there is nothing; bytes that are no text stay.

    Whole numbers that a table library turned into floats because of a gap are whole again;
    durations are seconds.

    Example:
        >>> as_texts(pa.array([1.0, None, 2.0])).to_pylist()
        ['1', None, '2']
        >>> as_texts(pa.array([["joy", "fear"], []])).to_pylist()
        ['["joy", "fear"]', '[]']
    """
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_string(array.type):
        return array
    if _is_list(array.type):
        texts = [None if value is None else set_text(value) for value in array.to_pylist()]
        return pa.array(texts, pa.string())
    if pa.types.is_duration(array.type):
        array = pc.divide(array.cast(pa.duration("ns")).cast(pa.int64()).cast(pa.float64()), 1e9)
    if pa.types.is_floating(array.type):
        array = _whole(array.cast(pa.float64()))
    try:
        return array.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        if pa.types.is_binary(array.type) or pa.types.is_large_binary(array.type):
            return array
        return pa.array([value_text(value) for value in array.to_pylist()], pa.string())


def _is_list(kind: Any) -> bool:
    types = pa.types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _whole(numbers: Any) -> Any:
    numbers = pc.if_else(pc.is_nan(numbers), pa.scalar(None, pa.float64()), numbers)
    whole = pc.and_(pc.equal(pc.floor(numbers), numbers), pc.less(pc.abs(numbers), _EXACT))
    return numbers.cast(pa.int64()) if pc.all(whole).as_py() is not False else numbers
