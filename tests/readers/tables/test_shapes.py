"""Shapes that people have, where a column's name or values alone would mislead."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dissensus import Corpus, read
from dissensus.errors import DataError
from dissensus.files.tabular import write_workbook
from tests.readers.conftest import Write

DRAW = np.random.default_rng(7)
FACES = [f"img{n:03d}.jpg" for n in range(12)]


def lines(header: str, rows: list[list[Any]]) -> str:
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n"


def trials() -> list[list[Any]]:
    """Each of 12 participants answers each of 10 clips, in an order of their own."""
    return [
        [f"s{p}", 20 + p, trial, f"clip_{clip}", DRAW.integers(1, 6), f"{DRAW.random():.3f}"]
        for p in range(12)
        for trial, clip in enumerate(DRAW.permutation(10), 1)
    ]


def chats() -> list[list[Any]]:
    """The answer of a chatbot, and what people say about it."""
    return [
        [item, f"w{w}", f"this is the long answer of the bot number {item}",
         DRAW.choice(["Yes", "No"]), DRAW.choice(["Yes", "No", "Unsure"])]
        for item in range(30) for w in range(6)
    ]  # fmt: skip


def ratings(n_columns: int, n_rows: int = 30, fine: bool = False) -> list[list[Any]]:
    numbers = DRAW.integers(1, 8, (n_rows, n_columns))
    return [[f"t{n}", *(f"{x + 0.5:.1f}" if fine else x for x in row)]
            for n, row in enumerate(numbers)]  # fmt: skip


# header, rows, and what is in it: items, annotators, questions
SHAPES: dict[str, tuple[str, list[list[Any]], tuple[int, int, list[str]]]] = {
    "an experiment": (
        "participant,age,trial,stimulus,response,rt", trials(), (10, 12, ["response"])
    ),
    "an experiment with subjects": (
        "subject,age,trial,item,accuracy,RT", trials(), (10, 12, ["accuracy"])
    ),
    "a response that is shown": (
        "item_id,rater_id,response,Q1_harm,Q2_bias", chats(), (30, 6, ["Q1_harm", "Q2_bias"])
    ),
    "items that are columns, some with rarer values": (
        "participant," + ",".join(FACES),
        [[f"p{n}", *(1 + (n * k + k) % (3 if k % 4 else 6) for k in range(12))] for n in range(9)],
        (12, 9, ["answer"]),
    ),
    "fine ratings of many raters are no features": (
        "face," + ",".join(f"rater_{n:03d}" for n in range(20)),
        ratings(20, fine=True),
        (30, 20, ["answer"]),
    ),
    "confidence beside each label": (
        "sample,rater1_label,rater1_confidence,rater2_label,rater2_confidence",
        ratings(4),
        (30, 2, ["label"]),
    ),
    "an annotator whose name is unknown": (
        "id," + ",".join(f"{q}_{n}" for q in ("warm", "new") for n in ("anna", "ben", "zxo")),
        ratings(6),
        (30, 3, ["new", "warm"]),
    ),
    "an expert's label": (
        "image,expert_label,labeler_1,labeler_2",
        [[f"i{n}", *(("benign", "malign")[x % 2] for x in DRAW.integers(0, 9, 3))]
         for n in range(30)],
        (30, 2, ["answer"]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape(write: Write, shape: str) -> None:
    header, rows, (n_items, n_annotators, questions) = SHAPES[shape]
    corpus: Corpus = read(write(lines(header, rows)))
    assert (corpus.n_items, corpus.n_annotators) == (n_items, n_annotators)
    assert sorted(corpus.questions) == questions


def test_the_number_of_a_trial_is_no_item(write: Write) -> None:
    rows = [[row[0], row[2], row[4]] for row in trials()]
    with pytest.raises(DataError, match="one may only number the rows of the other"):
        read(write(lines("participant,trial,response", rows)))


def test_further_lists_of_answers_are_named(write: Write) -> None:
    records = [
        {"id": n, **{f"{who}_annotations": [{"annotator": f"{who}{k}", "label": (n + k) % 2}
                                            for k in range(2)] for who in ("expert", "turker")}}
        for n in range(4)
    ]  # fmt: skip
    corpus = read(write("\n".join(map(json.dumps, records)), "labels.jsonl"))
    assert corpus.n_annotators == 2
    assert any("'turker_annotations' is called like answers" in note for note in corpus.notes)


def test_that_nobody_disagrees_is_said(write: Write) -> None:
    rows = [[f"t{n}", f"w{w}", "ab"[n % 2]] for n in range(20) for w in range(3)]
    notes = read(write(lines("task,worker,label", rows))).notes
    assert notes[-1] == (
        "labels.csv: label: nobody disagrees about any of 20 items; are these labels of the items, "
        "not answers of annotators?"
    )


def test_two_rows_of_names_are_questions_over_annotators(tmp_path: Path) -> None:
    rows = [["Item", "Toxicity", "", "Irony", ""], ["", "Anna", "Ben", "Anna", "Ben"]]
    rows += [[f"t{n}", "ok", "bad", "yes", "no"] for n in range(4)]
    write_workbook(tmp_path / "labels.xlsx", {"sheet": rows})
    with pytest.raises(DataError, match="use --header 2 if names are in two lines"):
        read(tmp_path / "labels.xlsx")
    corpus = read(tmp_path / "labels.xlsx", header=2)
    assert list(corpus.questions) == ["Toxicity", "Irony"]
    assert list(corpus.annotators) == ["Anna", "Ben"]
