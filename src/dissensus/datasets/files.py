"""The files of a corpus's folder as tables, and what loaders make of their columns."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pc_csv

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Focus
from dissensus.errors import DataError, cut, listed
from dissensus.files.arrow import parquet_table
from dissensus.files.plain import numpy_array, open_plain, plain_bytes, unpacked
from dissensus.names import Names
from dissensus.scales import Interval, Scale


class Table:
    """The columns of a file; what is wrong with them is said in one line that names the file."""

    def __init__(self, path: Path, columns: Any) -> None:
        self.path, self.columns = path, columns

    def __len__(self) -> int:
        return int(self.columns.num_rows)

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]

    def array(self, *names: str) -> np.ndarray:
        """A column of numbers, (n_rows,), or several, (n_rows, n_columns)."""
        arrays = [self[name].to_numpy() for name in names]
        return arrays[0] if len(arrays) == 1 else np.stack(arrays, axis=1)

    def list(self, name: str) -> list[Any]:
        """A column as Python values."""
        return self[name].to_pylist()

    def filter(self, rows: Any) -> Table:
        """Only the rows of a mask."""
        return Table(self.path, self.columns.filter(rows))

    def names(self, column: str) -> Names:
        """A column in which every name occurs once."""
        with self.errors():
            return Names(self[column])

    def codes(self, column: str, names: Names, what: str = "item") -> np.ndarray:
        """A column of known names as their codes.

        Args:
            what: what a name is the name of, for an error.
        """
        with self.errors():
            return names.codes(self[column], what)

    def once_each(self, codes: np.ndarray, column: str) -> tuple[np.ndarray, Any]:
        """The codes that occur, and the one value of each in a column that repeats it."""
        with self.errors():
            return once_each(codes, self[column], column)

    def gold(self, item: np.ndarray, scale: Scale, items: Names) -> Annotations:
        """The labels in the column `gold`, which repeats them on every row of an item."""
        with self.errors():
            at, values = once_each(item, self["gold"], "gold")
            return Annotations.from_arrays(at, None, values, scale, items=items)

    def errors(self) -> AbstractContextManager[None]:
        """Errors about data inside the block name the file."""
        return errors_in(self.path)

    def of(self, items: Names, key: str = "item_id", what: str | None = None) -> Any:
        """The row of each item, by the column of names; an item without one has nulls.

        Args:
            what: an item without a row is an error that calls it this.
        """
        known = self.names(key)
        with self.errors():
            at = known.find(items) if what is None else known.codes(items, what)
        return self.columns.take(pa.array(at, mask=at < 0)).combine_chunks()

    def parts(self, column: str, names: Mapping[str, str]) -> Any:
        """The part of each row, under the names that parts have here."""
        at = pc.index_in(self[column], value_set=pa.array(list(names)))
        if at.null_count:
            row = pc.index(pc.is_null(at), True).as_py()
            raise DataError(
                f"{self.path}: row {row + 1}: {column!r} must be one of {', '.join(names)}, "
                f"found {self[column][row].as_py()!r}"
            )
        return pa.array(list(names.values())).take(at.combine_chunks())

    def annotations(
        self,
        answer: Any,
        scale: Scale,
        items: Names,
        item: str | np.ndarray = "item_id",
        annotator: str | np.ndarray | None = "annotator_id",
        *,
        annotators: Names | None = None,
        what: str = "item",
        **options: Any,
    ) -> Annotations:
        """A row per answer.

        Args:
            answer: the column of answers, or the answers themselves.
            item, annotator: the columns of names, or codes; annotators are in their order
                (`names_in_order`) if they are not given, and unknown if there is no column.
            what: what an item is called in an error.
            options: further arguments of `Annotations.from_arrays`.
        """
        column = self[answer] if isinstance(answer, str) else answer
        if isinstance(scale, Interval) and not isinstance(column, np.ndarray):
            column = column.to_numpy()
        with self.errors():
            item = items.codes(self[item], what) if isinstance(item, str) else item
            if isinstance(annotator, str):
                annotators = annotators or names_in_order(self[annotator])
                annotator = annotators.codes(self[annotator], "annotator")
            return Annotations.from_arrays(
                item, annotator, column, scale, items=items, annotators=annotators, **options
            )

    def responses(
        self, scales: Mapping[str, Scale], items: Names, *codes: Any, **options: Any
    ) -> dict[str, Annotations]:
        """A question for each scale, answered in the same response; options of `annotations`.

        The column of a question is named by its last word.
        """
        options["response"] = np.arange(len(self))
        return {
            question: self.annotations(question.split()[-1], scale, items, *codes, **options)
            for question, scale in scales.items()
        }


class Folder:
    """The folder of a corpus; a file that is missing or damaged is refused in one line."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __str__(self) -> str:
        return str(self.path)

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def csv(
        self, name: str, texts: Iterable[str] = (), numbers: Iterable[str] = (), **types: Any
    ) -> Table:
        """A CSV file of the folder, plain or gzipped, with just these columns and types.

        Texts stay as they are written ("007", "NA", ""); a number that is missing is an error.
        """
        every = {**dict.fromkeys(texts, pa.string()), **dict.fromkeys(numbers, pa.float64())}
        return self._delimited(name, every | types, newlines_in_values=True)

    def tsv(self, name: str, texts: Iterable[str]) -> Table:
        """A file with tabs between its columns, where a quotation mark is an ordinary character."""
        types = dict.fromkeys(texts, pa.string())
        return self._delimited(name, types, delimiter="\t", quote_char=False)

    def _delimited(self, name: str, types: dict[str, Any], **parsing: Any) -> Table:
        path = self.file(name)
        with _damaged(path):
            data = pa.BufferReader(unpacked(plain_bytes(path), path))
            converting = pc_csv.ConvertOptions(column_types=types, strings_can_be_null=False)
            parsed = pc_csv.ParseOptions(**parsing)
            table = pc_csv.read_csv(data, parse_options=parsed, convert_options=converting)
            names = table.column_names
        return Table(path, _with_columns(path, table, names, list(types)))

    def parquet(self, name: str, columns: list[str]) -> Table:
        """A Parquet file of the folder with just these columns."""
        path = self.file(name)
        with _damaged(path), open_plain(path) as file:
            table = parquet_table(file, path)
            names = table.column_names
        return Table(path, _with_columns(path, table, names, columns))

    def array(self, name: str) -> np.ndarray:
        """An array that numpy wrote, never one with pickled objects."""
        path = self.file(name)
        return numpy_array(plain_bytes(path), path)

    def pictures(self, names: Iterable[str]) -> tuple[Contents, np.ndarray]:
        """The bytes of these files, as the contents of items."""
        files = [self.file(name).read_bytes() for name in names]
        return Contents.distinct("image", pa.array(files, pa.binary()))

    def file(self, name: str) -> Path:
        """The path of a file that the corpus needs."""
        path = self.path / name
        if not os.path.isfile(path):  # unlike Path.is_file, False for a name that is too long
            raise DataError(f"{path}: missing; the corpus cannot be read without it")
        return path

    def folder(self, name: str) -> Folder:
        """A folder inside the corpus's that it cannot do without."""
        path = self.path / name
        if not path.is_dir():
            raise DataError(f"{path}: missing; the corpus cannot be read without it")
        return Folder(path)


