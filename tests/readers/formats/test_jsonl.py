"""JSON lines: numbers as they are written, sets, gaps, and lines that are wrong."""

from __future__ import annotations

import json
import re

import pytest

from dissensus.corpus import LeftOut
from dissensus.errors import DataError
from dissensus.readers import read
from dissensus.scales import MultiLabel
from tests.readers.conftest import Write

FIRST = '{"item": "t1", "annotator": "ann", "label": "yes"}\n'


def refused(text: str) -> str:
    return f"^{re.escape(text)}$"


@pytest.mark.parametrize("name", ["labels.jsonl", "labels.ndjson", "labels.json1", "labels.txt"])
def test_ending_or_content_tells(write: Write, name: str) -> None:
    corpus = read(write(FIRST + "\n" + FIRST.replace('"ann"', '"bob"').replace("yes", "no"), name))
    assert corpus["label"].answers() == ["yes", "no"]
    assert corpus.name == "labels"


def test_numbers_stay_as_written(write: Write) -> None:
    big = 2**70 + 1
    records = [
        {"item": 7, "annotator": big, "rating": 1.50},
        {"item": "007", "annotator": 1, "rating": 2},
    ]
    corpus = read(write("\r\n".join(map(json.dumps, records)), "a.jsonl"))
    assert list(corpus.items) == ["7", "007"]
    assert list(corpus.annotators) == [str(big), "1"]
    assert corpus["rating"].answers() == [1.5, 2.0]


def test_gaps_and_nan_are_no_answers(write: Write) -> None:
    lines = [
        '{"item": "t1", "annotator": "a", "label": true}',
        '{"item": "t1", "annotator": "b"}',
        '{"item": "t2", "annotator": "a", "label": null}',
        '{"item": "t2", "annotator": "b", "label": NaN}',
        '{"item": "t3", "annotator": "b", "label": false, "late": {"a": 1}}',
    ]
    corpus = read(write("\n".join(lines), "a.jsonl"))
    assert corpus["label"].answers() == ["true", "false"]
    assert corpus.left_out == (LeftOut("label", "no answer", 3),)
    assert (
        corpus.notes[1] == "a.jsonl: label: 3 rows without an answer left out, the first in line 2"
    )
    assert corpus.item_attributes["late"].to_pylist() == [None, None, '{"a": "1"}']


def test_lists_are_sets_of_values(write: Write) -> None:
    lines = [
        '{"item": "t1", "annotator": "a", "label": ["joy", "fear, mild"]}',
        '{"item": "t1", "annotator": "b", "label": "joy"}',
        '{"item": "t2", "annotator": "a", "label": []}',
    ]
    path = write("\n".join(lines), "a.jsonl")
    answers = read(path)["label"]
    assert answers.scale == MultiLabel(("fear, mild", "joy"))
    assert answers.answers() == [("fear, mild", "joy"), ("joy",), ()]
    message = (
        f"{path}, line 1: 'joy', 'fear, mild' are several values; "
        "declare a multi-label scale instead of nominal"
    )
    with pytest.raises(DataError, match=refused(message)):
        read(path, scale="nominal")


def test_objects_are_no_answers(write: Write) -> None:
    """As exports of Label Studio hold them: whole, in a list, or beside plain answers."""
    outputs = [{"id": 5, "completed_by": 10, "result": [{"value": {"choices": ["yes"]}}]}]
    path = write(json.dumps({"id": 1, "annotations": outputs}) + "\n", "tasks.jsonl")
    message = (
        f"{path}, line 1: the answer to 'annotations' is a JSON object, found "
        '["{\\"id\\": \\"5\\", \\"completed_by\\": \\"10\\", \\"result\\": [{\\"...; '
        "write a row for each annotator, with the answer alone in a column"
    )
    with pytest.raises(DataError, match=refused(message)):
        read(path)
    both = {"item": "t2", "annotator": "ann", "label": {"chosen": ["yes", "no"]}}
    path = write(FIRST + json.dumps(both) + "\n", "some.jsonl")
    message = (
        f"{path}, line 2: the answer to 'label' is a JSON object, found "
        '{"chosen": ["yes", "no"]}; write a row for each annotator, with the answer alone in a '
        "column"
    )
    with pytest.raises(DataError, match=refused(message)):
        read(path)


