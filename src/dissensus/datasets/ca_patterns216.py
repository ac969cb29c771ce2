"""Patterns of cells (Nath et al. 2023): complexity and beauty, 0 to 100, of 216 patterns.

Eighty annotators rated the 54 patterns of one block each. Their second answers to six patterns,
which were shown twice, are left out.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus, LeftOut
from dissensus.datasets.files import chosen, csv_table, errors_in, present, present_folder
from dissensus.names import Names
from dissensus.scales import Interval

CORPORA: tuple[str, ...] = ("ca_patterns216",)
DEFAULT: str | None = "ca_patterns216"
ITEMS, ANSWERS, ANNOTATORS, IMAGES = "items.csv", "answers.csv", "annotators.csv", "images"
QUESTIONS = ("complexity", "beauty")


def recognise(folder: Path) -> bool:
    """Whether the answers begin with the columns of this corpus, and the pictures are there."""
    answers = folder / ANSWERS
    if not (answers.is_file() and (folder / IMAGES / "ca001.png").is_file()):
        return False
    with answers.open("rb") as file:
        return file.read(20) == b"item,annotator,block"


def load(folder: Path, corpus: str | None = None) -> Corpus:
    """Questions `complexity` and `beauty`, one response each; an item is a pattern."""
    chosen(folder, corpus, CORPORA, DEFAULT)
    texts = ("item", "file", "block", "rule", "split")
    facts = csv_table(folder, ITEMS, **dict.fromkeys(texts, pa.string()))
    rows = csv_table(
        folder,
        ANSWERS,
        **dict.fromkeys(("item", "annotator"), pa.string()),
        **dict.fromkeys((*QUESTIONS, "rt_ms"), pa.float64()),
        showing=pa.int32(),
    )
    people = csv_table(
        folder, ANNOTATORS, annotator=pa.string(), block=pa.string(),
        num_failed_attention_checks=pa.int32(),
    )  # fmt: skip
    with errors_in(folder / ITEMS):
        items = Names(facts["item"])
    n_again = int((rows["showing"].to_numpy() == 2).sum())
    rows = rows.filter(pc.equal(rows["showing"], 1))
    annotators = Names(people["annotator"])
    with errors_in(folder / ANSWERS):
        item = items.codes(rows["item"], "pattern")
        questions = {
            question: Annotations.from_arrays(
                item,
                annotators.codes(rows["annotator"], "annotator"),
                rows[question].to_numpy(),
                Interval(0, 100),
                items=items,
                annotators=annotators,
                response=np.arange(len(item)),
                seconds=rows["rt_ms"].to_numpy() / 1000,
            )
            for question in QUESTIONS
        }
    images = present_folder(folder, IMAGES)
    pictures = [present(images, name).read_bytes() for name in facts["file"].to_pylist()]
    return Corpus.build(
        "ca_patterns216",
        items,
        questions,
        annotators=annotators,
        contents={"image": Contents.distinct("image", pa.array(pictures, pa.binary()))},
        item_attributes={name: facts[name] for name in ("block", "rule")},
        annotator_attributes={
            "block": people["block"],
            "failed_checks": people["num_failed_attention_checks"],
        },
        splits={"block": facts["split"]},
        left_out=tuple(
            LeftOut(question, "the same annotator's second answer", n_again)
            for question in QUESTIONS
            if n_again
        ),
    )
