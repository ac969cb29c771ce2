"""Names of items and annotators: strings to the user, codes to the computer."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.errors import DataError, listed

MANY = 1 << 22  # names that are compressed
PART = 1 << 20  # of them that are compressed together


class Names(Sequence[str]):
    """A list of distinct strings, stored as one Arrow array, or as a range, which takes no memory.

    Example:
        >>> names = Names(["ann", "bob"])
        >>> names[1], names.codes(["bob", "ann"]).tolist(), list(Names.range(3))
        ('bob', [1, 0], ['0', '1', '2'])
    """

    def __init__(self, values: Any) -> None:
        array = string_array(values)
        self._packed: _Packed | None = None
        if array.null_count:
            raise DataError(f"name {first_null(array)} is missing: every name must be a text")
        distinct = pc.count_distinct(array).as_py()
        if distinct != len(array):
            counted = pc.value_counts(array)
            twice = counted.filter(pc.greater(counted.field("counts"), 1)).field("values")
            raise DataError(f"names occur twice: {listed(twice.to_pylist())}")
        self._array = array
        self._length = len(array)

    @classmethod
    def range(cls, length: int) -> Names:
        """The names "0", "1", ..., which take no memory."""
        names = cls.__new__(cls)
        names._array, names._packed, names._length = None, None, length
        return names

    @classmethod
    def distinct(cls, array: Any) -> Names:
        """Names from an Arrow array of strings that are known to be distinct."""
        names = cls.__new__(cls)
        names._array, names._packed, names._length = array, None, len(array)
        return names

    @classmethod
    def compressed(cls, array: Any) -> Names:
        """As `distinct`; very many are compressed, and unpacked where they are looked at."""
        if array.null_count:
            raise DataError(f"name {first_null(array)} is missing: every name must be a text")
        names = cls.distinct(array)
        if len(array) > MANY:
            names._array, names._packed = None, _Packed(array)
        return names

    @classmethod
    def encode(cls, values: Any) -> tuple[Names, np.ndarray]:
        """The distinct values in order of first appearance, and a code per value."""
        encoded = string_array(values).dictionary_encode()
        if encoded.null_count:
            raise DataError(f"row {first_null(encoded) + 1} has no name")
        return cls.distinct(encoded.dictionary), encoded.indices.to_numpy(zero_copy_only=False)

    @property
    def is_range(self) -> bool:
        """Whether these are just "0", "1", ..."""
        return self._array is None and self._packed is None

    @property
    def array(self) -> Any:
        """The names as an Arrow array of strings."""
        if self._packed is not None:
            return self._packed.array()
        return string_array(np.arange(self._length)) if self._array is None else self._array

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._length))]
        position = int(index)
        if position < 0:
            position += self._length
        if not 0 <= position < self._length:
            raise IndexError(index)
        if self.is_range:
            return str(position)
        return (self._array if self._packed is None else self._packed)[position].as_py()

    def __iter__(self) -> Iterator[str]:
        return iter(self.array.to_pylist())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.find([name])[0] >= 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Names):
            return NotImplemented
        if self is other:
            return True
        if self.is_range and other.is_range:
            return len(self) == len(other)
        return len(self) == len(other) and bool(self.array.equals(other.array))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Names({self._shown()}; {self._length})"

    def _shown(self) -> str:
        return listed(self[:8]) + (", ..." if self._length > 8 else "")

    def find(self, names: Any) -> np.ndarray:
        """A code per name, -1 where there is no such name."""
        if isinstance(names, Names) and names == self:
            return np.arange(self._length)
        wanted = string_array(names)
        if self.is_range:
            spelled = pc.match_substring_regex(wanted, "^(0|[1-9][0-9]{0,17})$")
            texts = pc.if_else(pc.fill_null(spelled, False), wanted, "-1")
            numbers = texts.cast(pa.int64()).to_numpy(zero_copy_only=False)
            return np.where(numbers < self._length, numbers, -1)
        codes = pc.fill_null(pc.index_in(wanted, value_set=self.array), -1)
        return np.asarray(codes.to_numpy(zero_copy_only=False), dtype=np.int64)

    def codes(self, names: Any, what: str = "name") -> np.ndarray:
        """A code per name; an error lists unknown names."""
        wanted = [names] if isinstance(names, str) else names
        codes = self.find(wanted)
        if (codes < 0).any():
            unknown = string_array(wanted).filter(pa.array(codes < 0)).unique().to_pylist()
            known = (
                f"there are {self._length}: {self._shown()}" if self._length else "there is none"
            )
            raise DataError(f"no {what} {listed(unknown)}; {known}")
        return codes

    def take(self, codes: np.ndarray) -> Names:
        """The names at these codes, which must be distinct."""
        if np.array_equal(codes, np.arange(len(codes))):
            if len(codes) == self._length:
                return self
            if self.is_range:
                return Names.range(len(codes))
        codes = np.asarray(codes, dtype=np.int64)
        if self._packed is not None:
            return Names.distinct(self._packed.take(codes))
        return Names.distinct(self.array.take(pa.array(codes)))


class _Packed:
    """Texts in compressed parts."""

    def __init__(self, array: Any) -> None:
        self._parts = []
        for begin in range(0, len(array), PART):
            batch = pa.record_batch([array.slice(begin, PART)], ["name"])
            sink, options = pa.BufferOutputStream(), pa.ipc.IpcWriteOptions(compression="zstd")
            with pa.ipc.new_stream(sink, batch.schema, options=options) as stream:
                stream.write_batch(batch)
            self._parts.append(sink.getvalue())

    def _part(self, number: int) -> Any:
        return pa.ipc.open_stream(self._parts[number]).read_next_batch().column(0)

    def array(self) -> Any:
        return pa.concat_arrays([self._part(number) for number in range(len(self._parts))])

    def __getitem__(self, position: int) -> Any:
        return self._part(position // PART)[position % PART]

    def take(self, codes: np.ndarray) -> Any:
        order = np.argsort(codes, kind="stable")
        cuts = np.searchsorted(codes[order], np.arange(1, len(self._parts)) * PART)
        taken = [
            self._part(number).take(pa.array(codes[rows] % PART))
            for number, rows in enumerate(np.split(order, cuts))
        ]
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return pa.concat_arrays(taken).take(pa.array(place))


class OfNames:
    """What has a list of items and one of annotators."""

    items: Names
    annotators: Names

    @property
    def n_items(self) -> int:
        return len(self.items)

    @property
    def n_annotators(self) -> int:
        return len(self.annotators)


def same(first: Any, second: Any) -> bool:
    """Whether two values are equal: arrays, names, and dictionaries and dataclasses of them.

    Example:
        >>> same({"a": np.array([1, np.nan])}, {"a": np.array([1, np.nan])})
        True
    """
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return np.array_equal(first, second, equal_nan=first.dtype.kind == "f")
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return False
    if isinstance(first, pa.Array | pa.ChunkedArray):
        whole = [pa.table({"": column}) for column in (first, second) if column is not None]
        return len(whole) == 2 and bool(whole[0].equals(whole[1]))
    if isinstance(first, dict):
        return list(first) == list(second) and all(same(v, second[k]) for k, v in first.items())
    if is_dataclass(first):
        names = [one.name for one in fields(first) if one.compare]
        return type(first) is type(second) and all(
            same(getattr(first, name), getattr(second, name)) for name in names
        )
    return bool(first == second)


def code_type(n: int) -> type[np.signedinteger]:
    """The smallest type for codes of so many names, with room for -1 and for one more.

    Example:
        >>> code_type(4).__name__, code_type(2000).__name__, code_type(10**6).__name__
        ('int8', 'int16', 'int32')
    """
    kinds = (np.int8, np.int16, np.int32)
    return next((kind for kind in kinds if n < np.iinfo(kind).max), np.int64)


def new_codes(kept: np.ndarray, n: int) -> np.ndarray:
    """The place of each of `n` codes among those that are kept, (n,); -1 if it is not kept."""
    new = np.full(n, -1, dtype=np.int64)
    new[kept] = np.arange(len(kept))
    return new


def split_names(text: str) -> list[str]:
    """Names or values from a list separated by commas; a name with a comma is in quotes.

    Example:
        >>> split_names('no, "yes, mostly"')
        ['no', 'yes, mostly']
    """
    try:
        rows = list(csv.reader([text], skipinitialspace=True, strict=True))
    except csv.Error as error:
        raise DataError(
            f"not a list of names: {text!r} ({error}); separate names by commas, and put quotes "
            'around a name with a comma: no,"yes, mostly"'
        ) from None
    return [name.strip() for name in rows[0]] if text else [""]


def string_array(values: Any) -> Any:
    """Any list, numpy or Arrow array as an Arrow array of strings; numbers are written out.

    Example:
        >>> string_array(["007", "x"]).to_pylist(), string_array(np.array([7, 8])).to_pylist()
        (['007', 'x'], ['7', '8'])
    """
    if isinstance(values, Names):
        return values.array
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if not isinstance(values, pa.Array):
        if isinstance(values, np.ndarray) and values.dtype.kind in "US":
            values = values.astype(str).tolist() if len(values) < 1000 else pa.array(values)
        try:
            values = pa.array(values, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # mixed types: "1", 2, 3.0
            values = pa.array([None if v is None else str(v) for v in values], pa.string())
        except UnicodeEncodeError as error:
            raise DataError(f"names must be texts of Unicode, found {error.object!r}") from None
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), None, values)  # a gap
        whole = pc.and_(pc.equal(values, pc.floor(values)), pc.less(pc.abs(values), 2.0**53))
        if pc.all(whole).as_py():  # ids that a table library turned into floats because of a gap
            values = values.cast(pa.int64())
    for kind in (pa.string(), pa.large_string()):  # the second for more than 2 GiB of text
        with suppress(pa.ArrowException):
            return values.cast(kind)
    raise DataError(f"names must be texts or numbers, found {values.type}")


def order_of(array: Any) -> tuple[str, ...] | None:
    """The values of an Arrow array of categories that are in order, from the lowest; else None.

    Example:
        >>> levels = pa.DictionaryArray.from_arrays([1, 0], ["low", "high"], ordered=True)
        >>> order_of(levels), order_of(pa.array(["low", "high"]))
        (('low', 'high'), None)
    """
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if not pa.types.is_dictionary(array.type) or not array.type.ordered:
        return None
    values = tuple(string_array(array.dictionary).to_pylist())
    return values if len(values) > 1 else None


def first_null(array: Any) -> int:
    """Where the first text is missing."""
    return int(pc.index(pc.is_null(array), True).as_py())
