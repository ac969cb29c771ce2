"""The files of a corpus's folder as Arrow tables; what is wrong with one, in one line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pc_csv

from dissensus.errors import DataError, cut, listed
from dissensus.files.arrow import parquet_table as load_parquet
from dissensus.files.plain import numpy_array as load_array
from dissensus.files.plain import open_plain, plain_bytes, unpacked
from dissensus.names import Names


def csv_table(folder: Path, name: str, /, **types: Any) -> Any:
    """A CSV file of the folder, plain or gzipped, with just these columns and types.

    Texts stay as they are written ("007", "NA", ""); a number that is missing is an error.
    """
    return _delimited(folder, name, types, pc_csv.ParseOptions(newlines_in_values=True))


def tsv_table(folder: Path, name: str, /, **types: Any) -> Any:
    """A file with tabs between its columns, where a quotation mark is an ordinary character."""
    return _delimited(folder, name, types, pc_csv.ParseOptions(delimiter="\t", quote_char=False))


def _delimited(folder: Path, name: str, types: dict[str, Any], parse_options: Any) -> Any:
    path = present(folder, name)
    try:
        table = pc_csv.read_csv(
            pa.BufferReader(unpacked(plain_bytes(path), path)),
            parse_options=parse_options,
            convert_options=pc_csv.ConvertOptions(column_types=types, strings_can_be_null=False),
        )
        names = table.column_names
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: damaged ({str(error).splitlines()[0]})") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: names of columns are not UTF-8 ({cut(error)})") from None
    return _with_columns(path, table, names, list(types))


def parquet_table(folder: Path, name: str, columns: list[str]) -> Any:
    """A Parquet file of the folder with just these columns."""
    path = present(folder, name)
    try:
        with open_plain(path) as file:
            table = load_parquet(file, path)
        names = table.column_names
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: damaged ({str(error).splitlines()[0]})") from None
    return _with_columns(path, table, names, columns)


def numpy_array(folder: Path, name: str) -> np.ndarray:
    """An array that numpy wrote, never one with pickled objects."""
    path = present(folder, name)
    return load_array(plain_bytes(path), path)


def _with_columns(path: Path, table: Any, names: list[str], columns: list[str]) -> Any:
    missing = [name for name in columns if name not in names]
    if missing:
        raise DataError(f"{path}: no column {missing}; the file has {cut(names, 1000)}")
    repeated = [name for name in columns if names.count(name) > 1]
    if repeated:
        raise DataError(f"{path}: several columns are called {listed(repeated)}")
    if not table.num_rows:
        raise DataError(f"{path}: no rows")
    table = table.select(columns).combine_chunks()
    for name in columns:
        if table[name].null_count:
            row = pc.index(pc.is_null(table[name]), True).as_py()
            raise DataError(f"{path}, row {row + 1}: {name!r} is empty")
    return table


def present(folder: Path, name: str) -> Path:
    """The path of a file that the corpus needs."""
    path = folder / name
    if not os.path.isfile(path):  # unlike Path.is_file, False for a name that is too long
        raise DataError(f"{path}: missing; the corpus cannot be read without it")
    return path


def present_folder(folder: Path, name: str) -> Path:
    """The path of a folder inside the corpus's that it cannot do without."""
    path = folder / name
    if not path.is_dir():
        raise DataError(f"{path}: missing; the corpus cannot be read without it")
    return path


def text_lines(path: Path) -> list[str]:
    """The lines of a text file; bytes that are not UTF-8 become a replacement character."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None


def chosen(folder: Path, corpus: str | None, corpora: tuple[str, ...], default: str | None) -> str:
    """The chosen corpus of a folder; an error lists them if none is chosen.

    Example:
        >>> chosen(Path("mine"), None, ("crowd", "experts"), "crowd")
        'crowd'
    """
    if corpus is None and default is None:
        raise DataError(
            f"{folder}: contains {len(corpora)} corpora, choose one with corpus= (--corpus): "
            f"{listed(corpora)}"
        )
    name = corpus or default
    if name is None or name not in corpora:
        raise DataError(f"{folder}: no corpus {corpus!r}; choose from {listed(corpora)}")
    return name


@contextmanager
def errors_in(path: Path) -> Iterator[None]:
    """Errors about data inside the block name the file that the data came from."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{path}: {error}") from None


def names_in_order(values: Any) -> Names:
    """The distinct names of a column; numbers come in their order, "9" before "10".

    Example:
        >>> list(names_in_order(pa.array(["10", "9", "10"])))
        ['9', '10']
    """
    return Names(sorted(pc.unique(values).to_pylist(), key=lambda name: (len(name), name)))


def once_each(codes: np.ndarray, values: Any, what: str) -> tuple[np.ndarray, Any]:
    """The codes that occur, and the one value of each in a column that repeats it on every row.

    Example:
        >>> codes, values = once_each(np.array([1, 0, 1]), pa.array(["f", "m", "f"]), "gender")
        >>> codes.tolist(), values.to_pylist()
        ([0, 1], ['m', 'f'])
    """
    distinct, first, at = np.unique(codes, return_index=True, return_inverse=True)
    every = first[at.reshape(-1)]  # the row that gave each row's code its value
    other = ~np.asarray(pc.equal(values, values.take(pa.array(every))))
    if other.any():
        row = int(other.argmax())
        before, here = values[int(every[row])].as_py(), values[row].as_py()
        raise DataError(
            f"row {row + 1}: {what} is {here!r}, but {before!r} in row {every[row] + 1}"
        )
    return distinct, values.take(pa.array(first))


def first_with(items: Names, content: np.ndarray) -> Any:
    """For each item the name of the first one that shows the same content.

    Example:
        >>> first_with(Names(["a", "b", "c"]), np.array([0, 1, 0])).to_pylist()
        ['a', 'b', 'a']
    """
    _, first, at = np.unique(content, return_index=True, return_inverse=True)
    return items.array.take(pa.array(first[at.reshape(-1)]))
