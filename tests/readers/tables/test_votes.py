"""Vote tables: which columns are counts, which is their sum, and which the majority."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dissensus import Corpus
from dissensus.agreement import krippendorff_alpha
from dissensus.errors import NoAnswersError
from dissensus.readers import read
from dissensus.readers.layout import UnclearError
from dissensus.scales import Nominal, Ordinal
from tests.error_texts import error_text
from tests.readers.conftest import Write

ENGLISH = ("hate_speech", "offensive", "neither")
HEADERS = {  # values, their sum, the majority
    "english": (ENGLISH, "count", "class"),
    "german": (("Zustimmung", "Ablehnung", "weiß nicht"), "Summe", "Mehrheit"),
    "chinese": (("同意", "反对", "中立"), "总数", "多数"),
    "prefixed": (("n_hate", "n_offensive", "n_neither"), "n", "label"),
    "numbers": (("1", "2", "3"), "total", "rating"),
}


def votes(n_items: int = 40, seed: int = 0, n_annotators: tuple[int, int] = (3, 7)) -> np.ndarray:
    """Counts of three values, from the answers of single annotators, (n_items, 3)."""
    generator = np.random.default_rng(seed)
    counts = np.zeros((n_items, 3), dtype=int)
    for item in range(n_items):
        shares = generator.dirichlet((0.7, 0.7, 0.7))
        for _ in range(generator.integers(*n_annotators, endpoint=True)):
            counts[item, generator.choice(3, p=shares)] += 1
    return counts


def text_of(columns: dict[str, Any]) -> str:
    buffer = io.StringIO()
    rows = zip(*columns.values(), strict=True)
    csv.writer(buffer).writerows([list(columns), *rows])
    return buffer.getvalue()


def columns_of(
    counts: np.ndarray, names: tuple[str, ...], total: str | None, majority: str | None, codes: Any
) -> dict[str, list[Any]]:
    """A table of votes as people publish it, with what else stands there."""
    columns: dict[str, list[Any]] = {"id": [f"t{n}" for n in range(len(counts))]}
    columns["text"] = [f"text {n}" for n in range(len(counts))]
    columns |= {name: counts[:, at].tolist() for at, name in enumerate(names)}
    if total:
        columns[total] = counts.sum(axis=1).tolist()
    if majority:
        columns[majority] = [codes[at] for at in counts.argmax(axis=1)]
    columns["year"] = [2000 + n % 7 for n in range(len(counts))]
    return columns


def counts_of(corpus: Corpus, values: tuple[str, ...]) -> np.ndarray:
    """Counts by item, values in this order."""
    answers = corpus["answer"]
    assert answers.annotator is None
    assert isinstance(answers.scale, Nominal | Ordinal)
    order = [answers.scale.values.index(value) for value in values]
    return np.asarray(answers.counts()[:, order])


@pytest.mark.parametrize("language", HEADERS)
@pytest.mark.parametrize("coded", ["by name", "from 0", "from 1", "by letter"])
@pytest.mark.parametrize("summed", [True, False])
def test_counts_are_read_as_votes(write: Write, language: str, coded: str, summed: bool) -> None:
    names, total, majority = HEADERS[language]
    counts = votes(n_annotators=(3, 7) if summed else (5, 5))
    values = tuple(name.removeprefix("n_") for name in names)
    codes = {"by name": values, "from 0": "012", "from 1": "123", "by letter": "HON"}[coded]
    columns = columns_of(counts, names, total if summed else None, majority, codes)
    corpus = read_or_first_way(write(text_of(columns)))
    np.testing.assert_array_equal(counts_of(corpus, values), counts)
    assert list(corpus.items) == columns["id"] and corpus.text_of(3) == "text 3"
    assert list(corpus.questions) == ["answer"] and not corpus.gold
    assert corpus.item_attributes[majority].to_pylist() == [str(v) for v in columns[majority]]
    assert krippendorff_alpha(corpus["answer"]) < 0.9


def read_or_first_way(path: Path) -> Corpus:
    """The corpus; where it is asked whether columns with a sum are counts, as if they are."""
    try:
        return read(path)
    except UnclearError as error:
        return read(path, layout=error.ways["if they are counts of answers"])


def test_the_notes_of_a_vote_table(write: Write) -> None:
    path = write(text_of(columns_of(votes(), ENGLISH, "count", "class", "012")))
    assert read(path).notes == (
        "labels.csv: vote table; item = id, counts = hate_speech, offensive, neither (nominal: "
        "hate_speech, neither, offensive), their sum = count, text = text; also class, year; "
        f"{votes().sum()} answers on 40 items",
    )


@pytest.mark.parametrize("seed", range(10))
def test_the_order_of_rows_does_not_matter(write: Write, seed: int) -> None:
    generator = np.random.default_rng(seed)
    counts = votes(seed=seed)
    columns = columns_of(counts, ENGLISH, "count", "class", "012")
    order = generator.permutation(len(counts))
    mixed = {name: [column[row] for row in order] for name, column in columns.items()}
    corpus = read(write(text_of(mixed)))
    np.testing.assert_array_equal(counts_of(corpus, ENGLISH), counts[order])
    assert list(corpus.items) == [f"t{n}" for n in order]


@pytest.mark.parametrize("tied", ["first", "last", "word"])
def test_ties_of_the_majority(write: Write, tied: str) -> None:
    counts = votes(n_annotators=(4, 4))
    ties = (counts == counts.max(axis=1, keepdims=True)).sum(axis=1) > 1
    assert ties.sum() > 3
    columns = columns_of(counts, ENGLISH, "count", "class", ENGLISH)
    if tied == "last":
        last = 2 - counts[:, ::-1].argmax(axis=1)
        columns["class"] = [ENGLISH[at] for at in last]
    if tied == "word":
        columns["class"] = [
            "tie" if tie else v for tie, v in zip(ties, columns["class"], strict=True)
        ]
    corpus = read(write(text_of(columns)))
    np.testing.assert_array_equal(counts_of(corpus, ENGLISH), counts)


def test_a_majority_that_was_corrected_by_hand(write: Write) -> None:
    counts = votes()
    columns = columns_of(counts, ENGLISH, "total", "class", ENGLISH)
    row = int((counts.max(axis=1) == counts.sum(axis=1)).argmax())
    columns["class"][row] = ENGLISH[int(counts[row].argmin())]
    corpus = read_or_first_way(write(text_of(columns)))
    np.testing.assert_array_equal(counts_of(corpus, ENGLISH), counts)


@pytest.mark.parametrize("total", ["count", "n_votes", None])
def test_counts_without_a_majority(write: Write, total: str | None) -> None:
    counts = votes(n_annotators=(3, 7) if total else (5, 5))
    corpus = read(write(text_of(columns_of(counts, ENGLISH, total, None, None))))
    np.testing.assert_array_equal(counts_of(corpus, ENGLISH), counts)


def test_counts_with_neither_a_sum_nor_a_constant_one(write: Write) -> None:
    counts = votes()
    named = columns_of(counts, ENGLISH, None, "class", ENGLISH)
    corpus = read(write(text_of(named)), format="votes", answer=ENGLISH)
    bare = write(text_of(columns_of(counts, ENGLISH, None, None, None)))
    with pytest.raises(NoAnswersError, match="no column of answers recognised"):
        read(bare)
    corpus = read(bare, format="votes", answer=ENGLISH)
    np.testing.assert_array_equal(counts_of(corpus, ENGLISH), counts)


def test_blank_cells_are_counts_of_0(write: Write) -> None:
    counts = votes()
    columns = columns_of(counts, ENGLISH, "count", "class", "012")
    for name in ENGLISH:
        columns[name] = [count or "" for count in columns[name]]
    np.testing.assert_array_equal(counts_of(read(write(text_of(columns))), ENGLISH), counts)


def test_a_scale_may_be_declared_and_values_numbered(write: Write) -> None:
    counts = votes()
    columns = columns_of(counts, ("1", "2", "3"), "n", None, None)
    assert read(write(text_of(columns)))["answer"].scale == Ordinal(("1", "2", "3"))
    columns = columns_of(counts, ENGLISH, "count", "class", "012")
    declared = read(write(text_of(columns)), scale="ordinal:neither,offensive,hate_speech")
    np.testing.assert_array_equal(declared["answer"].counts(), counts[:, ::-1])


# ---- what is refused, or no vote table ----


def refused(path: Path, **options: Any) -> str:
    return re.sub(r"^.*labels\.csv", "labels.csv", error_text(read, path, **options))


@pytest.mark.parametrize("whole", [1, 20, 100])
def test_percentages_are_asked_about(write: Write, whole: int) -> None:
    counts = votes(n_annotators=(5, 5))
    shares = whole * counts / (5 if whole != 20 else 1)
    columns = columns_of(counts, ENGLISH, None, "class", "012")
    columns |= {name: shares[:, at].tolist() for at, name in enumerate(ENGLISH)}
    path = write(text_of(columns))
    with pytest.raises(UnclearError, match="the sum is the same in every row") as refusal:
        read(path)
    assert ("if they are counts of answers" in refusal.value.ways) == (whole != 1)
    corpus = read(path, layout=refusal.value.ways["if 'class' is the answer"])
    assert corpus["class"].n_answers == len(counts)
    numbered = {"id": columns["id"]} | {str(at): shares[:, at].tolist() for at in range(3)}
    with pytest.raises(UnclearError, match="the sum is the same in every row"):
        read(write(text_of(numbered)))


def test_a_sum_with_a_mistake(write: Write) -> None:
    counts = votes()
    columns = columns_of(counts, ENGLISH, "count", "class", "012")
    columns["count"][3] += 1
    corpus = read(write(text_of(columns)))
    np.testing.assert_array_equal(counts_of(corpus, ENGLISH), counts)
    assert "; count is not their sum in 1 row;" in corpus.notes[0]


def test_a_majority_with_a_count_is_never_unanimous_votes(write: Write) -> None:
    path = write("id,count,class\nt1,3,yes\nt2,5,no\nt3,3,yes\n")
    assert refused(path) == (
        "labels.csv: every item has one row, so all 'count' answers to an item would be its "
        "'class'; if that is the majority, write a column of counts for each value; if not, use "
        'answer="class" (--answer class) to read one answer for each item, or format="long" '
        "(--format long) to read as many as counted"
    )
    one = read(path, answer="class")
    assert one["class"].n_answers == 3
    assert one.notes[1] == (
        "labels.csv: 'count' is not used as a count, because every item has one row: "
        "every row is one answer"
    )
    assert read(path, format="long")["class"].n_answers == 11


RATINGS = np.random.default_rng(3).integers(1, 6, size=(30, 3))
RANKS = np.stack([np.random.default_rng(n).permutation(3) + 1 for n in range(30)])
QUESTIONS = dict(zip(("grammar", "fluency", "meaning"), RATINGS.T, strict=True))


@pytest.mark.parametrize(
    "columns",
    [QUESTIONS | {"mean": RATINGS.mean(axis=1)}, {f"system {n}": RANKS[:, n] for n in range(3)}],
    ids=["ratings with their mean", "ranks"],
)
def test_ratings_and_ranks_are_no_votes(write: Write, columns: Any) -> None:
    with pytest.raises(NoAnswersError, match="no column of answers recognised|the sum is the same"):
        read(write(text_of({"id": range(30)} | columns)))


def test_a_sum_that_may_be_of_ratings_is_asked_about(write: Write) -> None:
    likes, shares = np.random.default_rng(0).integers(0, 90, size=(2, 30))
    table = {"text": [f"text {n}" for n in range(30)], "likes": likes, "shares": shares}
    table |= {"total": likes + shares, "label": ["yes", "no"] * 15}
    with pytest.raises(UnclearError, match="'total' is the sum of 'likes', 'shares'") as refusal:
        read(write(text_of(table)))
    corpus = read(write(text_of(table)), layout=refusal.value.ways["if 'label' is the answer"])
    assert corpus["label"].n_answers == 30


def test_annotators_with_the_sum_of_their_answers(write: Write) -> None:
    table = {"id": range(30)} | {f"ann_{n}": RATINGS[:, n] for n in range(3)}
    corpus = read(write(text_of(table | {"total": RATINGS.sum(axis=1)})))
    assert list(corpus.annotators) == ["ann_0", "ann_1", "ann_2"]
    numbered = {"item": range(30)} | {str(7107 + n): RATINGS[:, n] for n in range(3)}
    corpus = read(write(text_of(numbered | {"total": RATINGS.sum(axis=1)})))
    assert corpus.n_annotators == 3
    boxes = RATINGS > 2
    yes = {"id": range(30)} | {f"w{n}": boxes[:, n].astype(int) for n in range(3)}
    corpus = read(write(text_of(yes | {"sum": boxes.sum(axis=1)})))
    assert corpus.n_annotators == 3
