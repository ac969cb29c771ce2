"""pos_tweets.json on disk: each network's answers as their difference from others.

An answer is a letter, a network's answers a text of 3,064 of them. The first network of a row is
written as its difference from gold, each further one as its difference from the one before:
"12K3B" says that 12 letters are the same, then comes K, then 3 the same, then B, and all others are
the same. That takes an eighth of the room, and nothing is lost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

CHANGE = re.compile(r"(\d*)(\D)")
Code = Callable[[str, str], str]


def read(path: Path) -> dict[str, Any]:
    """The results, with all answers as letters."""
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return kept | {"rows": [_row(row, kept["gold"], unpacked) for row in kept["rows"]]}


def write(path: Path, content: dict[str, Any]) -> None:
    rows = [_row(row, content["gold"], packed) for row in content["rows"]]
    text = json.dumps(content | {"rows": rows}, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def packed(letters: str, reference: str) -> str:
    """Letters as what changes in a reference of the same length.

    Example:
        >>> packed("AABKA", "AAAAA"), unpacked("2B0K", "AAAAA")
        ('2BK', 'AABKA')
    """
    changes = zip(letters, reference, strict=True)
    runs = [
        (same, list(pairs)) for same, pairs in groupby(changes, lambda pair: pair[0] == pair[1])
    ]
    if runs and runs[-1][0]:
        runs.pop()
    return "".join(str(len(of)) if same else "".join(pair[0] for pair in of) for same, of in runs)


def unpacked(changes: str, reference: str) -> str:
    """The letters that `packed` was given."""
    letters, at = list(reference), 0
    for same, letter in CHANGE.findall(changes):
        at += int(same or 0)
        letters[at] = letter
        at += 1
    return "".join(letters)


def _row(row: dict[str, Any], gold: str, code: Code) -> dict[str, Any]:
    if "seeds" in row:
        return row | {"seeds": _each(row["seeds"], gold, code)}
    tested = {
        settings: answers
        | {
            "seeds": _each(answers["seeds"], gold, code),
            "together": code(answers["together"], gold),
        }
        for settings, answers in row["tested"].items()
    }
    return row | {"tested": tested}


def _each(seeds: list[str], reference: str, code: Code) -> list[str]:
    """Each network by the one before, the first by gold."""
    coded = []
    for text in seeds:
        coded.append(code(text, reference))
        reference = text if code is packed else coded[-1]
    return coded
