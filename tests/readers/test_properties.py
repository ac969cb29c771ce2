"""Whatever is in a file, it is read or refused in one line; what is written is read back."""

from __future__ import annotations

import csv
import gzip
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from dissensus.corpus import Corpus
from dissensus.errors import DissensusError
from dissensus.readers import read

FIELD = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
NAME = st.sampled_from(
    "item id annotator answer label text image gold count seconds question response split x".split()
)
BITS = st.sampled_from(
    [
        "a",
        "yes",
        "Yes ",
        "1",
        "1.0",
        "nan",
        "None",
        "",
        " ",
        '"',
        "\n",
        "\r\n",
        ",",
        "\t",
        "é",
        "٣",
        "-0",
    ]
)
ID = FIELD.filter(lambda text: bool(text.strip()) and "\0" not in text)  # NUL: a binary file
ROWS = st.lists(
    st.tuples(ID, ID, st.sampled_from(["yes", "no", "7", "a\nb", 'say "x"', "נכון"])),
    min_size=1,
    max_size=8,
    unique_by=lambda row: row[:2],
)


PEOPLE = st.sampled_from("ann_1 ann_2 ann_3 rater_A 1 2 17 w851 label_1 label_2 anna mean".split())
NUMBERS = st.sampled_from("-1 -1 0 1 2 3 nan 2.5 -2 x 1e400 99999999999999999999 -0 1_0 ٣".split())


def read_or_refuse(data: bytes, name: str, **options: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        try:
            corpus = read(path, **options)
        except DissensusError as error:
            assert str(path) in str(error)
            assert "\n" not in str(error)
        else:
            assert isinstance(corpus, Corpus)
            assert corpus.notes


@given(
    st.sampled_from([b"", b"PAR1", b"ARROW1\0\0", b"\xff" * 4, b"\x93NUMPY\1\0", b"\x1f\x8b\x08"]),
    st.binary(max_size=200),
    st.sampled_from(["a.csv", "a.jsonl", "a.parquet", "a.arrow", "a.npy", "a.txt", "a.csv.gz"]),
)
@example(b"", b"\xff\xfe\x00", "a.csv")
@example(b"", b"\x00", "a.csv")
@settings(max_examples=60)
def test_any_bytes(start: bytes, data: bytes, name: str) -> None:
    read_or_refuse(start + data, name)


def whole_files() -> dict[str, bytes]:
    """A small file of every format that is not text."""
    table = pa.table({"item": ["t1", "t2"], "annotator": ["a", "b"], "label": ["x", "y"]})
    files = {name: io.BytesIO() for name in ("a.parquet", "a.arrow", "a.arrows", "a.npy")}
    pq.write_table(table, files["a.parquet"])
    for name, new in (("a.arrow", pa.ipc.new_file), ("a.arrows", pa.ipc.new_stream)):
        with new(files[name], table.schema) as writer:
            writer.write_table(table)
    np.save(files["a.npy"], np.array([[1, -1], [0, 2]]))
    text = gzip.compress(b"item,annotator,label\nt1,a,x\nt2,b,y\n", mtime=0)
    return {name: file.getvalue() for name, file in files.items()} | {"a.csv.gz": text}


WHOLE = whole_files()


@given(st.sampled_from(list(WHOLE)), st.floats(0, 1), st.integers(1, 255), st.booleans())
@settings(max_examples=60)
def test_damaged_files(name: str, share: float, change: int, cut: bool) -> None:
    data = bytearray(WHOLE[name])
    at = int(share * (len(data) - 1))
    data[at] ^= change
    read_or_refuse(bytes(data[:at] if cut else data), name)


@given(
    st.lists(PEOPLE | NAME, min_size=2, max_size=6, unique=True),
    st.lists(st.lists(BITS | FIELD, min_size=6, max_size=6), min_size=1, max_size=6),
    st.sampled_from([{}, {"format": "wide"}, {"format": "long"}, {"annotators": ("ann_1", "1")}]),
    st.booleans(),
)
@settings(max_examples=60)
def test_any_wide_table(
    header: list[str], rows: list[list[str]], options: dict[str, Any], packed: bool
) -> None:
    file = io.StringIO()
    csv.writer(file).writerows([header, *(row[: len(header)] for row in rows)])
    data = file.getvalue().encode()
    read_or_refuse(gzip.compress(data) if packed else data, "a.csv", **options)


@given(
    st.lists(st.lists(NUMBERS, min_size=1, max_size=4), min_size=1, max_size=5),
    st.sampled_from([" ", "\t", "  ", ","]),
    st.sampled_from([{}, {"format": "matrix"}]),
)
@settings(max_examples=60)
def test_any_matrix(rows: list[list[str]], between: str, options: dict[str, Any]) -> None:
    read_or_refuse("\n".join(map(between.join, rows)).encode(), "answers.txt", **options)


@given(
    arrays.arrays(
        arrays.boolean_dtypes() | arrays.integer_dtypes() | arrays.floating_dtypes(),
        arrays.array_shapes(min_dims=1, max_dims=3, max_side=4),
    )
)
@settings(max_examples=60)
def test_any_array(values: np.ndarray) -> None:
    file = io.BytesIO()
    np.save(file, values)
    read_or_refuse(file.getvalue(), "a.npy")


@given(st.lists(NAME, min_size=1, max_size=5), st.lists(st.lists(BITS, max_size=6), max_size=6))
@settings(max_examples=60)
def test_any_small_csv(header: list[str], rows: list[list[str]]) -> None:
    lines = [",".join(header), *(",".join(row) for row in rows)]
    read_or_refuse("\n".join(lines).encode(), "a.csv")


@given(
    st.lists(NAME, min_size=3, max_size=6, unique=True),
    st.lists(st.lists(BITS | FIELD, min_size=6, max_size=6), min_size=1, max_size=6),
)
@settings(max_examples=60)
def test_any_even_csv(header: list[str], rows: list[list[str]]) -> None:
    file = io.StringIO()
    csv.writer(file).writerows([header, *(row[: len(header)] for row in rows)])
    read_or_refuse(file.getvalue().encode(), "a.csv")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | BITS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELD, inner, max_size=2),
    max_leaves=4,
)


