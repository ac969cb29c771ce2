"""Bluebirds and ducks (Welinder et al. 2010): is this bird one? By a crowd, without the pictures.

In `bluebirds` every annotator answered every item. In `ducks` the crowd takes grebes and geese for
ducks, so that no majority can be right.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.datasets.files import (
    chosen,
    csv_table,
    errors_in,
    names_in_order,
    once_each,
    present,
)
from dissensus.errors import DataError, listed
from dissensus.names import Names
from dissensus.scales import Nominal

CORPORA: tuple[str, ...] = ("bluebirds", "ducks")
DEFAULT: str | None = None
BLUEBIRDS, DUCKS, CLASSES = "bluebirds.csv", "ducks.csv", "ducks_classes.yaml"
YES = Nominal(("0", "1"))
ARE_DUCKS = ("Mallard", "American Black Duck")


def recognise(folder: Path) -> bool:
    """Whether the folder contains one of the two tables."""
    return any((folder / name).is_file() for name in (BLUEBIRDS, DUCKS))


def load(folder: Path, corpus: str | None = None) -> Corpus:
    """Question `bluebird` or `duck`, 0 or 1, with gold; items are ids only."""
    wanted = chosen(folder, corpus, CORPORA, DEFAULT)
    return _bluebirds(folder) if wanted == "bluebirds" else _ducks(folder)


def _bluebirds(folder: Path) -> Corpus:
    columns = ("item_id", "annotator_id", "label", "gold")
    answers = csv_table(folder, BLUEBIRDS, **dict.fromkeys(columns, pa.string()))
    annotations = _annotations(folder / BLUEBIRDS, answers)
    with errors_in(folder / BLUEBIRDS):
        item, value = once_each(annotations.item, answers["gold"], "gold")
        gold = Annotations.from_arrays(item, None, value, YES, items=annotations.items)
    return Corpus.build(
        "bluebirds", annotations.items, {"bluebird": annotations}, gold={"bluebird": gold}
    )


def _ducks(folder: Path) -> Corpus:
    columns = ("item_id", "annotator_id", "label")
    answers = csv_table(folder, DUCKS, **dict.fromkeys(columns, pa.string()))
    annotations = _annotations(folder / DUCKS, answers)
    species = _species(folder, annotations.items)
    is_duck = np.isin(species, ARE_DUCKS).astype(np.int32)
    gold = Annotations.from_arrays(
        np.arange(len(is_duck)), None, is_duck, YES, items=annotations.items
    )
    return Corpus.build(
        "ducks",
        annotations.items,
        {"duck": annotations},
        item_attributes={"species": species},
        gold={"duck": gold},
        notes=(
            f"gold is derived from the species ({' and '.join(ARE_DUCKS)} are ducks); it is not a "
            "column of the source",
        ),
    )


def _annotations(path: Path, answers: Any) -> Annotations:
    items, annotators = (names_in_order(answers[key]) for key in ("item_id", "annotator_id"))
    with errors_in(path):
        return Annotations.from_arrays(
            items.codes(answers["item_id"]),
            annotators.codes(answers["annotator_id"]),
            answers["label"],
            YES,
            items=items,
            annotators=annotators,
        )


def _species(folder: Path, items: Names) -> list[str]:
    """The species of every item, from the two mappings of the file of classes."""
    path = present(folder, CLASSES)
    text = path.read_text(encoding="utf-8", errors="replace")
    class_of = _mapping(path, text, "labels")
    named = {number: species for species, number in _mapping(path, text, "species").items()}
    unknown = [item for item in items if class_of.get(item) not in named]
    if unknown:
        raise DataError(f"{path}: no species for item {listed(unknown)}")
    return [named[class_of[item]] for item in items]


def _mapping(path: Path, text: str, name: str) -> dict[str, str]:
    """A mapping in the file's one form: `name: {key: value, key: value}`, over several lines."""
    match = re.search(rf"^{name}:\s*\{{([^}}]*)\}}", text, re.MULTILINE)
    if match is None:
        raise DataError(f"{path}: damaged (no mapping {name!r} in braces)")
    pairs = [pair.rpartition(":") for pair in match[1].split(",") if pair.strip()]
    return {key.strip(): value.strip() for key, _, value in pairs}
