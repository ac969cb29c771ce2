"""LabelMe with a crowd (Rodrigues & Pereira 2018): the scene of 2,688 photographs.

1,000 training photographs have one to three answers each, by 59 annotators; all photographs have
gold. The content of a photograph is a vector of features of VGG16.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus
from dissensus.datasets.files import csv_table, errors_in, labels, present
from dissensus.errors import DataError, counted, listed
from dissensus.files.plain import numpy_array, zip_members
from dissensus.names import Names
from dissensus.scales import Nominal

FEATURES = "vgg16_avg_features.npz"
PARTS = {"train": "train", "valid": "validation", "test": "test"}
SCENES = Nominal(
    ("highway", "insidecity", "tallbuilding", "street", "forest", "coast", "mountain",
     "opencountry")
)  # fmt: skip


def load(folder: Path, corpus: str) -> Corpus:
    """Question `scene`, one of 8; items are named "train-0"; answers on the training part only."""
    vectors, labels_of = _arrays(folder)
    part = [name for name, rows in vectors.items() for _ in rows]
    items = Names([f"{name}-{row}" for name, rows in vectors.items() for row in range(len(rows))])
    with errors_in(folder / FEATURES):
        gold = labels(np.concatenate(labels_of), SCENES, items)
    contents, shown = Contents.distinct("features", np.concatenate(list(vectors.values())))
    return Corpus.build(
        corpus,
        items,
        {"scene": _annotations(folder, items)},
        contents={"image": (contents, shown)},
        gold={"scene": gold},
        splits={"official": part},
        notes=_notes(shown, np.array(part)),
    )


def _arrays(folder: Path) -> tuple[dict[str, np.ndarray], list[np.ndarray]]:
    """Part -> vectors (n_items, n_features), and the labels (n_items,) of each part."""
    path = present(folder, FEATURES)
    members = zip_members(path)
    arrays = {name.removesuffix(".npy"): numpy_array(data, path) for name, data in members}
    missing = [name for part in PARTS for name in (f"X_{part}", f"y_{part}") if name not in arrays]
    if missing:
        raise DataError(f"{path}: damaged (no array {listed(missing)})")
    vectors = {PARTS[part]: arrays[f"X_{part}"] for part in PARTS}
    labels_of = [arrays[f"y_{part}"] for part in PARTS]
    for (part, rows), label in zip(vectors.items(), labels_of, strict=True):
        if rows.ndim != 2 or label.shape != rows.shape[:1] or rows.dtype.kind != "f":
            raise DataError(
                f"{path}: expected a vector and a label for each item of {part!r}, found "
                f"{rows.dtype} of shape {rows.shape} and {label.shape}"
            )
    widths = sorted({rows.shape[1] for rows in vectors.values()})
    if len(widths) > 1:
        shown = ", ".join(str(width) for width in widths)
        raise DataError(f"{path}: the vectors of the parts have several widths: {shown}")
    return vectors, labels_of


def _annotations(folder: Path, items: Names) -> Annotations:
    """The crowd's answers; item_id is the row among the training vectors."""
    rows = csv_table(folder, "annotations.csv", ("item_id", "annotator_id"), label=pa.int32())
    with rows.errors():
        item = items.codes([f"train-{row}" for row in rows.list("item_id")], "item")
    return rows.annotations(rows.array("label"), SCENES, items, item)


def _notes(shown: np.ndarray, part: np.ndarray) -> tuple[str, ...]:
    """Notes about vectors that are in the training part and in another one."""
    trained = np.isin(shown, shown[part == "train"])
    n_answered = {name: int((trained & (part == name)).sum()) for name in ("validation", "test")}
    return tuple(
        f"{counted(n, 'vector')} of {name} also occur in train: a split by "
        "content keeps them together, the official split does not"
        for name, n in n_answered.items()
        if n
    )
