"""Batches of Mechanical Turk and pools of Toloka: answers, boxes, gold, and what does not count."""

from __future__ import annotations

import csv
import io
import itertools
import re
from typing import Any

import pytest

from dissensus import Corpus
from dissensus.corpus import LeftOut
from dissensus.errors import DataError
from dissensus.readers import read, recognise
from dissensus.scales import MultiLabel, Nominal
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


def test_buttons_are_one_question_and_boxes_a_set(write: Write) -> None:
    names = [
        "Input.text",
        "Answer.mood.joy",
        "Answer.mood.fear",
        "Answer.sure.yes",
        "Answer.sure.no",
    ]
    corpus = turk(
        write,
        names,
        ["H1", "W1", "Approved", "a", "true", "true", "true", "false"],
        ["H1", "W2", "Approved", "a", "false", "false", "false", "true"],
        ["H2", "W1", "Approved", "b", "false", "true", "true", "false"],
        ["H2", "W2", "Approved", "b", "", "", "", ""],
    )
    assert corpus["mood"].scale == MultiLabel(("fear", "joy"))
    assert corpus["mood"].answers() == [("fear", "joy"), (), ("fear",)]
    assert corpus["sure"].scale == Nominal(("no", "yes"))
    assert corpus["sure"].answers() == ["yes", "no", "yes"]
    one = turk(
        write,
        ["Input.text", "Answer.rude.yes"],
        ["H1", "W1", "Approved", "a", "true"],
        ["H1", "W2", "Approved", "a", "false"],
    )
    assert one["rude.yes"].answers() == ["true", "false"]


def test_free_texts_are_no_answers_unless_named(write: Write) -> None:
    lines = [
        [f"H{n}", f"W{n % 3}", "Approved", f"text {n}", "joy", f"I thought {n}"] for n in range(30)
    ]
    names = ["Input.text", "Answer.mood", "Answer.why"]
    corpus = turk(write, names, *lines)
    assert list(corpus.questions) == ["mood"]
    assert "batch.csv: free texts, not read as answers: 'why'" in corpus.notes
    assert list(turk(write, names, *lines, answer="Answer.why").questions) == ["why"]


def test_inputs_are_shown_by_their_names(write: Write) -> None:
    names = ["Input.headline", "Input.source", "Answer.mood"]
    line = ["H1", "W1", "Approved", "so good", "web", "joy"]
    plain = turk(write, names, line)
    assert not plain.contents and plain.item_attributes["headline"].to_pylist() == ["so good"]
    for name in ("headline", "Input.headline"):
        named = turk(write, names, line, text=name)
        assert named.contents["text"].values.to_pylist() == ["so good"]
    alike = turk(write, ["Input.mood", "Answer.mood"], ["H1", "W1", "Approved", "so good", "joy"])
    assert alike.contents["text"].values.to_pylist() == ["so good"]
    assert alike["mood"].answers() == ["joy"]


def test_a_pool(write: Write) -> None:
    corpus = pool(
        write,
        ["ASSIGNMENT:task_id", "INPUT:text", "OUTPUT:result", "GOLDEN:result"],
        ["w1", "APPROVED", "t1", "so\ngood", "joy", ""],
        ["w2", "APPROVED", "t1", "so\ngood", "fear", ""],
        ["w1", "REJECTED", "t2", "so bad", "fear", "fear"],
        ["w2", "APPROVED", "t2", "so bad", "fear", "fear"],
        ["w3", "EXPIRED", "t2", "so bad", "", "fear"],
    )
    assert rows_of(corpus, "result") == [
        ("t1", "w1", "joy"),
        ("t1", "w2", "fear"),
        ("t2", "w2", "fear"),
    ]
    assert corpus.gold["result"].answers() == ["fear"]
    assert corpus.left_out == (LeftOut("result", "rejected", 1), LeftOut("result", "expired", 1))


def test_what_is_read_and_left_out_is_every_row(write: Write) -> None:
    statuses = ["APPROVED", "REJECTED", "EXPIRED", "SKIPPED"]
    lines = [
        [f"w{n}", status, f"t{n // 4}", "so good", mood, sure]
        for n, (status, mood, sure) in enumerate(
            itertools.product(statuses, ["joy", "fear", ""], ["yes", ""])
        )
    ]
    names = ["ASSIGNMENT:task_id", "INPUT:text", "OUTPUT:mood", "OUTPUT:sure"]
    corpus = pool(write, names, *lines)
    for question in ("mood", "sure"):
        left = [row for row in corpus.left_out if row.question == question]
        assert {row.reason: row.answers for row in left} == {
            "no answer": sum(
                line[1] == "APPROVED" and not line[names.index(f"OUTPUT:{question}") + 2]
                for line in lines
            ),
            "rejected": 6,
            "expired": 6,
            "skipped": 6,
        }
        assert corpus[question].n_rows + sum(row.answers for row in left) == len(lines)


