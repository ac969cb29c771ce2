"""Whatever an export of an annotation tool holds, it is read or refused in one line."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest

from dissensus.errors import DissensusError
from dissensus.readers import read, recognise
from tests.readers.conftest import Write
from tests.readers.test_cases import CASES

ODD: list[Any] = [None, True, 0, -1, 3.5, "", " ", "x" * 300, [], [1], ["a", None], {}, {"a": 1}]
ODD += [[[]], [{}], 2**70, "\u202e", "nan", "[1", '{"choices": 3}']
WHOLE = {  # exports that can be read
    "label-studio": "label-studio: every type of question",
    "prodigy": "prodigy: choices",
    "argilla": "argilla: flat records",
    "peerannot": "peerannot: answers",
}


def whole(tool: str) -> Any:
    """An export that can be read."""
    ((_, text),) = CASES[WHOLE[tool]]["files"].items()
    return (
        [json.loads(line) for line in text.splitlines()] if tool == "prodigy" else json.loads(text)
    )


def places(stored: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value that is held somewhere in another."""
    keys = (
        list(stored)
        if isinstance(stored, dict)
        else range(len(stored) if type(stored) is list else 0)
    )
    results = [(*at, key) for key in keys]
    return results + [more for place in results for more in places(stored[place[-1]], place)]


def damaged(stored: Any, chance: random.Random) -> Any:
    """With one to three values that are gone or something else."""
    stored = copy.deepcopy(stored)
    for _ in range(chance.randint(1, 3)):
        *way, last = chance.choice(places(stored) or [(0,)])
        inner = stored
        for key in way:
            inner = inner[key]
        if chance.random() < 0.3 and places(stored):
            del inner[last]
        elif places(stored):
            inner[last] = copy.deepcopy(chance.choice(ODD))
    return stored


@pytest.mark.parametrize("tool", ["label-studio", "prodigy", "argilla", "peerannot"])
def test_damaged_exports_are_read_or_refused(write: Write, tool: str) -> None:
    content = whole(tool)
    path = write(json.dumps(content), "export.json")
    assert recognise(path) == tool and read(path).n_items > 0
    chance, refusals = random.Random(0), 0
    for _ in range(150):
        write(json.dumps(damaged(content, chance)), "export.json")
        try:
            read(path, format=tool, repeats="last")
        except DissensusError as error:
            assert "\n" not in str(error)
            refusals += 1
    assert 0 < refusals < 150


TURK = "HITId,WorkerId,Title,"
POOL = "ASSIGNMENT:assignment_id\tASSIGNMENT:worker_id\t"
EXAMPLE = '{"text": "a", "_input_hash": 1, "_task_hash": 2, "answer": "accept"}\n'


@pytest.mark.parametrize(
    ("content", "tool"),
    [
        ("HITId,WorkerId,label\nH1,W1,joy\n", "csv"),
        ("task,worker,label\nt1,w1,joy\n", "csv"),
        (f"{TURK}Answer.mood\n", "mturk"),
        (f"{POOL}OUTPUT:mood\n", "toloka"),
        ('{"item": "t1", "annotator": "ann", "answer": "accept"}\n', "jsonl"),
        (EXAMPLE, "prodigy"),
    ],
)
def test_only_its_own_files_are_taken_for_a_tool(write: Write, content: str, tool: str) -> None:
    assert recognise(write(content, "export.txt")) == tool


def test_json_that_is_nested_too_deep(write: Write) -> None:
    path = write('{"a":' * 200_000, "a.jsonl")
    with pytest.raises(DissensusError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}, line 1: not a complete JSON object (")
