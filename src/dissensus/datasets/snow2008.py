"""Snow et al. (2008): five tasks for non-experts, ten answers to every item.

In `affect` one response has six emotions and the valence of a headline. `rte` is about whether a
text entails a hypothesis, `temp` about which of two events came first, `wsd` about the sense of a
word, `wordsim` about how alike two words are. An annotator has the same name in all five. Only
`affect`, `rte` and `wordsim` have texts.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.datasets.files import (
    Table,
    csv_table,
    first_with,
    names_in_order,
    once_each,
    tsv_table,
)
from dissensus.errors import DataError, listed
from dissensus.names import Names
from dissensus.scales import Interval, Nominal, Scale

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


def load(folder: Path, corpus: str) -> Corpus:
    """Questions are named as their files; gold on every item."""
    names = list(SCALES)[:7] if corpus == "affect" else [corpus]
    columns = ("annotator_id", "item_id", "response", "gold")
    tables = {name: csv_table(folder, f"{name}.csv", columns) for name in names}
    items, annotators = (
        names_in_order(pa.chunked_array([c for t in tables.values() for c in t[key].chunks]))
        for key in ("item_id", "annotator_id")
    )
    questions, gold = {}, {}
    for name, table in tables.items():
        questions[name] = _annotations(table, SCALES[name], items, annotators)
        with table.errors():
            item, value = once_each(questions[name].item, table["gold"], "gold")
            scale = OTHER_GOLD.get(name, SCALES[name])
            gold[name] = Annotations.from_arrays(item, None, value, scale, items=items)
    shown = SHOWN[corpus](folder, items)
    return Corpus.build(f"snow2008-{corpus}", items, questions, gold=gold, **shown)


def _annotations(table: Table, scale: Scale, items: Names, annotators: Names) -> Annotations:
    """An annotator answers an item once, so the pair of both identifies the response."""
    pair = items.codes(table["item_id"]) * len(annotators) + annotators.codes(table["annotator_id"])
    with table.errors():
        answers = scale.encode(table["response"])  # texts, also of ratings
    return table.annotations(answers, scale, items, annotators=annotators, response=pair)


def _headlines(folder: Path, items: Names) -> Parts:
    table = tsv_table(folder, HEADLINES, ("id", "headline"))
    n_unused = len(table) - len(items)
    note = f"{n_unused} headlines of {HEADLINES} without answers are left out"
    return {
        "contents": {"text": _rows_of(table, items)["headline"]},
        "notes": (note,) if n_unused else (),
    }


def _pairs(folder: Path, items: Names) -> Parts:
    """Texts in pairs; several hypotheses share one text, so these stay together in a split.

    The column `value` is the gold, and is not read from here.
    """
    columns = ("id", "task", "text", "hypothesis")
    table = _rows_of(tsv_table(folder, "text_rte1.tsv", columns), items)
    premise = Contents.distinct("text", table["text"])
    return {
        "contents": {"premise": premise, "hypothesis": table["hypothesis"]},
        "item_attributes": {"task": table["task"], "premise": first_with(items, premise[1])},
        "group": "premise",
    }


def _rows_of(table: Table, items: Names) -> Any:
    """The row of a table of texts for every item."""
    rows = table.of(items, "id")
    without = items.array.filter(rows["id"].is_null())
    if len(without):
        raise DataError(f"{table.path}: no text for item {listed(without.to_pylist())}")
    return rows


def _articles(folder: Path, items: Names) -> Parts:
    """Item "42_0" is the first pair of events in article 42."""
    return {
        "item_attributes": {"article": [name.partition("_")[0] for name in items]},
        "group": "article",
        "notes": ("answers are 1 or 2, before or after; the source does not say which is which",),
    }


def _documents(folder: Path, items: Names) -> Parts:
    """Item "5:0@35@wsj/23/wsj_2386@wsj@en@on" refers to a document of another corpus."""
    fields = [name.split("@") for name in items]
    documents = [field[2] if len(field) > 2 else None for field in fields]
    return {"item_attributes": {"document": pa.array(documents, pa.string())}, "group": "document"}


def _words(folder: Path, items: Names) -> Parts:
    """Item "boy lad" is its two words, in two roles; words occur in several pairs."""
    words = [name.partition(" ") for name in items]
    return {
        "contents": {
            "first": [first for first, _, _ in words],
            "second": [second for _, _, second in words],
        },
        "notes": ("answers run from 0 to 10, gold from 0 to 4",),
    }


SHOWN: dict[str, Callable[[Path, Names], Parts]] = {
    "affect": _headlines,
    "rte": _pairs,
    "temp": _articles,
    "wsd": _documents,
    "wordsim": _words,
}
