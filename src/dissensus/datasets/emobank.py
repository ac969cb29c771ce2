"""EmoBank (Buechel & Hahn 2017): valence, arousal and dominance of 10,548 sentences.

The questions about the reader are what the annotator feels, those about the writer what the writer
felt. Annotators are unknown, but the three numbers of one response belong together. `emobank`
leaves out the responses (1, 1, 1), which are probably not answered, as the authors do in their
means; `emobank-all` keeps them.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow.compute as pc

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus, LeftOut
from dissensus.datasets.files import csv_table, tsv_table
from dissensus.names import Names
from dissensus.scales import Interval

MEANS = "emobank.csv"
PERSPECTIVES = ("reader", "writer")
SIDES = ("V", "A", "D")  # valence, arousal, dominance
NO_DOCUMENT = "SemEval"  # headlines of many newspapers, one document in the file
NOT_ANSWERED = "V = A = D = 1: probably not answered (--corpus emobank-all keeps them)"


def load(folder: Path, corpus: str) -> Corpus:
    """Questions `reader V`, ..., `writer D`, numbers from 1 to 5, linked by `response`."""
    sentences = csv_table(folder, "raw.csv", ("id", "text"))
    items, texts = sentences.names("id"), sentences["text"]
    about = tsv_table(folder, "meta.tsv", ("id", "document", "category", "subcategory"))
    facts = about.of(items, "id", "sentence")
    blank = pc.equal(pc.utf8_trim_whitespace(facts["subcategory"]), "")
    questions: dict[str, Annotations] = {}
    left_out: list[LeftOut] = []
    for perspective in PERSPECTIVES:
        rated, n_empty = _rated(folder, perspective, items, everything=corpus == "emobank-all")
        questions |= rated
        left_out += [LeftOut(question, NOT_ANSWERED, n_empty) for question in rated if n_empty]
    means = csv_table(folder, MEANS, ("id", "split"))  # without what the authors' means leave out
    with means.errors():
        items.codes(means["id"], "sentence")
    return Corpus.build(
        corpus,
        items,
        questions,
        contents={"text": texts},
        item_attributes={
            "document": facts["document"],
            "category": facts["category"],
            "subcategory": pc.if_else(blank, None, facts["subcategory"]),
            "unit": _units(texts.to_pylist(), facts["document"].to_pylist(), items),
        },
        splits={"official": means.of(items, "id")["split"]},
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
    table = csv_table(folder, f"individual_{perspective}_ratings.csv", ["id"], SIDES)
    ratings = table.array(*SIDES)  # (n_responses, 3)
    kept = np.full(len(ratings), True) if everything else (ratings != 1).any(axis=1)
    number = np.arange(len(ratings)) * len(PERSPECTIVES) + PERSPECTIVES.index(perspective)
    questions = {
        f"{perspective} {side}": table.annotations(
            side, Interval(1, 5), items, "id", None, what="sentence", response=number
        ).take(kept)
        for side in SIDES
    }
    return questions, int((~kept).sum())


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