def test_lists_of_one_value_are_plain_answers_where_declared(write: Write) -> None:
    lines = [f'{{"item": "t{i}", "annotator": "a", "label": ["{i}"]}}' for i in range(3)]
    path = write("\n".join(lines), "a.jsonl")
    assert read(path, scale="ordinal")["label"].answers() == ["0", "1", "2"]


def test_separators_inside_a_string_do_not_end_a_line(write: Write) -> None:
    text = "one\u2028two\x85three"
    line = json.dumps({"item": 1, "annotator": 1, "answer": "x", "text": text}, ensure_ascii=False)
    assert read(write(line, "a.jsonl")).text_of(0) == text


# ---- bad input ----


def test_a_line_cut_off(write: Write) -> None:
    path = write(FIRST + '{"item": "t2", "annot', "a.jsonl")
    message = (
        f"{path}, line 2: not a complete JSON object (Unterminated string starting at: column 16); "
        "each line must contain one object; is the line cut off?"
    )
    with pytest.raises(DataError, match=refused(message)):
        read(path)


def test_two_objects_in_a_line(write: Write) -> None:
    path = write("{} {}", "a.jsonl")
    message = (
        f"{path}, line 1: not a complete JSON object (more after it: column 3); "
        "each line must contain one object; is the line cut off?"
    )
    with pytest.raises(DataError, match=refused(message)):
        read(path)


def test_nested_too_deep(write: Write) -> None:
    path = write('{"a":' * 200_000, "a.jsonl")
    with pytest.raises(DataError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}, line 1: not a complete JSON object (")


def test_no_object(write: Write) -> None:
    path = write(FIRST + "[1, 2]\n", "a.jsonl")
    message = (
        f"{path}, line 2: each line must contain one object, such as "
        '{"item": "t1", "annotator": "ann", "answer": "yes"}; found \'[1, 2]\''
    )
    with pytest.raises(DataError, match=refused(message)):
        read(path)


@pytest.mark.parametrize("name", ["a.json", "a.txt"])
@pytest.mark.parametrize("indent", [None, 1])
def test_an_array(write: Write, name: str, indent: int | None) -> None:
    records = [json.loads(FIRST), {"item": 2**70, "annotator": "bob"}]
    corpus = read(write(json.dumps(records, indent=indent), name))
    assert list(corpus.items) == ["t1", str(2**70)]
    assert corpus["label"].answers() == ["yes"]
    blank = "a" + name[1:] + ": label: 1 row without an answer left out, the first in entry 2"
    assert blank in corpus.notes


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("[]", ": the file is empty"),
        ('[{"item": 1}, 7]', ', entry 2: each entry must be an object, found "7"'),
        (
            '[{"item": 1},\n {"item"',
            ", line 2: not a complete JSON array (Expecting ':' delimiter: column 9); is the file "
            "cut off?",
        ),
    ],
)
def test_an_array_that_cannot_be_read(write: Write, content: str, error: str) -> None:
    path = write(content, "a.json")
    with pytest.raises(DataError, match=refused(f"{path}{error}")):
        read(path)


def test_an_object_over_many_lines(write: Write) -> None:
    path = write('{\n "t1": {"ann": "yes"}\n}\n', "a.json")
    message = f"{path}: one JSON object over many lines; write one object per line and answer"
    with pytest.raises(DataError, match=refused(message)):
        read(path)


def test_half_a_letter(write: Write) -> None:
    path = write(FIRST + FIRST.replace("yes", "\\ud800"), "a.jsonl")
    message = (
        f"{path}, line 2: 'label' contains half a letter (a lone surrogate), "
        "found '\\ud800'; correct it"
    )
    with pytest.raises(DataError, match=refused(message)):
        read(path)


@pytest.mark.parametrize(
    "content, reason",
    [
        ("", "the file is empty"),
        (" \n", "the file is empty"),
        ("{}\n{}\n", "every object is empty"),
    ],
)
def test_nothing_in_it(write: Write, content: str, reason: str) -> None:
    path = write(content, "a.jsonl")
    with pytest.raises(DataError, match=refused(f"{path}: {reason}")):
        read(path)
