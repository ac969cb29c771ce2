"""Prodigy's exports: choices, sets and labels, who answered, and what holds no answer."""

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

OFFERED = [{"id": "joy", "text": "Joy"}, {"id": "fear", "text": "Fear"}]


def example(item: int, person: str | None, **more: Any) -> dict[str, Any]:
    """As `db-out` writes it; `more` takes the place of what stands here."""
    return {
        "text": f"text {item}",
        "_input_hash": -91551573 + item,
        "_task_hash": 17,
        "answer": "accept",
        "_view_id": "choice",
        "_session_id": person,
        **more,
    }


def chosen(item: int, person: str | None, *values: Any, **more: Any) -> dict[str, Any]:
    return example(item, person, **{"options": OFFERED, "accept": list(values), **more})


def made(write: Write, *examples: dict[str, Any], **options: Any) -> Corpus:
    return read(write("\n".join(map(json.dumps, examples)), "moods.jsonl"), **options)


def refused(write: Write, *examples: dict[str, Any], **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        made(write, *examples, **options)
    return re.sub(r"^.*moods\.jsonl", "moods.jsonl", str(caught.value))


def test_choices(write: Write) -> None:
    corpus = made(
        write,
        chosen(1, "moods-ann", "joy", meta={"source": "web"}, _timestamp=1707211049),
        chosen(1, "moods-bob%20b", "fear", meta={"source": "web"}, _timestamp=1707211050),
        chosen(2, "moods-ann", "joy", meta={"source": "app"}),
    )
    assert rows_of(corpus, "choice") == [
        ("-91551572", "ann", "joy"),
        ("-91551572", "bob b", "fear"),
        ("-91551571", "ann", "joy"),
    ]
    assert corpus["choice"].scale == Nominal(("fear", "joy"))
    assert corpus.contents["text"].values.to_pylist() == ["text 1", "text 2"]
    assert corpus.item_attributes["meta.source"].to_pylist() == ["web", "app"]
    assert corpus["choice"].extra["_timestamp"].to_pylist() == ["1707211049", "1707211050", None]
    assert corpus.notes == (
        "moods.jsonl: Prodigy; choice (nominal: fear, joy); 3 answers by 2 annotators on 2 items",
        "moods.jsonl: annotators are named without 'moods-', which all names begin with",
    )


def test_what_nobody_chose_is_on_the_scale(write: Write) -> None:
    offered = [{"id": level} for level in (1, 2, 3, 4, 5)]
    corpus = made(write, chosen(1, "a", 2, options=offered), chosen(1, "b", 4, options=offered))
    assert corpus["choice"].scale == Ordinal(("1", "2", "3", "4", "5"))
    assert made(write, chosen(1, "a", "joy")).questions["choice"].scale == Nominal(("fear", "joy"))
    words = made(write, chosen(1, "a", "joy"), chosen(2, "a", "fear"), scale="ordinal:fear,joy")
    assert words["choice"].scale == Ordinal(("fear", "joy"))


def test_several_may_be_chosen(write: Write) -> None:
    style = {"config": {"choice_style": "multiple"}}
    corpus = made(
        write,
        chosen(1, "a", "fear", "joy", **style),
        chosen(1, "b", "joy", "fear", **style),
        chosen(2, "a", **style),
    )
    assert corpus["choice"].scale == MultiLabel(("joy", "fear"))
    assert corpus["choice"].answers() == [("joy", "fear"), ("joy", "fear"), ()]
    unsaid = made(write, chosen(1, "a", "fear", "joy"), chosen(2, "a", "joy"))
    assert unsaid["choice"].answers() == [("joy", "fear"), ("joy",)]
    alone = made(write, chosen(1, "a", "joy", **style))
    assert alone["choice"].answers() == [("joy",)]


def test_labels_are_questions(write: Write) -> None:
    corpus = made(
        write,
        example(1, "a", label="RUDE", _view_id="classification"),
        example(1, "b", label="RUDE", _view_id="classification", answer="reject"),
        example(1, "a", label="IRONIC", _view_id="classification", answer="reject"),
    )
    assert list(corpus.questions) == ["RUDE", "IRONIC"]
    assert rows_of(corpus, "RUDE") == [("-91551572", "a", "accept"), ("-91551572", "b", "reject")]
    bare = made(write, example(1, "a"), example(2, "a", answer="reject"))
    assert bare["answer"].answers() == ["accept", "reject"]


def test_what_holds_no_answer_is_counted(write: Write) -> None:
    corpus = made(
        write,
        chosen(1, "a", "joy"),
        chosen(2, "a", "joy", answer="ignore"),
        chosen(3, "a", "joy", answer="reject"),
        chosen(4, None, "joy"),
        chosen(5, "a"),
    )
    assert len(corpus["choice"].answers()) == 1
    assert corpus.left_out == (
        LeftOut("choice", "no answer", 1),
        LeftOut("choice", "ignored", 1),
        LeftOut("choice", "rejected", 1),
        LeftOut("choice", "no annotator", 1),
    )
    assert "moods.jsonl: left out: ignored 1, rejected 1, no annotator 1" in corpus.notes
    none = refused(write, chosen(1, "a", answer="ignore"), chosen(2, "a", "joy", answer="reject"))
    assert none == "moods.jsonl: no answers: ignored 1, rejected 1"


def test_nobody_is_named(write: Write) -> None:
    corpus = made(write, chosen(1, None, "joy"), chosen(1, None, "fear"))
    assert corpus["choice"].annotator is None and corpus.n_annotators == 0
    assert "moods.jsonl: no annotator is named: answers are anonymous" in corpus.notes


def test_an_annotators_id_comes_before_the_sessions(write: Write) -> None:
    corpus = made(write, chosen(1, "s1", "joy", _annotator_id="x-ann"), chosen(1, "x-bo", "joy"))
    assert list(corpus.annotators) == ["ann", "bo"]


@pytest.mark.parametrize(
    ("people", "wanted"),
    [
        (("moods-ann",), ["moods-ann"]),
        (("a-b-ann", "a-b-bo"), ["ann", "bo"]),
        (("a-ann", "a-annie"), ["ann", "annie"]),
        (("ann", "bo-ann"), ["ann", "bo-ann"]),
        (("m-2024-02-06_10-11-12", "m-2024-02-07_10-11-12"), None),
    ],
)
def test_the_name_of_the_dataset(
    write: Write, people: tuple[str, ...], wanted: list[str] | None
) -> None:
    corpus = made(write, *(chosen(1, person, "joy") for person in people))
    assert list(corpus.annotators) == (wanted or list(people))
    timed = "2 annotators named after a time, as unnamed sessions are"
    assert any(timed in note for note in corpus.notes) == (wanted is None)


def test_pictures_are_files_or_not_read(write: Write) -> None:
    write("not really", "a.png")
    pictured = chosen(1, "a", "joy", image="a.png", text=None)
    corpus = made(write, pictured, chosen(1, "b", "joy", image="a.png", text=None))
    assert corpus.contents["image"].values.to_pylist()[0].endswith("/a.png")
    inside = made(write, chosen(1, "a", "joy", image="data:image/png;base64,AAAA"))
    assert "image" not in inside.contents and "image" not in inside.item_attributes
    output = "moods.jsonl: media inside the file or on the web are not read"
    assert output in inside.notes


def test_one_input_under_two_answers_of_one_person(write: Write) -> None:
    twice = (chosen(1, "a", "joy"), chosen(1, "a", "fear"), chosen(1, "b", "joy"))
    assert "repeats" in refused(write, *twice)
    assert made(write, *twice, repeats="last")["choice"].answers() == ["fear", "joy"]


@pytest.mark.parametrize(
    ("examples", "error"),
    [
        (
            [chosen(1, "a", "joy"), {"text": "x", "_input_hash": 1}],
            "moods.jsonl, line 2: no 'answer'; every example of Prodigy has both",
        ),
        (
            [chosen(1, "a", "joy"), chosen(2, "a", "joy", answer="skip")],
            "moods.jsonl, line 2: 'answer' is 'skip'; Prodigy has 'accept', 'reject', 'ignore'",
        ),
        (
            [chosen(1, "a", "joy"), example(2, "a", label="RUDE")],
            "moods.jsonl: choices, labels or spans in one file (line 1 and line 2); export each "
            "task by itself",
        ),
        (
            [example(1, "a", _view_id="relations", spans=[{"start": 0, "end": 4}])],
            "moods.jsonl, line 1: a 'relations' task, whose answers are arcs; choices, labels and "
            "spans are read",
        ),
    ],
)
def test_files_that_cannot_be_read(
    write: Write, examples: list[dict[str, Any]], error: str
) -> None:
    assert refused(write, *examples) == error


def test_columns_are_not_named(write: Write) -> None:
    error = refused(write, chosen(1, "a", "joy"), answer="accept")
    assert error == (
        "moods.jsonl: in an export of Prodigy the meaning of every column is fixed; leave out "
        "'answer', or use format=\"jsonl\" (--format jsonl) to read it as a table"
    )
    table = made(write, chosen(1, "a", "joy"), answer="accept", format="jsonl")
    assert table["accept"].answers() == [("joy",)]


def test_only_prodigy_is_taken_for_it(write: Write) -> None:
    other = write('{"item": "t1", "annotator": "ann", "answer": "accept"}\n', "a.jsonl")
    assert recognise(other) == "jsonl"
    assert recognise(write(json.dumps(chosen(1, "a", "joy")), "b.txt")) == "prodigy"
