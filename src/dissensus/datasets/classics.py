"""The classical tables of aggregation."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.datasets.files import Folder, Table, first_with, labels, names_in_order
from dissensus.errors import DataError, listed
from dissensus.names import Names
from dissensus.scales import Interval, Nominal, Scale

CLASSES = "ducks_classes.yaml"
YES = Nominal(("0", "1"))
ARE_DUCKS = ("Mallard", "American Black Duck")


def load_bluebirds_ducks(folder: Folder, corpus: str) -> Corpus:
    """Bluebirds and ducks (Welinder et al. 2010): is this bird one? By a crowd, without the
    pictures.

    In `bluebirds` every annotator answered every item. In `ducks` the crowd takes grebes and geese
    for ducks, so that no majority can be right.

    Question `bluebird` or `duck`, 0 or 1, with gold; items are ids only.
    """
    columns = ("item_id", "annotator_id", "label", *(["gold"] if corpus == "bluebirds" else []))
    rows = folder.csv(f"{corpus}.csv", columns)
    items = names_in_order(rows["item_id"])
    annotations = rows.annotations("label", YES, items)
    if corpus == "bluebirds":
        gold = rows.gold(annotations.item, YES, items)
        return Corpus.build(corpus, items, {"bluebird": annotations}, gold={"bluebird": gold})
    species = _species(folder, items)
    gold = labels(np.isin(species, ARE_DUCKS).astype(np.int32), YES, items)
    note = (
        f"gold is derived from the species ({' and '.join(ARE_DUCKS)} are ducks); it is not a "
        "column of the source"
    )
    facts, answers = {"species": species}, {"duck": annotations}
    return Corpus.build(
        corpus, items, answers, item_attributes=facts, gold={"duck": gold}, notes=(note,)
    )


def _species(folder: Folder, items: Names) -> list[str]:
    """The species of every item, from the two mappings of the file of classes."""
    path = folder.file(CLASSES)
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


HEADLINES = "text_affect.tsv"
SCALES: dict[str, Scale] = {
    **dict.fromkeys(("anger", "disgust", "fear", "joy", "sadness", "surprise"), Interval(0, 100)),
    "valence": Interval(-100, 100),
    "rte": Nominal(("0", "1")),
    "temp": Nominal(("1", "2")),
    "wsd": Nominal(("1", "2", "3")),
    "wordsim": Interval(0, 10),
}
OTHER_GOLD: dict[str, Scale] = {"wordsim": Interval(0, 4)}  # on a scale of its own

Parts = dict[str, Any]  # arguments of Corpus.build


def load_snow2008(folder: Folder, corpus: str) -> Corpus:
    """Snow et al. (2008): five tasks for non-experts, ten answers to every item.

    In `affect` one response has six emotions and the valence of a headline. `rte` is about whether
    a text entails a hypothesis, `temp` about which of two events came first, `wsd` about the sense
    of a word, `wordsim` about how alike two words are. An annotator has the same name in all five.
    Only `affect`, `rte` and `wordsim` have texts.

    Questions are named as their files; gold on every item.
    """
    names = list(SCALES)[:7] if corpus == "affect" else [corpus]
    columns = ("annotator_id", "item_id", "response", "gold")
    tables = {name: folder.csv(f"{name}.csv", columns) for name in names}
    items, annotators = (
        names_in_order(pa.chunked_array([c for t in tables.values() for c in t[key].chunks]))
        for key in ("item_id", "annotator_id")
    )
    questions, gold = {}, {}
    for name, table in tables.items():
        rater = annotators.codes(table["annotator_id"])
        pair = items.codes(table["item_id"]) * len(annotators) + rater  # identifies the response
        with table.errors():
            answers = SCALES[name].encode(table["response"])  # texts, also of ratings
        questions[name] = table.annotations(
            answers, SCALES[name], items, annotators=annotators, response=pair
        )
        gold[name] = table.gold(questions[name].item, OTHER_GOLD.get(name, SCALES[name]), items)
    shown = SHOWN[corpus](folder, items)
    return Corpus.build(f"snow2008-{corpus}", items, questions, gold=gold, **shown)


def _headlines(folder: Folder, items: Names) -> Parts:
    table = folder.tsv(HEADLINES, ("id", "headline"))
    n_unused = len(table) - len(items)
    note = f"{n_unused} headlines of {HEADLINES} without answers are left out"
    return {
        "contents": {"text": _rows_of(table, items)["headline"]},
        "notes": (note,) if n_unused else (),
    }


def _pairs(folder: Folder, items: Names) -> Parts:
    """Texts in pairs; several hypotheses share one text, so these stay together in a split.

    The column `value` is the gold, and is not read from here.
    """
    columns = ("id", "task", "text", "hypothesis")
    table = _rows_of(folder.tsv("text_rte1.tsv", columns), items)
    premise = Contents.distinct("text", table["text"])
    return {
        "contents": {"premise": premise, "hypothesis": table["hypothesis"]},
        "item_attributes": {"task": table["task"], "premise": first_with(items, premise[1])},
        "group": "premise",
    }


def _rows_of(table: Table, items: Names) -> Any:
    rows = table.of(items, "id")
    without = items.array.filter(rows["id"].is_null())
    if len(without):
        raise DataError(f"{table.path}: no text for item {listed(without.to_pylist())}")
    return rows


def _articles(folder: Folder, items: Names) -> Parts:
    """Item "42_0" is the first pair of events in article 42."""
    return {
        "item_attributes": {"article": [name.partition("_")[0] for name in items]},
        "group": "article",
        "notes": ("answers are 1 or 2, before or after; the source does not say which is which",),
    }


def _documents(folder: Folder, items: Names) -> Parts:
    """Item "5:0@35@wsj/23/wsj_2386@wsj@en@on" refers to a document of another corpus."""
    fields = [name.split("@") for name in items]
    documents = [field[2] if len(field) > 2 else None for field in fields]
    return {"item_attributes": {"document": pa.array(documents, pa.string())}, "group": "document"}


def _words(folder: Folder, items: Names) -> Parts:
    """Item "boy lad" is its two words, in two roles; words occur in several pairs."""
    first, _, second = zip(*(name.partition(" ") for name in items), strict=True)
    notes = ("answers run from 0 to 10, gold from 0 to 4",)
    return {"contents": {"first": list(first), "second": list(second)}, "notes": notes}


SHOWN: dict[str, Callable[[Folder, Names], Parts]] = {
    "affect": _headlines,
    "rte": _pairs,
    "temp": _articles,
    "wsd": _documents,
    "wordsim": _words,
}