@given(st.lists(st.dictionaries(NAME, VALUES, max_size=6), min_size=1, max_size=5))
@settings(max_examples=60)
def test_any_json_lines(records: list[dict[str, object]]) -> None:
    read_or_refuse("\n".join(map(json.dumps, records)).encode(), "a.jsonl")


def rows_of(corpus: Corpus) -> list[tuple[str, str, str]]:
    answers = corpus["answer"]
    names = zip(answers.item, answers.annotator_codes("a test"), answers.answers(), strict=True)
    return [(corpus.items[i], corpus.annotators[a], str(answer)) for i, a, answer in names]


@given(ROWS, st.sampled_from([",", "\t", ";", "|"]), st.sampled_from(["utf-8", "utf-16"]))
@settings(max_examples=60)
def test_a_written_csv_is_read_back(
    rows: list[tuple[str, str, str]], delimiter: str, encoding: str
) -> None:
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows(
        [("item", "annotator", "answer"), *rows]
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.csv"
        path.write_bytes(file.getvalue().encode(encoding))
        assert rows_of(read(path, scale="nominal")) == rows


@given(ROWS)
@settings(max_examples=50)
def test_other_formats_are_read_back(rows: list[tuple[str, str, str]]) -> None:
    names = ("item", "annotator", "answer")
    table = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    assert rows_of(read(table, scale="nominal")) == rows
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.parquet"
        pq.write_table(table, path)
        assert rows_of(read(path, scale="nominal")) == rows
        path = Path(folder) / "a.jsonl"
        path.write_text("\n".join(map(json.dumps, table.to_pylist())), encoding="utf-8")
        assert rows_of(read(path, scale="nominal")) == rows


CELLS = st.sampled_from(["yes", "no", "7+", "a\nb", 'say "x"', "נכון", "", " ", "NaN"])


@given(
    st.lists(ID.map(str.strip).filter(bool), min_size=1, max_size=4, unique=True),
    st.lists(st.lists(CELLS, min_size=4, max_size=4), min_size=1, max_size=5),
    st.booleans(),
)
@settings(max_examples=60)
def test_a_written_wide_table_is_read_back(
    people: list[str], cells: list[list[str]], packed: bool
) -> None:
    people = [name for name in people if name != "item"] or ["ann"]
    file = io.StringIO()
    lines = [[f"t{n}", *row[: len(people)]] for n, row in enumerate(cells)]
    csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["item", *people], *lines])
    given_answers = [
        (f"t{n}", who, cell)
        for n, row in enumerate(cells)
        for who, cell in zip(people, row, strict=False)
        if cell not in ("", " ", "NaN")
    ]
    assume(given_answers)
    data = file.getvalue().encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.csv"
        path.write_bytes(gzip.compress(data) if packed else data)
        corpus = read(path, annotators=people, item="item", scale="nominal")
    assert list(corpus.annotators) == people
    assert corpus.n_items == len(cells)
    assert rows_of(corpus) == given_answers


@given(
    arrays.arrays(
        np.int64, st.tuples(st.integers(1, 5), st.integers(2, 4)), elements=st.integers(-1, 9)
    ),
    st.booleans(),
)
@settings(max_examples=50)
def test_a_written_matrix_is_read_back(values: np.ndarray, as_text: bool) -> None:
    assume((values >= 0).any())
    file = io.BytesIO()
    np.savetxt(file, values, fmt="%d") if as_text else np.save(file, values)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers"
        path.write_bytes(file.getvalue())
        answers = read(path)["answer"]
    result = np.full(values.shape, -1)
    result[answers.item, answers.annotator_codes("a test")] = [
        int(answer) for answer in answers.answers()
    ]
    np.testing.assert_array_equal(result, values)
