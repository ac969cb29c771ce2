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

from dissensus.corpus import Corpus, LeftOut
from dissensus.datasets.files import (
    csv_table,
    names_in_order,
    once_each,
    pictures,
    present_folder,
)
from dissensus.scales import Nominal

PANELS = {"conflict": ("neutral", "shape", "texture"), "edges": ("edge",)}
LATE = "na"  # no answer within 1.5 s
OBJECTS = Nominal(
    ("airplane", "bear", "bicycle", "bird", "boat", "bottle", "car", "cat", "chair", "clock", "dog",
     "elephant", "keyboard", "knife", "oven", "truck")
)  # fmt: skip
ATTRIBUTES = ("shape_class", "texture_class", "congruent", "shape_source")


def load(folder: Path, corpus: str) -> Corpus:
    """Question `object`; splits `source` (by the photograph of the shape) and `item`."""
    splits = ("split_source", "split_item")
    facts = csv_table(folder, "items.csv", ("item", "file", "kind", *ATTRIBUTES, *splits))
    facts = facts.filter(pc.equal(facts["kind"], "edge" if corpus == "edges" else "conflict"))
    rows = csv_table(folder, "answers.csv", ("item", "annotator", "panel", "answer", "rt_s"))
    rows = rows.filter(pc.is_in(rows["panel"], pa.array(PANELS.get(corpus, (corpus,)))))
    late = pc.equal(rows["answer"], LATE)
    n_late = pc.sum(late).as_py() or 0
    annotators = names_in_order(rows["annotator"])
    with rows.errors():
        _, panel = once_each(annotators.codes(rows["annotator"]), rows["panel"], "panel")
        rows = rows.filter(pc.invert(late))
        seconds = np.array(rows.list("rt_s"), dtype=float)
    items = facts.names("item")
    answers = rows.annotations(
        "answer", OBJECTS, items, "item", "annotator", annotators=annotators, seconds=seconds
    )
    return Corpus.build(
        "cue_conflict16" if corpus == "conflict" else f"cue_conflict16-{corpus}",
        items,
        {"object": answers},
        annotators=annotators,
        contents={"image": pictures(present_folder(folder, "images"), facts.list("file"))},
        item_attributes={name: facts[name] for name in ATTRIBUTES},
        annotator_attributes={"panel": panel},
        splits={name.removeprefix("split_"): facts[name] for name in splits},
        group="shape_source",
        left_out=(LeftOut("object", "no answer within 1.5 s", n_late),) if n_late else (),
    )
