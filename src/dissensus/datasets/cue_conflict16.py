"""Cue conflict (Geirhos et al. 2019): which of 16 objects thirty people saw in 1,280 pictures.

A picture has the shape of one object and the texture of another. Ten annotators each were asked for
the object (`neutral`), for its shape, and for its texture; `conflict` has all thirty. `edges` are
160 drawings that ten others saw.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus, LeftOut
from dissensus.datasets.files import (
    chosen,
    csv_table,
    errors_in,
    names_in_order,
    once_each,
    present,
    present_folder,
)
from dissensus.names import Names
from dissensus.scales import Nominal

CORPORA: tuple[str, ...] = ("conflict", "neutral", "shape", "texture", "edges")
DEFAULT: str | None = "conflict"
ITEMS, ANSWERS, IMAGES = "items.csv", "answers.csv", "images"
PANELS = {"conflict": ("neutral", "shape", "texture"), "edges": ("edge",)}
LATE = "na"  # no answer within 1.5 s
OBJECTS = Nominal(
    ("airplane", "bear", "bicycle", "bird", "boat", "bottle", "car", "cat", "chair", "clock", "dog",
     "elephant", "keyboard", "knife", "oven", "truck")
)  # fmt: skip


def recognise(folder: Path) -> bool:
    """Whether the answers begin with the columns of this corpus, and the pictures are there."""
    answers = folder / ANSWERS
    if not (answers.is_file() and (folder / IMAGES / "cc0001.jpg").is_file()):
        return False
    with answers.open("rb") as file:
        return file.read(27) == b"item,annotator,panel,answer"


def load(folder: Path, corpus: str | None = None) -> Corpus:
    """Question `object`; splits `source` (by the photograph of the shape) and `item`."""
    wanted = chosen(folder, corpus, CORPORA, DEFAULT)
    kind = "edge" if wanted == "edges" else "conflict"
    texts = ("item", "file", "kind", "shape_class", "texture_class", "congruent")
    further = ("shape_source", "split_item", "split_source")
    facts = csv_table(folder, ITEMS, **dict.fromkeys((*texts, *further), pa.string()))
    facts = facts.filter(pc.equal(facts["kind"], kind))
    names = ("item", "annotator", "panel", "answer")
    rows = csv_table(
        folder, ANSWERS, **dict.fromkeys(names, pa.string()), rt_s=pa.string(), trial=pa.int32()
    )
    rows = rows.filter(pc.is_in(rows["panel"], pa.array(PANELS.get(wanted, (wanted,)))))
    late = pc.equal(rows["answer"], LATE)
    n_late = pc.sum(late).as_py() or 0
    annotators = names_in_order(rows["annotator"])
    with errors_in(folder / ANSWERS):
        _, panel = once_each(annotators.codes(rows["annotator"]), rows["panel"], "panel")
        rows = rows.filter(pc.invert(late))
        with errors_in(folder / ITEMS):
            items = Names(facts["item"])
        answers = Annotations.from_arrays(
            items.codes(rows["item"], "item"),
            annotators.codes(rows["annotator"]),
            rows["answer"],
            OBJECTS,
            items=items,
            annotators=annotators,
            seconds=np.array(rows["rt_s"].to_pylist(), dtype=float),
        )
    images = present_folder(folder, IMAGES)
    pictures = [present(images, name).read_bytes() for name in facts["file"].to_pylist()]
    attributes = ("shape_class", "texture_class", "congruent", "shape_source")
    return Corpus.build(
        "cue_conflict16" if wanted == DEFAULT else f"cue_conflict16-{wanted}",
        items,
        {"object": answers},
        annotators=annotators,
        contents={"image": Contents.distinct("image", pa.array(pictures, pa.binary()))},
        item_attributes={name: facts[name] for name in attributes},
        annotator_attributes={"panel": panel},
        splits={"source": facts["split_source"], "item": facts["split_item"]},
        group="shape_source",
        left_out=(LeftOut("object", "no answer within 1.5 s", n_late),) if n_late else (),
    )
