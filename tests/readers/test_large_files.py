"""Large tables that are read in parts, against the same tables read as a whole."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dissensus import Corpus, readers
from dissensus.errors import DataError
from dissensus.files.plain import unpacking_up_to
from dissensus.readers import delimited, files
from dissensus.readers.formats import parquet
from dissensus.readers.tables import rows as table_rows
from tests.error_texts import error_text
from tests.readers.conftest import Write


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """A function after which every table is large, and every part and block is small."""

    def shrink() -> None:
        monkeypatch.setattr(files, "LARGE", 0)
        monkeypatch.setattr(files, "CHUNK", 500)
        monkeypatch.setattr(delimited, "BLOCK", 700)
        monkeypatch.setattr(table_rows, "MANY_BYTES", 2000)
        monkeypatch.setattr(parquet, "ROWS", 50)

    monkeypatch.setattr("dissensus.annotations.annotations.PAIRS", 90)
    return shrink


@pytest.fixture
def both(tiny: Callable[[], None], tmp_path: Path) -> Callable[..., tuple[Path, Path]]:
    """A function that reads a table as a whole and in parts, and gives both folders."""

    def convert(path: Path, **options: Any) -> tuple[Path, Path]:
        whole, in_parts = tmp_path / "whole", tmp_path / "parts"
        readers.read(path, **options).save(whole, overwrite=True)
        tiny()
        readers.read(path, **options).save(in_parts, overwrite=True)
        return in_parts, whole

    return convert


def assert_same(folders: tuple[Path, Path]) -> Corpus:
    streamed, whole = (Corpus.load(folder) for folder in folders)
    assert streamed.notes == whole.notes
    assert streamed.equals(whole)
    assert {one.name for one in folders[0].iterdir()} == {one.name for one in folders[1].iterdir()}
    return streamed


def crowd(n_rows: int = 600, seed: int = 0) -> list[list[str]]:
    """Item, annotator and label of answers in a random order; items have about five."""
    draw = np.random.default_rng(seed)
    n_items, n_annotators = n_rows // 5, 12
    pairs = draw.choice(n_items * n_annotators, n_rows, replace=False)
    labels = draw.choice(["yes", "no", "häufig, ja", 'a "b"'], n_rows)
    return [
        [f"täsk-{pair // n_annotators}", f"w{pair % n_annotators}", str(label)]
        for pair, label in zip(pairs, labels, strict=True)
    ]


def as_csv(rows: list[list[str]], names: str = "item,annotator,label") -> str:
    def cell(text: str) -> str:
        quoted = any(sign in text for sign in ',"\n')
        return '"' + text.replace('"', '""') + '"' if quoted else text

    return "\n".join([names, *(",".join(map(cell, row)) for row in rows), ""])


def test_a_table_in_any_order_is_the_same_byte_for_byte(
    write: Write, both: Callable[..., tuple[Path, Path]]
) -> None:
    folders = both(write(as_csv(crowd())))
    assert_same(folders)
    for file in folders[0].iterdir():
        assert file.read_bytes() == (folders[1] / file.name).read_bytes(), file.name


def test_further_columns_gold_and_gaps(
    write: Write, both: Callable[..., tuple[Path, Path]]
) -> None:
    draw = np.random.default_rng(1)
    rows = []
    for number, (item, annotator, label) in enumerate(crowd()):
        code, person = int(item[5:]), int(annotator[1:])
        gold = ["", "yes", "no", "NA"][code % 4] if number % 3 else ""
        rows.append([
            item,
            annotator,
            label if number % 11 else ["", "nan", " "][number % 3],
            f"a text, for the\nitem {code}",
            f"topic-{code % 7}",
            str(20 + person),
            str(round(draw.exponential(9), 3)) if number % 5 else "",
            gold,
            ["train", "test"][code % 2],
            f"note {number}" if number % 2 else "",
        ])  # fmt: skip
    rows.insert(40, [""] * 10)
    names = "item,annotator,label,text,topic,age,seconds,gold,split,remark"
    corpus = assert_same(both(write(as_csv(rows, names))))
    assert len(corpus.gold["label"].item) > 10
    assert list(corpus.item_attributes) == ["topic"]
    assert list(corpus.annotator_attributes) == ["age"]
    assert [row.reason for row in corpus.left_out] == ["no answer"]


def test_ratings_to_several_questions_and_copies_of_rows(
    write: Write, both: Callable[..., tuple[Path, Path]]
) -> None:
    draw = np.random.default_rng(2)
    rows = [[i, a, str(draw.integers(1, 6)), f"{draw.random():.2f}"] for i, a, _ in crowd()]
    rows = [*rows[:300], *rows[100:140], *rows[300:], *rows[:3], ["Total", "", "", ""]]
    path = write(as_csv(rows, "item,annotator,rating,pleasure"))
    corpus = assert_same(both(path, answer=["rating", "pleasure"]))
    assert any("43 rows left out that repeat another row" in note for note in corpus.notes)
    assert any("1 row of totals or notes left out" in note for note in corpus.notes)
    assert corpus["rating"].response is not None


def test_a_column_of_questions_and_one_of_responses(
    write: Write, both: Callable[..., tuple[Path, Path]]
) -> None:
    draw = np.random.default_rng(3)
    rows = []
    for number, (item, annotator, _) in enumerate(crowd(300)):
        response = f"r{number}" if number % 13 else ""
        for question, answers in (("rude", ["yes", "no", ""]), ("rating", ["1", "2", "3", "4"])):
            rows.append([item, annotator, response, question, str(draw.choice(answers))])
    rows = [*rows[::2], *rows[1::2], rows[5]]
    path = write(as_csv(rows, "item,annotator,assignment_id,question,answer"))
    corpus = assert_same(both(path))
    assert list(corpus.questions) == ["rude", "rating"]
    assert corpus["rude"].response is not None and corpus["rating"].scale.kind == "ordinal"
    assert {row.reason for row in corpus.left_out} == {"no answer", "repeated row"}


@pytest.mark.parametrize("rule", ["first", "last", "keep", "mean"])
def test_repeated_answers(write: Write, both: Callable[..., tuple[Path, Path]], rule: str) -> None:
    rows = [[item, annotator, str(n % 7)] for n, (item, annotator, _) in enumerate(crowd())]
    rows += [[item, annotator, str(n % 5)] for n, (item, annotator, _) in enumerate(rows[::9])]
    path = write(as_csv(rows, "item,annotator,rating"))
    assert_same(both(path, repeats=rule, scale="interval:0:10"))


@pytest.mark.parametrize(
    "change, options",
    [
        (lambda rows: [*rows, [rows[0][0], rows[0][1], "other"], [*rows[7][:2], "o"]], {}),
        (lambda rows: [["" if n % 4 else row[0], *row[1:]] for n, row in enumerate(rows)], {}),
        (lambda rows: [*rows[:200], ["t", "", "yes"], *rows[200:]], {}),
        (lambda rows: [*rows[:200], ["t", "w1", "yes", "4"], *rows[200:]], {}),
        (lambda rows: [*rows[:200], ["t", "w1", "maybe"], *rows[200:]], {"scale": "nominal:yes"}),
        (lambda rows: [[*row[:2], ""] for row in rows], {"answer": "label"}),
        (lambda rows: rows, {"scale": {"lable": "nominal"}}),
        (lambda rows: rows, {"item": "itme"}),
    ],
)
def test_what_is_wrong_is_said_in_the_same_words(
    write: Write,
    tiny: Callable[[], None],
    change: Callable[[list[list[str]]], list[list[str]]],
    options: dict[str, Any],
) -> None:
    path = write(as_csv(change(crowd())))
    whole = error_text(readers.read, path, **options)
    tiny()
    assert error_text(readers.read, path, **options) == whole


@pytest.mark.parametrize(
    "text",
    [
        as_csv(crowd()) + '"t1,w1,yes\n',
        as_csv(crowd()) + "t1,w1,\0\n",
        as_csv(crowd()) + "t1,w1,yes,no\n",
        "item,annotator,label\n" + '"t1,w1,yes\n' + "t2,w1,yes\n" * 300,
    ],
)
def test_a_damaged_table_is_refused_in_one_line(
    write: Write, tiny: Callable[[], None], text: str
) -> None:
    path = write(text)
    whole = error_text(readers.read, path)
    tiny()
    if "NUL" in whole:
        whole = f"{path}: a NUL byte, which no text has; is the file damaged?"
    assert error_text(readers.read, path) == whole


def test_a_row_that_is_too_long(
    write: Write, tiny: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(as_csv([*crowd(), ["t", "w", "x" * 9000]]))
    tiny()
    monkeypatch.setattr(delimited, "MOST_RECORD", 2000)
    assert error_text(readers.read, path) == (
        f"{path}: a row is longer than 0 MB; is a quote opened and never closed?"
    )


def test_what_a_compressed_table_unpacks_to_is_limited(
    write: Write, tiny: Callable[[], None]
) -> None:
    path = write(gzip.compress(as_csv(crowd()).encode()), "labels.csv.gz")
    tiny()
    with unpacking_up_to("1KB"), pytest.raises(DataError, match="unpacks to more than 0 MB, "):
        readers.read(path)


def test_compressed_tables_and_other_encodings(
    write: Write, both: Callable[..., tuple[Path, Path]]
) -> None:
    text = as_csv(crowd())
    assert_same(both(write(gzip.compress(text.encode()), "labels.csv.gz")))
    assert_same(both(write(text.encode("utf-16"), "labels.csv")))
    assert_same(both(write(text.encode("latin-1"), "labels.csv"), encoding="latin-1"))
    assert_same(both(write(text.replace("\n", "\r\n").encode("utf-8-sig"), "labels.csv")))


def test_parquet(tmp_path: Path, both: Callable[..., tuple[Path, Path]]) -> None:
    item, annotator, label = (list(column) for column in zip(*crowd(), strict=True))
    number = pa.array([int(name[5:]) for name in item])
    columns = {"item": number, "annotator": pa.array(annotator).dictionary_encode(), "label": label}
    pq.write_table(pa.table(columns), tmp_path / "labels.parquet")
    assert_same(both(tmp_path / "labels.parquet"))


@pytest.mark.parametrize(
    "text",
    [
        "item,annotator_1,annotator_2\n"
        + "".join(f"t{n},yes,{'no' * (n % 2)}\n" for n in range(99)),
        "item,count,label\n" + "".join(f"t{n // 2},{n},{'yn'[n % 2]}\n" for n in range(1, 99)),
        "text;worker;label\n"
        + "".join(f"the old café number {n // 2};w{n % 2};1,5\n" for n in range(99)),
    ],
)
def test_other_shapes(write: Write, both: Callable[..., tuple[Path, Path]], text: str) -> None:
    assert_same(both(write(text)))
    assert_same(both(write(text.encode("cp1252"))))


def test_codes_are_those_of_first_appearance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_rows, "MANY_BYTES", 100_000)
    texts = [str(number) for number in np.random.default_rng(0).integers(0, 20_000, 60_000)]
    parts = table_rows.ColumnParts()
    for at in range(0, 60_000, 7000):
        parts.add(pa.array(texts[at : at + 7000]))
    column, expected = parts.column(), pa.array(texts).dictionary_encode()
    np.testing.assert_array_equal(column.codes, expected.indices.to_numpy())
    assert column.values.equals(expected.dictionary)
