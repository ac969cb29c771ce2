"""Predictions of other systems: tables of labels or probabilities, and LeWiDi submissions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dissensus import Annotations, Corpus, Nominal, Ordinal, Prediction
from dissensus.errors import DataError
from dissensus.evaluation import evaluate, read_predictions, write_submission
from dissensus.prediction import ByAnnotator
from dissensus.prediction.prediction import prediction_from_table
from dissensus.scales import MultiLabel, Scale
from dissensus.testing import example_corpus

YES = Nominal(("no", "yes"))


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        ({"id": ["t1", "t2"], "label": ["yes", "no"]}, [[0, 1], [1, 0]]),
        ({"item": ["t1", "t2"], "no": [0.2, 0.9], "yes": [0.8, 0.1]}, [[0.2, 0.8], [0.9, 0.1]]),
        ({"item": ["t1", "t2"], "P_no": [1, 3], "P_yes": [3, 1]}, [[0.25, 0.75], [0.75, 0.25]]),
        ({"id": ["t1", "t2"], "probs": ["[0.2, 0.8]", "{'no': 1}"]}, [[0.2, 0.8], [1, 0]]),
        (
            {"id": ["t1", "t1", "t2", "t2"], "answer": ["yes", "no", "no", "no"]},
            [[0.5, 0.5], [1, 0]],
        ),
        (
            {"id": ["t1", "t1", "t2"], "annotator": ["a", "b", "a"], "label": ["yes", "no", "no"]},
            [[0.5, 0.5], [1, 0]],
        ),
    ],
)
def test_columns_are_recognised(frame: dict[str, Any], expected: list[list[float]]) -> None:
    prediction = Prediction.from_table(frame, YES)
    np.testing.assert_allclose(prediction.distribution, expected)
    assert (prediction.by_annotator is not None) == ("annotator" in frame)
    assert (prediction.members is not None) == (len(frame["id" if "id" in frame else "item"]) == 4)


def test_a_column_for_each_question(tmp_path: Path) -> None:
    rows = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t2", "ann", "no")]
    toxic = Annotations.from_rows(rows, YES)
    stars = Annotations.from_rows([(i, a, "123"[len(v) - 1]) for i, a, v in rows])
    corpus = Corpus.build("two", ["t1", "t2"], {"toxic": toxic, "stars": stars})
    path = tmp_path / "llm.csv"
    path.write_text("comment,Toxic,stars,seconds\nt1,yes,3,7\nt2,no,2,8\n")
    predictions, _ = read_predictions(path, corpus)
    assert predictions["toxic"].distribution.tolist() == [[0, 1], [1, 0]]
    assert stars.scale.decode(predictions["stars"].consensus) == ["3", "2"]
    path.write_text("comment,label\nt1,yes\nt2,no\n")
    with pytest.raises(DataError, match="with --question, or name its column so"):
        read_predictions(path, corpus)
    assert list(read_predictions(path, corpus, ["toxic"])[0]) == ["toxic"]


def test_items_by_an_attribute_that_names_each(tmp_path: Path) -> None:
    answers = Annotations.from_rows([("1001", "ann", "yes"), ("1002", "ann", "no")], YES)
    ids = {"comment_id": ["c1", "c2"], "topic": ["x", "x"]}
    corpus = Corpus.build("tool", ["1001", "1002"], {"toxic": answers}, item_attributes=ids)
    path = tmp_path / "llm.csv"
    path.write_text("comment_id,label\nc2,no\nc1,yes\n")
    predictions, _ = read_predictions(path, corpus)
    assert list(predictions["toxic"].items) == ["1002", "1001"]


def test_what_does_not_match_is_counted() -> None:
    corpus = example_corpus(n_items=4)
    value = corpus["q"].scale.values[0]  # type: ignore[attr-defined]
    frame = {
        "item": [*corpus.items[:3], "elsewhere", corpus.items[3]],
        "answer": [value, value, "no such value", value, None],
    }
    _, notes = prediction_from_table(frame, corpus["q"].scale, items=corpus.items)
    assert notes == [
        "1 row of 5 left out: an answer that is not on the scale ('no such value')",
        "1 row of 5 left out: an item that is not in the corpus ('elsewhere')",
        f"1 row of 5 left out: no answer ('{corpus.items[3]}')",
    ]
    _, notes = prediction_from_table({"id": ["t1"], "no": [0.5], "yes": [0.7]}, YES)
    assert notes == [
        "1 row of 1: probabilities sum to 1.2 - 1.2, not to one; they were divided by their sum"
    ]
    with pytest.raises(DataError, match="no column of items such as 'item' or 'id'"):
        Prediction.from_table({"text": ["t1"], "label": ["yes"]}, YES)


@pytest.mark.parametrize(
    "scale", [YES, Ordinal(tuple("012345")), MultiLabel(("joy", "fear", "anger"))]
)
def test_a_lewidi_submission_is_scored_by_the_formulas_of_the_task(
    tmp_path: Path, scale: Scale
) -> None:
    draw, n = np.random.default_rng(0), 30
    item, annotator = np.repeat(np.arange(n), 3), np.tile(np.arange(3), n)
    highest = 2**3 if isinstance(scale, MultiLabel) else scale.n_columns
    answer, other = (draw.integers(0, highest, 3 * n).astype(scale.dtype) for _ in range(2))
    rows = Annotations.from_arrays(item, annotator, answer, scale)
    corpus = Corpus.build("task", rows.items, {"q": rows}, annotators=rows.annotators)
    observed, multi = corpus["q"].distribution(), isinstance(scale, MultiLabel)
    soft = draw.dirichlet(np.ones(scale.n_columns), n)
    pairs = ByAnnotator(item, annotator, corpus.annotators, other)
    prediction = Prediction(scale, corpus.items, soft, scale.consensus(soft), pairs)

    write_submission(prediction, corpus, "q", tmp_path / "soft.tsv")
    [scored] = evaluate(read_predictions(tmp_path / "soft.tsv", corpus)[0], corpus,
                        metrics=["LeWiDi 2025 soft"]).results  # fmt: skip
    if isinstance(scale, Ordinal):
        expected = np.abs(np.cumsum(observed - soft, axis=1)).sum(axis=1).mean()
    else:
        expected = np.abs(observed - soft).sum(axis=1).mean() * (2 / 3 if multi else 1)
    assert scored.scores["LeWiDi 2025 soft"] == pytest.approx(expected)

    write_submission(prediction, corpus, "q", tmp_path / "pe.tsv", "2025-perspectivist")
    [scored] = evaluate(read_predictions(tmp_path / "pe.tsv", corpus)[0], corpus,
                        metrics=["LeWiDi 2025 perspectivist"]).results  # fmt: skip
    if isinstance(scale, Ordinal):
        each = np.abs(answer.astype(int) - other) / scale.n_columns
    else:
        each = (scale.one_hot(answer) != scale.one_hot(other)).mean(axis=1)
    assert scored.scores["LeWiDi 2025 perspectivist"] == pytest.approx(each.mean())
    if scale is YES:
        write_submission(prediction, corpus, "q", tmp_path / "2023.tsv", "2023")
        again, notes = read_predictions(tmp_path / "2023.tsv", corpus)
        np.testing.assert_allclose(again["q"].distribution, soft)
        assert notes[1].endswith("matched by order with the items of all items")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("p.csv", b"item,answer\nt\xa71,joy\n", "cannot be read ('utf-8' codec can't decode"),
        ("p.csv", b"item,answer\r\nt1,a\rb\r\n", "cannot be read (new-line character"),
        ("p.tsv", b"t1\t[" + b"[" * 5000, "a second column is not a list of numbers"),
        ("p.json", b"[1, 2]", "must be a list of objects, one for each prediction"),
        ("p.json", b"5", "must be a list of objects, one for each prediction"),
        ("p.parquet", b"PAR1", "cannot be read (Parquet file size is 4 bytes"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(
    name: str, content: bytes, reason: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError) as refused:
        read_predictions(tmp_path / name, example_corpus(n_items=4))
    assert str(refused.value).startswith(f"{tmp_path / name}: {reason}")
