"""Bluebirds and ducks (Welinder et al. 2010): is this bird one? By a crowd, without the pictures.

In `bluebirds` every annotator answered every item. In `ducks` the crowd takes grebes and geese for
ducks, so that no majority can be right.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.datasets.files import csv_table, labels, names_in_order, once_each, present
from dissensus.errors import DataError, listed
from dissensus.names import Names
from dissensus.scales import Nominal

CLASSES = "ducks_classes.yaml"
YES = Nominal(("0", "1"))
ARE_DUCKS = ("Mallard", "American Black Duck")


def load(folder: Path, corpus: str) -> Corpus:
    """Question `bluebird` or `duck`, 0 or 1, with gold; items are ids only."""
    columns = ("item_id", "annotator_id", "label", *(["gold"] if corpus == "bluebirds" else []))
    rows = csv_table(folder, f"{corpus}.csv", columns)
    items = names_in_order(rows["item_id"])
    annotations = rows.annotations("label", YES, items)
    if corpus == "bluebirds":
        with rows.errors():
            item, value = once_each(annotations.item, rows["gold"], "gold")
            gold = Annotations.from_arrays(item, None, value, YES, items=items)
        return Corpus.build(corpus, items, {"bluebird": annotations}, gold={"bluebird": gold})
    species = _species(folder, items)
    is_duck = np.isin(species, ARE_DUCKS).astype(np.int32)
    return Corpus.build(
        corpus,
        items,
        {"duck": annotations},
        item_attributes={"species": species},
        gold={"duck": labels(is_duck, YES, items)},
        notes=(
            f"gold is derived from the species ({' and '.join(ARE_DUCKS)} are ducks); it is not a "
            "column of the source",
        ),
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
