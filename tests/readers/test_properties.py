"""Whatever is in a file, it is read or refused in one line; what is written is read back."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import example, given, settings
from hypothesis import strategies as st

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


def read_or_refuse(data: bytes, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        try:
            corpus = read(path)
        except DissensusError as error:
            assert str(path) in str(error)
            assert "\n" not in str(error)
        else:
            assert isinstance(corpus, Corpus)
            assert corpus.notes


@given(st.binary(max_size=200), st.sampled_from(["a.csv", "a.jsonl", "a.parquet"]))
@example(b"\xff\xfe\x00", "a.csv")
@example(b"\x00", "a.csv")
@settings(max_examples=300, deadline=None)
def test_any_bytes(data: bytes, name: str) -> None:
    read_or_refuse(data, name)


@given(st.lists(NAME, min_size=1, max_size=5), st.lists(st.lists(BITS, max_size=6), max_size=6))
@settings(max_examples=400, deadline=None)
def test_any_small_csv(header: list[str], rows: list[list[str]]) -> None:
    lines = [",".join(header), *(",".join(row) for row in rows)]
    read_or_refuse("\n".join(lines).encode(), "a.csv")


@given(
    st.lists(NAME, min_size=3, max_size=6, unique=True),
    st.lists(st.lists(BITS | FIELD, min_size=6, max_size=6), min_size=1, max_size=6),
)
@settings(max_examples=400, deadline=None)
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
@settings(max_examples=400, deadline=None)
def test_any_json_lines(records: list[dict[str, object]]) -> None:
    read_or_refuse("\n".join(map(json.dumps, records)).encode(), "a.jsonl")


def rows_of(corpus: Corpus) -> list[tuple[str, str, str]]:
    answers = corpus["answer"]
    names = zip(answers.item, answers.who("a test"), answers.answers(), strict=True)
    return [(corpus.items[i], corpus.annotators[a], str(answer)) for i, a, answer in names]


@given(ROWS, st.sampled_from([",", "\t", ";", "|"]), st.sampled_from(["utf-8", "utf-16"]))
@settings(max_examples=200, deadline=None)
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
@settings(max_examples=100, deadline=None)
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
