"""Patterns of cells (Nath et al. 2023): complexity and beauty, 0 to 100, of 216 patterns.

Eighty annotators rated the 54 patterns of one block each. Their second answers to six patterns,
which were shown twice, are left out.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.corpus import Corpus, LeftOut
from dissensus.datasets.files import csv_table, pictures, present_folder
from dissensus.scales import Interval

QUESTIONS = ("complexity", "beauty")


def load(folder: Path, corpus: str) -> Corpus:
    """Questions `complexity` and `beauty`, one response each; an item is a pattern."""
    patterns = csv_table(folder, "items.csv", ("item", "file", "block", "rule", "split"))
    names, numbers = ("item", "annotator"), (*QUESTIONS, "rt_ms")
    every = csv_table(folder, "answers.csv", names, numbers, showing=pa.int32())
    checks = "num_failed_attention_checks"
    people = csv_table(folder, "annotators.csv", ("annotator", "block"), **{checks: pa.int32()})
    items, annotators = patterns.names("item"), people.names("annotator")
    rows = every.filter(pc.equal(every["showing"], 1))
    n_again = int((every.array("showing") == 2).sum())
    questions = {
        question: rows.annotations(
            question,
            Interval(0, 100),
            items,
            "item",
            "annotator",
            annotators=annotators,
            what="pattern",
            response=np.arange(len(rows)),
            seconds=rows.array("rt_ms") / 1000,
        )
        for question in QUESTIONS
    }
    again = "the same annotator's second answer"
    return Corpus.build(
        corpus,
        items,
        questions,
        annotators=annotators,
        contents={"image": pictures(present_folder(folder, "images"), patterns.list("file"))},
        item_attributes={name: patterns[name] for name in ("block", "rule")},
        annotator_attributes={"block": people["block"], "failed_checks": people[checks]},
        splits={"block": patterns["split"]},
        left_out=tuple(LeftOut(question, again, n_again) for question in QUESTIONS if n_again),
    )
