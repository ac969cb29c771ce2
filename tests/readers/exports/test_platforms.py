"""Batches of Mechanical Turk and pools of Toloka: answers, boxes, gold, and what does not count."""

from __future__ import annotations

import csv
import io
from typing import Any

from dissensus import Corpus
from dissensus.corpus import LeftOut
from dissensus.readers import read, recognise
from tests.readers.conftest import Write, rows_of

MTURK = ["HITId", "Title", "AssignmentId", "WorkerId", "AssignmentStatus", "WorkTimeInSeconds"]
TOLOKA = ["ASSIGNMENT:assignment_id", "ASSIGNMENT:worker_id", "ASSIGNMENT:status"]


def text_of(names: list[str], lines: list[list[Any]], delimiter: str = ",") -> str:
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows([names, *lines])
    return buffer.getvalue()


def turk(write: Write, more: list[str], *lines: list[Any], **options: Any) -> Corpus:
    """Each line: HIT, worker, status, and what stands in the further columns."""
    whole = [
        [hit, "rate it", f"A{n}", worker, status, 10 + n, *rest]
        for n, (hit, worker, status, *rest) in enumerate(lines)
    ]
    return read(write(text_of([*MTURK, *more], whole), "batch.csv"), **options)


def pool(write: Write, more: list[str], *lines: list[Any], **options: Any) -> Corpus:
    """Each line: worker, status, and what stands in the further columns."""
    whole = [[f"a{n}", *line] for n, line in enumerate(lines)]
    return read(write(text_of([*TOLOKA, *more], whole, "\t"), "pool.tsv"), **options)


def test_a_batch(write: Write) -> None:
    corpus = turk(
        write,
        ["Input.tweet", "Answer.mood.label", "Approve", "Reject"],
        ["H1", "W1", "Approved", "so good", "joy", "x", ""],
        ["H1", "W2", "Rejected", "so good", "fear", "", "x"],
        ["H2", "W1", "Submitted", "so bad", "fear", "", "None"],
        ["H2", "W3", "Submitted", "so bad", "joy", "", "too quick"],
        ["H2", "W4", "Submitted", "so bad", "", "", ""],
    )
    assert rows_of(corpus, "mood") == [("H1", "W1", "joy"), ("H2", "W1", "fear")]
    assert corpus.contents["text"].values.to_pylist() == ["so good", "so bad"]
    assert corpus["mood"].seconds is not None and corpus["mood"].seconds.tolist() == [10, 12]
    assert corpus.item_attributes["Title"].to_pylist() == ["rate it"] * 2
    assert corpus.left_out == (LeftOut("mood", "no answer", 1), LeftOut("mood", "rejected", 2))
    assert corpus.notes[:2] == (
        "batch.csv: Mechanical Turk; mood (nominal: fear, joy); 2 answers by 2 annotators on 2 "
        "items",
        "batch.csv: left out: rejected 2",
    )


def test_other_tables_are_not_taken_for_batches(write: Write) -> None:
    assert recognise(write("HITId,WorkerId,label\nH1,W1,joy\n", "a.csv")) == "csv"
    assert recognise(write("task,worker,label\nt1,w1,joy\n", "b.csv")) == "csv"
    assert recognise(write(text_of([*MTURK, "Answer.mood"], []), "c.csv")) == "mturk"
    assert recognise(write(text_of([*TOLOKA, "OUTPUT:mood"], [], "\t"), "d.tsv")) == "toloka"
