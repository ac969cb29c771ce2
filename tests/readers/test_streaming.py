"""Large tables in batches, against the same tables read as a whole."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dissensus import Corpus, readers
from dissensus.corpus import corpus as corpus_module
from dissensus.errors import DataError
from dissensus.readers.streaming import batches, coded_rows, conversion, runs, text_files
from dissensus.readers.streaming.batches import NotStreamedError, last_record
from dissensus.readers.streaming.text_codes import TextCodes
from tests.readers.conftest import Write

Convert = Callable[..., Corpus]


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every table is large, and every batch, run and block is small."""
    monkeypatch.setattr(conversion, "WHOLE", 0)
    monkeypatch.setattr(conversion, "FIRST_ROWS", 150)
    monkeypatch.setattr(conversion, "ROWS_AT_ONCE", 100)
    monkeypatch.setattr(corpus_module, "ROWS_AT_ONCE", 100)
    monkeypatch.setattr(coded_rows, "ROWS_IN_RUN", 70)
    monkeypatch.setattr(runs, "ROWS_AT_ONCE", 16)
    monkeypatch.setattr(text_files, "CHUNK", 500)
    monkeypatch.setattr(batches, "ROWS", 50)


@pytest.fixture
def both(tiny: None, tmp_path: Path) -> Callable[..., tuple[Path, Path]]:
    """A function that writes a table in batches and as a whole, and gives both folders."""

    def convert(path: Path, **options: Any) -> tuple[Path, Path]:
        streamed, whole = tmp_path / "streamed", tmp_path / "whole"
        assert readers.convert_by_item(path, streamed, **options) is not None
        readers.read(path, **options).save(whole, by_item=True)
        assert {one.name for one in tmp_path.iterdir()} >= {"streamed", "whole"}
        assert not [one for one in tmp_path.iterdir() if one.name.startswith(".")]
        return streamed, whole

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
    assert any("1 row of totals left out" in note for note in corpus.notes)
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
        (lambda rows: [*rows[:200], ["", "w1", "yes"], *rows[200:]], {}),
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
    tiny: None,
    tmp_path: Path,
    change: Callable[[list[list[str]]], list[list[str]]],
    options: dict[str, Any],
) -> None:
    path = write(as_csv(change(crowd())))
    with pytest.raises(DataError) as whole:
        readers.read(path, **options)
    with pytest.raises(DataError) as streamed:
        readers.convert_by_item(path, tmp_path / "out", **options)
    assert str(streamed.value) == str(whole.value)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_compressed_tables_and_other_encodings(
    write: Write, both: Callable[..., tuple[Path, Path]]
) -> None:
    text = as_csv(crowd())
    assert_same(both(write(gzip.compress(text.encode()), "labels.csv.gz")))
    assert_same(both(write(text.encode("utf-16"), "labels.csv")))
    assert_same(both(write(text.encode("latin-1"), "labels.csv"), encoding="latin-1"))
    assert_same(both(write(text.replace("\n", "\r\n").encode("utf-8-sig"), "labels.csv")))


def test_json_lines(write: Write, both: Callable[..., tuple[Path, Path]]) -> None:
    lines = []
    for number, (item, annotator, label) in enumerate(crowd()):
        row = {"item": int(item[5:]), "annotator": annotator, "label": label, "seconds": 1.5}
        if number % 10 == 3:
            del row["seconds"], row["label"]
        lines.append(json.dumps(row, ensure_ascii=number % 2 == 0))
    lines.insert(100, "")
    corpus = assert_same(both(write("\n".join(lines), "labels.jsonl")))
    assert any("60 rows without an answer left out, the first in line 4" in n for n in corpus.notes)


@pytest.mark.parametrize(
    "line, error",
    [('{"item": "t1", "label": ', DataError), ('{"item": "t1", "new": 1}', NotStreamedError)],
)
def test_json_lines_that_are_not_streamed(
    write: Write, tiny: None, line: str, error: type[Exception]
) -> None:
    rows = [dict(zip(("item", "annotator", "label"), row, strict=True)) for row in crowd()]
    path = write("\n".join([*map(json.dumps, rows), line]), "labels.jsonl")
    with pytest.raises(error) as streamed:
        readers.convert_by_item(path, path.with_name("out"))
    if error is DataError:
        with pytest.raises(DataError) as whole:
            readers.read(path)
        assert str(streamed.value) == str(whole.value)
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_parquet(tmp_path: Path, both: Callable[..., tuple[Path, Path]]) -> None:
    item, annotator, label = (list(column) for column in zip(*crowd(), strict=True))
    number = pa.array([int(name[5:]) for name in item])
    columns = {"item": number, "annotator": pa.array(annotator).dictionary_encode(), "label": label}
    pq.write_table(pa.table(columns), tmp_path / "labels.parquet")
    assert_same(both(tmp_path / "labels.parquet"))


@pytest.mark.parametrize(
    "text, reason",
    [
        ("item,annotator_1,annotator_2\nt1,yes,no\nt2,no,no\n", "it has no row for each answer"),
        ("item,first,second\nt1,yes,no\nt2,no,no\n", "no column of answers is recognised in its f"),
        ("item,count,label\nt1,3,yes\nt1,2,no\n", "column 'count' is a count"),
    ],
)
def test_what_is_read_as_a_whole(write: Write, tiny: None, text: str, reason: str) -> None:
    path = write(text)
    with pytest.raises(NotStreamedError, match=f"^{reason}"):
        readers.convert_by_item(path, path.with_name("out"))
    assert not path.with_name("out").exists()


def test_a_small_table_is_not_streamed(write: Write) -> None:
    path = write(as_csv(crowd()))
    assert readers.convert_by_item(path, path.with_name("out")) is None


def test_codes_are_those_of_first_appearance() -> None:
    draw = np.random.default_rng(0)
    texts = [str(number) for number in draw.integers(0, 20_000, 60_000)]
    codes = TextCodes()
    parts = [codes.add(pa.array(texts[at : at + 7000])) for at in range(0, 60_000, 7000)]
    expected = pa.array(texts).dictionary_encode()
    np.testing.assert_array_equal(np.concatenate(parts), expected.indices.to_numpy())
    assert codes.values().equals(expected.dictionary)


@pytest.mark.parametrize(
    "text, end",
    [
        ('a,b\n1,"x\ny', 4),
        ('a,b\n1,"x""\ny"\n2', 14),
        ('a,b\n1" x,2\n"', 11),
        ('"a"",\n",b\nc', 10),
        ("a\r1\r", 2),
        ("a,b", 0),
    ],
)
def test_where_the_last_record_ends(text: str, end: int) -> None:
    assert last_record(text.encode(), ",") == end
