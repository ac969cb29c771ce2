"""EmoBank (Buechel & Hahn 2017): valence, arousal and dominance of 10,548 sentences.

The questions about the reader are what the annotator feels, those about the writer what the writer
felt. Annotators are unknown, but the three numbers of one response belong together. `emobank`
leaves out the responses (1, 1, 1), which are probably not answered, as the authors do in their
means; `emobank-all` keeps them.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus, LeftOut
from dissensus.datasets.files import chosen, csv_table, errors_in, tsv_table
from dissensus.names import Names
from dissensus.scales import Interval

CORPORA: tuple[str, ...] = ("emobank", "emobank-all")
DEFAULT: str | None = "emobank"
TEXTS, FACTS, MEANS = "raw.csv", "meta.tsv", "emobank.csv"
PERSPECTIVES = {name: f"individual_{name}_ratings.csv" for name in ("reader", "writer")}
SIDES = ("V", "A", "D")  # valence, arousal, dominance
NO_DOCUMENT = "SemEval"  # headlines of many newspapers, one document in the file
NOT_ANSWERED = "V = A = D = 1: probably not answered (--corpus emobank-all keeps them)"


def recognise(folder: Path) -> bool:
    """Whether the folder contains the ratings of readers or writers."""
    return any((folder / name).is_file() for name in PERSPECTIVES.values())


def load(folder: Path, corpus: str | None = None) -> Corpus:
    """Questions `reader V`, ..., `writer D`, numbers from 1 to 5, linked by `response`."""
    wanted = chosen(folder, corpus, CORPORA, DEFAULT)
    sentences = csv_table(folder, TEXTS, id=pa.string(), text=pa.string())
    with errors_in(folder / TEXTS):
        items = Names(sentences["id"])
    facts = _facts(folder, items)
    questions: dict[str, Annotations] = {}
    left_out: list[LeftOut] = []
    for perspective in PERSPECTIVES:
        rated, n_empty = _rated(folder, perspective, items, everything=wanted == "emobank-all")
        questions |= rated
        left_out += [LeftOut(question, NOT_ANSWERED, n_empty) for question in rated if n_empty]
    units = _units(sentences["text"].to_pylist(), facts["document"].to_pylist(), items)
    return Corpus.build(
        wanted,
        items,
        questions,
        contents={"text": Contents.distinct("text", sentences["text"])},
        item_attributes={**facts, "unit": pa.array(units)},
        splits={"official": _official(folder, items)},
        group="unit",
        left_out=tuple(left_out),
        notes=(
            "sentences of one document make one unit; one whose text occurs in several documents "
            "('Sincerely,'), and every headline of SemEval, is a unit by its text",
            f"{MEANS} contains means over readers and writers together: only its split is read",
        ),
    )


def _rated(
    folder: Path, perspective: str, items: Names, everything: bool
) -> tuple[dict[str, Annotations], int]:
    """The three questions of one perspective, and how many responses are not answers."""
    name = PERSPECTIVES[perspective]
    table = csv_table(folder, name, id=pa.string(), **dict.fromkeys(SIDES, pa.float64()))
    ratings = np.stack([table[side].to_numpy() for side in SIDES], axis=1)  # (n_responses, 3)
    kept = np.full(len(ratings), True) if everything else (ratings != 1).any(axis=1)
    number = np.arange(len(ratings)) * len(PERSPECTIVES) + list(PERSPECTIVES).index(perspective)
    questions = {}
    with errors_in(folder / name):
        item = items.codes(table["id"], "sentence")
        for side, column in zip(SIDES, ratings.T, strict=True):
            every = Annotations.from_arrays(
                item, None, column.copy(), Interval(1, 5), items=items, response=number
            )
            questions[f"{perspective} {side}"] = every.take(kept)
    return questions, int((~kept).sum())


def _facts(folder: Path, items: Names) -> dict[str, Any]:
    """Document, category and subcategory of every sentence; a blank is no subcategory."""
    keys = ("id", "document", "category", "subcategory")
    table = tsv_table(folder, FACTS, **dict.fromkeys(keys, pa.string()))
    with errors_in(folder / FACTS):
        at = Names(table["id"]).codes(items, "sentence")
    facts = {key: table[key].combine_chunks().take(pa.array(at)) for key in keys[1:]}
    blank = pc.equal(pc.utf8_trim_whitespace(facts["subcategory"]), "")
    return facts | {"subcategory": pc.if_else(blank, None, facts["subcategory"])}


def _official(folder: Path, items: Names) -> Any:
    """The part of every sentence; null for those that the authors' means leave out."""
    means = csv_table(folder, MEANS, id=pa.string(), split=pa.string())
    with errors_in(folder / MEANS):
        listed_items = Names(means["id"])
        items.codes(listed_items, "sentence")
    at = listed_items.find(items)
    return means["split"].combine_chunks().take(pa.array(at, mask=at < 0))


def _units(texts: list[str], documents: list[str], items: Names) -> list[str]:
    """The unit of each sentence, which a split must keep together: its document, or the name of
    the first sentence with the same text if that text occurs in several documents.

    Joining the documents that share a text instead would put a quarter of all sentences into one
    unit, because "Oh." is a sentence of many of them.
    """
    documents_of: dict[str, set[str]] = defaultdict(set)
    first: dict[str, str] = {}
    for text, document, name in zip(texts, documents, items, strict=True):
        documents_of[text].add(document)
        first.setdefault(text, name)
    return [
        first[text] if len(documents_of[text]) > 1 or document == NO_DOCUMENT else document
        for text, document in zip(texts, documents, strict=True)
    ]
