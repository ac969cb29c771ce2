"""Arrow columns of any type, as columns of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dissensus.errors import DataError
from dissensus.names import order_of
from dissensus.readers.json_text import set_text, value_text
from dissensus.readers.tables.rows import Rows, make_rows

_EXACT = 2**53  # beyond, not every whole number is a float


def file_rows(path: Path, open_table: Callable[[], Any]) -> Rows:
    """Rows from a file in columns; it is checked down to its last offset and letter, as libraries
    would trust a damaged one."""
    with damage_named(path):
        table = open_table()
        table.validate(full=True)
        names = table.column_names
    folder = path.resolve().parent
    return arrow_rows(names, table.columns, str(path), name=path.name, folder=folder)


@contextmanager
def damage_named(path: Path) -> Iterator[None]:
    """Turn an error of Arrow about a damaged file into one line."""
    try:
        yield
    except DataError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0].removesuffix(".")
        raise DataError(f"{path}: damaged ({reason}); is the file cut off?") from None


def arrow_rows(names: list[Any], arrays: list[Any], path: str, **facts: Any) -> Rows:
    """Rows from Arrow columns of any type, written out as texts."""
    if not arrays:
        raise DataError(f"{path}: no columns")
    sets: set[str] = set()
    orders: dict[str, tuple[str, ...]] = {}
    texts = []
    for name, array in zip(names, arrays, strict=True):
        try:
            if isinstance(array, pa.ChunkedArray):
                array = array.combine_chunks() if array.num_chunks else pa.nulls(0, pa.string())
            if _is_list(array.type):
                sets.add(str(name).strip())
            if (order := order_of(array)) is not None:
                orders[str(name).strip()] = order
            texts.append(as_texts(array))
        except (pa.ArrowException, ValueError, OverflowError) as error:
            reason = str(error).splitlines()[0]
            raise DataError(
                f"{path}: column {str(name)!r} of type {array.type} cannot be read: {reason}"
            ) from None
    return make_rows(names, texts, path, sets=frozenset(sets), orders=orders, **facts)


def as_texts(array: Any) -> Any:
    """An Arrow array as strings, null where there is nothing; bytes that are not text stay.

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
        number = array.cast(pa.int64()).cast(pa.float64(), safe=False)
        array = pc.divide(number, {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[array.type.unit])
    if pa.types.is_floating(array.type):
        array = array.cast(pa.float64())
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, pa.float64()), array)
        whole = pc.and_(pc.equal(pc.floor(array), array), pc.less(pc.abs(array), _EXACT))
        array = array if pc.all(whole).as_py() is False else array.cast(pa.int64())
    try:
        return array.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        if pa.types.is_binary(array.type) or pa.types.is_large_binary(array.type):
            return array
        return pa.array([value_text(value) for value in array.to_pylist()], pa.string())


def _is_list(kind: Any) -> bool:
    types = pa.types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))
