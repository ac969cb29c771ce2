"""Tables with a row for each item, and the answers of its annotators in an object."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.readers import read
from tests.error_texts import error_text
from tests.readers.conftest import Write, rows_of

ANSWERS: list[dict[str, Any]] = [
    {"ann": "yes", "bob": "no"},
    {"ann": "no", "bob": "no"},
    {"bob": "yes", "eve": "no", "ann": None},
    {"eve": "yes"},
]
ROWS = [
    (f"t{n}", name, answer)
    for n, one in enumerate(ANSWERS)
    for name, answer in one.items()
    if answer is not None
]


def read_rows(corpus: Corpus) -> list[tuple[str, str, Any]]:
    (question,) = corpus.questions
    return rows_of(corpus, question)


def lines(objects: list[dict[str, Any]], column: str = "annotations") -> str:
    records = ({"id": f"t{n}", column: one} for n, one in enumerate(objects))
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.mark.parametrize("column", ["annotations", "labels", "annotators", "by_coder"])
def test_keys_are_annotators(write: Write, column: str) -> None:
    corpus = read(write(lines(ANSWERS, column), "labels.jsonl"))
    assert read_rows(corpus) == ROWS
    assert any(
        f"labels.jsonl: {column}: objects with an answer for each annotator ('ann', 'bob', 'eve')"
        in note
        for note in corpus.notes
    )


def test_the_same_keys_in_a_column_of_annotations(write: Write) -> None:
    path = write(lines(ANSWERS[:2]), "labels.jsonl")
    corpus = read(path)
    assert read_rows(corpus) == ROWS[:4]
    assert corpus.notes[-1].endswith("if these are questions, name them (answer=, --answer)")
    assert list(read(path, answer=["ann", "bob"]).questions) == ["ann", "bob"]


def test_structs_of_a_table_in_memory() -> None:
    columns = {"id": [f"t{n}" for n in range(len(ANSWERS))], "annotations": ANSWERS}
    assert sorted(read_rows(read(pa.table(columns)))) == sorted(ROWS)


def test_the_same_keys_everywhere_may_be_questions(write: Write) -> None:
    objects = [{"toxic": "yes", "insult": "no"}, {"toxic": "no", "insult": "yes"}]
    path = write(lines(objects, "labels"), "labels.jsonl")
    assert error_text(read, path) == (
        f"{path}: 'labels' contains objects with the keys 'toxic', 'insult', which may be "
        "annotators, questions, or values with their counts; use dissensus describe "
        f"{path} --answer labels --answer-cells keys if they are annotators, dissensus describe "
        f"{path} --answer labels --answer-cells counts if they are values, dissensus describe "
        f"{path} --answer toxic --answer insult if they are questions"
    )
    assert list(read(path, answer="labels", cells="keys").annotators) == ["toxic", "insult"]
    assert list(read(path, annotators=["toxic", "insult"]).annotators) == ["toxic", "insult"]
    questions = read(path, answer=["toxic", "insult"]).questions
    assert {name: one.answers() for name, one in questions.items()} == {
        "toxic": ["yes", "no"],
        "insult": ["no", "yes"],
    }


@pytest.mark.parametrize(
    "objects",
    [
        [{"yes": 3, "no": 2}, {"yes": 5}, {"no": 3, "yes": 2}, {"no": 5}],
        [{"0": 3, "1": 2}, {"0": 5}, {"0": 3, "1": 2}, {"1": 5}],
        [{"source": "web", "language": "en"}, {"source": "book", "language": "de"}],
    ],
    ids=["counts", "counts of numbers", "attributes"],
)
def test_other_objects_are_refused(write: Write, objects: list[dict[str, Any]]) -> None:
    with pytest.raises(DataError, match="which may be annotators, questions, or values"):
        read(write(lines(objects), "labels.jsonl"))


def test_ratings_of_keys_that_are_named_like_annotators(write: Write) -> None:
    objects = [{"rater_1": 3, "rater_2": 2}, {"rater_1": 2, "rater_2": 3}]
    assert read(write(lines(objects), "labels.jsonl")).n_annotators == 2


def test_an_object_next_to_answers_stays_what_it_is(write: Write) -> None:
    record = {"item": "t1", "annotator": "ann", "label": "yes", "meta": {"ann": "x", "bob": "x"}}
    other = record | {"annotator": "bob"}
    corpus = read(write(json.dumps(record) + "\n" + json.dumps(other) + "\n", "labels.jsonl"))
    assert read_rows(corpus) == [("t1", "ann", "yes"), ("t1", "bob", "yes")]
