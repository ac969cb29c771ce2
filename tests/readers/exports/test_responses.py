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
from tests.readers.formats import test_argilla as argilla
from tests.readers.formats import test_label_studio as label_studio
from tests.readers.formats import test_prodigy as prodigy

ODD: list[Any] = [
    None,
    True,
    0,
    -1,
    3.5,
    "",
    " ",
    "x" * 300,
    [],
    [1],
    ["a", None],
    {},
    {"a": 1},
    [[]],
    [{}],
]
ODD += [2**70, "\u202e", "nan", "[1", '{"choices": 3}']


def whole(tool: str) -> Any:
    """An export that can be read."""
    if tool == "label-studio":
        built = label_studio
        outputs = [built.result("mood", ["joy", "fear"]), built.result("stars", 4, "rating")]
        outputs.append(built.result("topic", [["arts", "film"]], "taxonomy"))
        return [built.task(n, built.annotation(n, 10, *outputs)) for n in (1, 2)]
    if tool == "prodigy":
        people = ("moods-ann", "moods-bob")
        return [prodigy.chosen(n, who, "joy", meta={"a": 1}) for n in (1, 2) for who in people]
    if tool == "argilla":
        given = (("u1", "joy", "submitted"), ("u2", ["fear"], "draft"))
        return [argilla.flat(n, "mood", *given) for n in (1, 2)]
    return {"0": {"12": 1, "7": 0}, "1": {"12": 1}}


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
    assert recognise(path) == tool and read(path).n_items == 2
    chance, refusals = random.Random(0), 0
    for _ in range(150):
        write(json.dumps(damaged(content, chance)), "export.json")
        try:
            read(path, format=tool, repeats="last")
        except DissensusError as error:
            assert "\n" not in str(error)
            refusals += 1
    assert 0 < refusals < 150