def test_a_pool_without_ids_of_tasks(write: Write) -> None:
    lines = (
        ["w1", "APPROVED", "http://x/1.png", "cat"],
        ["w2", "APPROVED", "http://x/1.png", "dog"],
    )
    corpus = pool(write, ["INPUT:image", "OUTPUT:result"], *lines)
    assert list(corpus.items) == ["http://x/1.png"] and not corpus.contents
    assert "pool.tsv: 'image' names no file that exists; it is not read" in corpus.notes
    texts = pool(write, ["INPUT:text", "OUTPUT:result"], *lines)
    assert list(texts.items) == ["http://x/1.png"]


def test_a_question_called_like_a_column_of_the_platform(write: Write) -> None:
    names = ["Input.text", "Answer.Title", "Answer.mood"]
    corpus = turk(write, names, ["H1", "W1", "Approved", "a", "good", "joy"])
    assert list(corpus.questions) == ["Answer.Title", "mood"]
    assert corpus.item_attributes["Title"].to_pylist() == ["rate it"]
    one = turk(write, names, ["H1", "W1", "Approved", "a", "good", "joy"], answer="Answer.Title")
    assert list(one.questions) == ["Answer.Title"]


def test_a_batch_read_as_a_table_leaves_out_what_was_rejected(write: Write) -> None:
    lines = [
        ["H1", "W1", "Approved", "so good", "joy", ""],
        ["H1", "W2", "Rejected", "so good", "fear", "x"],
        ["H2", "W1", "Submitted", "so bad", "fear", "None"],
        ["H2", "W3", "Submitted", "so bad", "joy", "too quick"],
    ]
    names = ["Input.tweet", "Answer.mood", "Reject"]
    corpus = turk(
        write, names, *lines, format="csv", item="HITId", annotator="WorkerId", answer="Answer.mood"
    )
    assert rows_of(corpus, "Answer.mood") == [("H1", "W1", "joy"), ("H2", "W1", "fear")]
    assert corpus.left_out == (LeftOut("Answer.mood", "rejected", 2),)
    assert "batch.csv: rows left out by their status: rejected 2" in corpus.notes
    line = ["H1", "W1", "Rejected", "a", "joy", ""]
    message = refused(write, names, line, format="csv", item="HITId", answer="Answer.mood")
    assert message == "batch.csv: no answers: rejected 1"
    blank = [
        ["H1", "W1", "Approved", "a", "joy", ""],
        ["H1", "", "Rejected", "a", "joy", ""],
        ["H2", "W9", "Approved", "a", "", ""],
        ["H2", "", "Approved", "a", "joy", ""],
    ]
    assert (
        refused(
            write,
            names,
            *blank,
            format="csv",
            item="HITId",
            annotator="WorkerId",
            answer="Answer.mood",
        )
        == "batch.csv, line 5: no annotator: 'WorkerId' is blank"
    )


def refused(write: Write, names: list[str], *lines: list[Any], **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        turk(write, names, *lines, **options)
    return re.sub(r"^.*batch\.csv", "batch.csv", str(caught.value))


def test_several_items_in_a_row(write: Write) -> None:
    names = ["Input.t1", "Input.t2", "Answer.mood1", "Answer.mood2", "Answer.age"]
    lines = [
        ["H1", "W1", "Approved", "a", "b", "joy", "fear", "30"],
        ["H1", "W2", "Approved", "a", "b", "joy", "", "40"],
        ["H2", "W1", "Approved", "c", "d", "fear", "fear", "30"],
    ]
    corpus = turk(write, names, *lines)
    assert rows_of(corpus, "mood") == [
        ("a", "W1", "joy"),
        ("b", "W1", "fear"),
        ("a", "W2", "joy"),
        ("c", "W1", "fear"),
        ("d", "W1", "fear"),
    ]
    assert corpus.annotator_attributes["age"].to_pylist() == [30, 40]
    lines[2][3] = "a"  # one worker saw a text in two HITs
    assert list(turk(write, names, *lines).items) == ["H1-1", "H1-2", "H2-1", "H2-2"]
    short = write("HITId,WorkerId,Input.text,Answer.mood,Approve,Reject\nH1,W1,a,joy\n", "b.csv")
    assert rows_of(read(short), "mood") == [("H1", "W1", "joy")]


def test_batches_that_cannot_be_read(write: Write) -> None:
    plain, rejected = ["Input.text", "Answer.mood"], ["H1", "W1", "Rejected", "a", "joy"]
    assert refused(write, plain, rejected) == "batch.csv: no answers: rejected 1"
    fine = ["H1", "W1", "Approved", "a", "joy"]
    assert refused(write, plain, fine, answer="why") == (
        "batch.csv: no answers 'why'; there are 'mood'"
    )
    assert refused(write, plain, fine, item="Title") == (
        "batch.csv: in an export of Mechanical Turk the meaning of every column is fixed; leave "
        "out 'item', or use format=\"csv\" (--format csv) to read it as a table"
    )


def test_other_tables_are_not_taken_for_batches(write: Write) -> None:
    assert recognise(write("HITId,WorkerId,label\nH1,W1,joy\n", "a.csv")) == "csv"
    assert recognise(write("task,worker,label\nt1,w1,joy\n", "b.csv")) == "csv"
    assert recognise(write(text_of([*MTURK, "Answer.mood"], []), "c.csv")) == "mturk"
    assert recognise(write(text_of([*TOLOKA, "OUTPUT:mood"], [], "\t"), "d.tsv")) == "toloka"
