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
    chosen,
    csv_table,
    errors_in,
    first_with,
    names_in_order,
    once_each,
    tsv_table,
)
from dissensus.errors import DataError, listed
from dissensus.names import Names
from dissensus.scales import Interval, Nominal, Scale

CORPORA: tuple[str, ...] = ("affect", "rte", "temp", "wsd", "wordsim")
DEFAULT: str | None = None
HEADLINES, PAIRS = "text_affect.tsv", "text_rte1.tsv"
EMOTIONS = ("anger", "disgust", "fear", "joy", "sadness", "surprise")
SCALES: dict[str, Scale] = {
    **{emotion: Interval(0, 100) for emotion in EMOTIONS},
    "valence": Interval(-100, 100),
    "rte": Nominal(("0", "1")),
    "temp": Nominal(("1", "2")),
    "wsd": Nominal(("1", "2", "3")),
    "wordsim": Interval(0, 10),
}
OTHER_GOLD: dict[str, Scale] = {"wordsim": Interval(0, 4)}  # on a scale of its own

Parts = dict[str, Any]  # arguments of Corpus.build


def recognise(folder: Path) -> bool:
    """Whether the folder contains a table of answers with its texts, or the pairs of words."""
    return any((folder / name).is_file() for name in (HEADLINES, PAIRS, "wordsim.csv"))


def load(folder: Path, corpus: str | None = None) -> Corpus:
    """Questions are named as their files; gold on every item."""
    wanted = chosen(folder, corpus, CORPORA, DEFAULT)
    names = (*EMOTIONS, "valence") if wanted == "affect" else (wanted,)
    tables = {name: _answers(folder, name) for name in names}
    items, annotators = (
        names_in_order(pa.chunked_array([c for t in tables.values() for c in t[key].chunks]))
        for key in ("item_id", "annotator_id")
    )
    questions, gold = {}, {}
    for name, table in tables.items():
        with errors_in(folder / f"{name}.csv"):
            questions[name] = _annotations(table, SCALES[name], items, annotators)
            item, value = once_each(questions[name].item, table["gold"], "gold")
            scale = OTHER_GOLD.get(name, SCALES[name])
            gold[name] = Annotations.from_arrays(item, None, value, scale, items=items)
    shown = SHOWN[wanted](folder, items)
    return Corpus.build(f"snow2008-{wanted}", items, questions, gold=gold, **shown)


def _answers(folder: Path, name: str) -> Any:
    columns = ("annotator_id", "item_id", "response", "gold")
    return csv_table(folder, f"{name}.csv", **dict.fromkeys(columns, pa.string()))


def _annotations(table: Any, scale: Scale, items: Names, annotators: Names) -> Annotations:
    """An annotator answers an item once, so the pair of both identifies the response."""
    item = items.codes(table["item_id"])
    annotator = annotators.codes(table["annotator_id"])
    return Annotations.from_arrays(
        item,
        annotator,
        table["response"],
        scale,
        items=items,
        annotators=annotators,
        response=item * len(annotators) + annotator,
    )


def _headlines(folder: Path, items: Names) -> Parts:
    table = tsv_table(folder, HEADLINES, id=pa.string(), headline=pa.string())
    texts = _rows_of(folder / HEADLINES, table, items)["headline"]
    n_unused = table.num_rows - len(items)
    note = f"{n_unused} headlines of {HEADLINES} without answers are left out"
    return {
        "contents": {"text": Contents.distinct("text", texts)},
        "notes": (note,) if n_unused else (),
    }


def _pairs(folder: Path, items: Names) -> Parts:
    """Texts in pairs; several hypotheses share one text, so these stay together in a split.

    The column `value` is the gold, and is not read from here.
    """
    columns = dict.fromkeys(("id", "task", "text", "hypothesis"), pa.string())
    table = _rows_of(folder / PAIRS, tsv_table(folder, PAIRS, **columns), items)
    premise = Contents.distinct("text", table["text"])
    return {
        "contents": {
            "premise": premise,
            "hypothesis": Contents.distinct("text", table["hypothesis"]),
        },
        "item_attributes": {"task": table["task"], "premise": first_with(items, premise[1])},
        "group": "premise",
    }


def _rows_of(path: Path, table: Any, items: Names) -> Any:
    """The row of a table of texts for every item."""
    with errors_in(path):
        at = Names(table["id"]).find(items)
        if (at < 0).any():
            raise DataError(f"no text for item {listed(items.array.filter(at < 0).to_pylist())}")
    return table.take(pa.array(at))


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
            "first": Contents.distinct("text", [first for first, _, _ in words]),
            "second": Contents.distinct("text", [second for _, _, second in words]),
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
