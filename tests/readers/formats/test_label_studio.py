"""Label Studio's exports: controls of every type, who answered, and what is not read."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from dissensus import Corpus
from dissensus.corpus import LeftOut
from dissensus.errors import DataError
from dissensus.readers import read, recognise
from dissensus.scales import MultiLabel, Nominal, Ordinal
from tests.readers.conftest import Write, rows_of

KEYS = {"choices": "choices", "rating": "rating", "number": "number", "pairwise": "selected"}


def result(name: str, answer: Any, kind: str = "choices", **more: Any) -> dict[str, Any]:
    stored = answer if isinstance(answer, list) or kind != "choices" else [answer]
    value = {KEYS.get(kind, kind): stored}
    return {"id": "z", "type": kind, "from_name": name, "to_name": "text", "value": value} | more


def annotation(number: int, person: Any, *results: dict[str, Any], **more: Any) -> dict[str, Any]:
    about = {"id": number, "completed_by": person, "was_cancelled": False, "lead_time": 4.25}
    return about | {"ground_truth": False, "result": list(results)} | more


def task(number: int, *annotations: dict[str, Any], **data: Any) -> dict[str, Any]:
    shown = data or {"text": f"text {number}"}
    return {"id": number, "data": shown, "annotations": list(annotations), "predictions": [{}]}


def made(write: Write, *tasks: dict[str, Any], **options: Any) -> Corpus:
    return read(write(json.dumps(tasks), "export.json"), **options)


def refused(write: Write, *tasks: dict[str, Any], **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        made(write, *tasks, **options)
    return re.sub(r"^.*export\.json", "export.json", str(caught.value))


def test_every_type_of_question(write: Write) -> None:
    outputs = [
        result("mood", "joy"),
        result("stars", 4, "rating"),
        result("years", 31, "number"),
        result("better", "left", "pairwise"),
        result("topic", [["arts", "film"], ["home"]], "taxonomy"),
    ]
    other = [
        result("mood", "fear"),
        result("stars", 2, "rating"),
        result("years", 30.5, "number"),
        result("better", "right", "pairwise"),
        result("topic", [["home"]], "taxonomy"),
    ]
    corpus = made(write, task(1, annotation(1, 10, *outputs), annotation(2, 11, *other)))
    assert rows_of(corpus, "mood") == [("1", "10", "joy"), ("1", "11", "fear")]
    assert corpus["mood"].scale == Nominal(("fear", "joy"))
    assert corpus["stars"].answers() == ["4", "2"]
    assert corpus["years"].answers() == [31, 30.5]
    assert corpus["better"].answers() == ["left", "right"]
    assert corpus["topic"].answers() == [("arts > film", "home"), ("home",)]
    assert corpus["mood"].seconds is not None and corpus["mood"].seconds.tolist() == [4.25, 4.25]
    assert corpus.contents["text"].values.to_pylist() == ["text 1"]
    assert corpus.notes[0].startswith("export.json: Label Studio; mood (nominal: fear, joy); stars")
    assert corpus.notes[0].endswith("; 10 answers by 2 annotators on 1 item")


def test_several_choices_and_none(write: Write) -> None:
    corpus = made(
        write,
        task(1, annotation(1, 10, result("mood", ["joy", "fear"])), annotation(2, 11)),
        task(2, annotation(3, 10, result("mood", ["fear"]))),
    )
    assert corpus["mood"].scale == MultiLabel(("fear", "joy"))
    assert corpus["mood"].answers() == [("fear", "joy"), (), ("fear",)]
    output = "export.json: mood: no choice in 1 annotation, read as: none fits"
    assert output in corpus.notes


def test_no_choice_among_single_ones_is_no_answer(write: Write) -> None:
    corpus = made(write, task(1, annotation(1, 10, result("mood", "joy")), annotation(2, 11)))
    assert rows_of(corpus, "mood") == [("1", "10", "joy")]
    assert corpus.left_out == (LeftOut("mood", "no answer", 1),)


def test_people_are_called_by_their_address_where_one_is_known(write: Write) -> None:
    bob = {"id": 11, "email": "bob@example.org", "first_name": "Bob"}
    corpus = made(
        write,
        task(1, annotation(1, 11, result("mood", "joy")), annotation(2, 12, result("mood", "joy"))),
        task(2, annotation(3, bob, result("mood", "fear"))),
    )
    assert [row[1] for row in rows_of(corpus, "mood")] == [
        "bob@example.org",
        "12",
        "bob@example.org",
    ]


def test_nobody_is_named(write: Write) -> None:
    corpus = made(write, task(1, annotation(1, None, result("mood", "joy"))))
    assert corpus["mood"].annotator is None
    assert "export.json: no annotator is named: answers are anonymous" in corpus.notes
    some = made(
        write,
        task(
            1, annotation(1, None, result("mood", "joy")), annotation(2, 7, result("mood", "joy"))
        ),
    )
    assert rows_of(some, "mood") == [("1", "7", "joy")]
    assert some.left_out == (LeftOut("mood", "no annotator", 1),)


def test_what_is_not_read_is_said(write: Write) -> None:
    span = {"type": "labels", "from_name": "span", "value": {"start": 0, "end": 3, "labels": ["x"]}}
    of_span = result("sure", "yes")
    of_span["value"] |= {"start": 0, "end": 3}
    span["type"] = "brushlabels"
    corpus = made(
        write,
        task(1, annotation(1, 10, result("mood", "joy"), span, of_span)),
        task(2, annotation(2, 10, result("mood", "fear"), was_cancelled=True)),
        task(1, annotation(1, 10, result("mood", "joy"))),  # the whole task once more
        task(3),
    )
    assert rows_of(corpus, "mood") == [("1", "10", "joy")] and list(corpus.questions) == ["mood"]
    assert corpus.left_out == (
        LeftOut("mood", "cancelled", 1),
        LeftOut("mood", "found twice", 1),
        LeftOut("mood", "no annotation", 1),
    )
    for outputs in (
        "marks, and comments on them, are not read: brushlabels 1, choices 1",
        "1 task without an annotation left out",
        "1 annotation found twice and read once",
        "left out: cancelled 1, found twice 1, no annotation 1",
    ):
        assert f"export.json: {outputs}" in corpus.notes


@pytest.mark.parametrize("answered", [True, False])
def test_a_cancelled_annotation_counts_whether_it_was_answered_or_not(
    write: Write, answered: bool
) -> None:
    both = result("mood", "joy"), result("sure", "yes")
    cancelled = annotation(3, 12, *(both if answered else ()), was_cancelled=True)
    nobody = annotation(4, None, result("sure", "yes"))
    corpus = made(
        write, task(1, annotation(1, 10, *both), annotation(2, 11, both[0]), cancelled, nobody)
    )
    assert set(corpus.left_out) == {
        LeftOut("mood", "cancelled", 1),
        LeftOut("sure", "cancelled", 1),
        LeftOut("mood", "no annotator", 1),
        LeftOut("sure", "no annotator", 1),
        LeftOut("sure", "no answer", 1),
    }
    for question in ("mood", "sure"):  # each of the four annotations once
        left = sum(row.answers for row in corpus.left_out if row.question == question)
        assert corpus[question].n_rows + left == 4


def test_a_question_that_only_a_cancelled_annotation_answers(write: Write) -> None:
    cancelled = annotation(2, 11, result("sure", "yes"), was_cancelled=True)
    corpus = made(write, task(1, annotation(1, 10, result("mood", "joy")), cancelled))
    assert list(corpus.questions) == ["mood"]


def test_free_texts_are_carried_along(write: Write) -> None:
    why = {"type": "textarea", "from_name": "why", "value": {"text": ["because", "so"]}}
    corpus = made(
        write,
        task(
            1,
            annotation(1, 10, result("mood", "joy"), why),
            annotation(2, 11, result("mood", "joy")),
        ),
        task(2, annotation(3, 10, result("mood", "joy"))),
    )
    assert corpus["mood"].extra["why (text)"].to_pylist() == ["because | so", None, None]


def test_what_was_shown(write: Write) -> None:
    output = annotation(1, 10, result("mood", "joy"))
    only = made(write, task(1, output, my_own_key="so good!"))
    assert only.contents["text"].values.to_pylist() == ["so good!"]
    named = made(write, task(1, output, headline="so", body="good!"), text="headline")
    assert named.contents["text"].values.to_pylist() == ["so"]
    alike = made(write, task(1, output, mood="imported", text="so good!"))
    assert alike.item_attributes["data.mood"].to_pylist() == ["imported"]
    away = made(write, task(1, output, image="s3://bucket/1.png"))
    assert not away.contents and away.item_attributes["image"].to_pylist() == ["s3://bucket/1.png"]
    assert "export.json: 'image' names no file that exists; it is not read" in away.notes
    write("not really", "1.png")
    here = made(write, task(1, output, image="1.png"))
    assert here.contents["image"].values.to_pylist()[0].endswith("/1.png")


def test_a_scale_may_be_declared_and_repeats_chosen(write: Write) -> None:
    twice = task(
        1, annotation(1, 10, result("mood", "ok")), annotation(2, 10, result("mood", "bad"))
    )
    assert "repeats" in refused(write, twice)
    corpus = made(write, twice, repeats="last", scale={"mood": "ordinal:bad,ok,good"})
    assert corpus["mood"].scale == Ordinal(("bad", "ok", "good"))
    assert corpus["mood"].answers() == ["bad"]


@pytest.mark.parametrize(
    ("tasks", "error"),
    [
        (
            [{"id": 1, "data": {}, "annotations": []}, {"id": 2, "data": {}}],
            "export.json, entry 2: a task of Label Studio has 'id', 'data' and 'annotations', "
            "found 'id', 'data'",
        ),
        (
            [{"id": 1, "data": {}, "annotations": [12]}],
            "export.json, entry 1: every annotation has a 'result'; export JSON with whole "
            "annotations",
        ),
        (
            [task(1, annotation(1, 10, {"type": "choices", "from_name": "mood"}))],
            "export.json, entry 1: every result must have a 'value', found "
            "{'type': 'choices', 'from_name': 'mood'}",
        ),
        (
            [task(1, annotation(1, 10, result("m", "a"), result("m", 3, "rating")))],
            "export.json, entry 1: 'm' is of two types, choices and rating",
        ),
        (
            [task(1, annotation(1, 10, result("span", "x", "labels", parentID="y")))],
            "export.json: no choices, ratings, numbers, comparisons, taxonomies or spans in "
            "1 annotation; "
            "not read: labels 1",
        ),
        (
            [task(1, annotation(1, 10, result("mood", "joy"), was_cancelled=True))],
            "export.json: no answers: cancelled 1",
        ),
        (
            [task(1)],
            "export.json: no choices, ratings, numbers, comparisons, taxonomies or spans in "
            "0 annotations",
        ),
    ],
)
def test_files_that_cannot_be_read(write: Write, tasks: list[Any], error: str) -> None:
    assert refused(write, *tasks) == error


def test_columns_are_not_named(write: Write) -> None:
    output = task(1, annotation(1, 10, result("mood", "joy")))
    assert refused(write, output, annotator="completed_by").startswith(
        "export.json: in an export of Label Studio the meaning of every column is fixed; leave out "
        "'annotator'"
    )


def test_tasks_may_stand_in_lines(write: Write) -> None:
    lines = [json.dumps(task(n, annotation(n, 10, result("mood", "joy")))) for n in (1, 2)]
    path = write("\n".join(lines), "tasks.jsonl")
    assert recognise(path) == "label-studio" and read(path).n_items == 2