@contextmanager
def _damaged(path: Path) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: names of columns are not UTF-8 ({cut(error)})") from None
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: damaged ({str(error).splitlines()[0]})") from None


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


def text_lines(path: Path) -> list[str]:
    """The lines of a text file; bytes that are not UTF-8 become a replacement character."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None


@contextmanager
def errors_in(path: Path) -> Iterator[None]:
    """Errors about data inside the block name the file that the data came from."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{path}: {error}") from None


def labels(answer: Any, scale: Scale, items: Names) -> Annotations:
    """One label for every item, such as gold."""
    return Annotations.from_arrays(np.arange(len(items)), None, answer, scale, items=items)


def votes(counts: np.ndarray, scale: Scale, items: Names, item: Any = None) -> Annotations:
    """Answers without annotators, from how many gave each value, (n_rows, n_values).

    Args:
        item: the item of each row; a row per item if left out.
    """
    if (counts < 0).any():
        at = int((counts < 0).any(axis=1).argmax())
        raise DataError(
            f"row {at + 1}: the number of votes must be 0 or more, found {counts[at].min()}"
        )
    row, value = np.nonzero(counts)  # values without a vote have no row
    where = row if item is None else item[row]
    count = counts[row, value]
    return Annotations.from_arrays(
        where, None, value.astype(np.int32), scale, items=items, count=count
    )


def names_in_order(values: Any) -> Names:
    """The distinct names of a column; numbers come in their order, "9" before "10".

    Example:
        >>> list(names_in_order(pa.array(["10", "9", "10"])))
        ['9', '10']
    """
    return Names(sorted(pc.unique(values).to_pylist(), key=lambda name: (len(name), name)))


def numbered(names: Any, numbers: Any) -> Any:
    """A name for each row from another one and a number: "t1-0", "t1-1".

    Example:
        >>> numbered(pa.array(["t1", "t1"]), np.arange(2)).to_pylist()
        ['t1-0', 't1-1']
    """
    texts = (pa.array(numbers) if isinstance(numbers, np.ndarray) else numbers).cast(pa.string())
    return pc.binary_join_element_wise(names, texts, "-")


def numbers_or_nan(table: Table, name: str, empty: Iterable[str] = ("",)) -> np.ndarray:
    """A column of numbers with gaps, which become nan."""
    column = table[name]
    filled = pc.if_else(pc.is_in(column, pa.array(list(empty))), "nan", column)
    try:
        return np.asarray(filled.cast(pa.float64()).to_numpy())
    except pa.ArrowInvalid as error:
        raise DataError(f"{name!r} must contain numbers ({str(error).splitlines()[0]})") from None


def word_focus(words: Any, starts: np.ndarray, text: np.ndarray) -> Focus:
    """The characters of words in texts that are their words, with a space between two.

    Args:
        words: the words of all texts, one after another.
        starts: the first word of each text.
        text: the text of each word.
    """
    length = pc.utf8_length(words).to_numpy().astype(np.int64)
    begin = np.cumsum(length + 1) - length - 1  # if all words were one text
    begin -= begin[starts][text]
    return Focus("text", begin[:, None].astype(float), (begin + length)[:, None].astype(float))


def standardised(vectors: np.ndarray) -> np.ndarray:
    """Vectors (n, n_features) with the mean 0 and the standard deviation 1, or 0."""
    spread = vectors.std(axis=0)
    return ((vectors - vectors.mean(axis=0)) / np.where(spread > 0, spread, 1)).astype(np.float32)


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
