"""The models: queries of three sizes, their parts left out, and what they are compared with.

Each model has eight settings that it may choose from, its architecture among them; a condition
tries all eight, or two where the published model takes part, which has four.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from dissensus_papers.framework.declared import Model

ONE_LAYER, QUERIES, PUBLISHED, VIDEO = "queries", "queries-mid", "published", "published-video"
BASE, HEADS = "base", "heads"
RATE, EPOCHS = "training.learning_rate", "training.epochs"
NO_PRIOR = {"spread": math.inf}
TRUNK = {RATE: (1e-3, 3e-3), "hidden": ((64,), (256,)), "dropout": (0.2, 0.5)}
_FIRST = {RATE: 1e-3, "hidden": (64,), "dropout": 0.2}  # of the settings of a trunk
MID_SIZED = {
    "layers": 2, "heads": 4, "width": 128, "inner": 512, "cross_every": 1, "layer_dropout": 0.1,
    "training.warm_up": 0.2, "training.weight_decay": 0.3, RATE: 1e-3, EPOCHS: 20,
}  # fmt: skip
# at a rate of 3e-3, the default of one layer, two layers with four heads do not learn
TUNED = {"tune": "all", "training.encoder_learning_rate": 5e-5, RATE: 1e-3, EPOCHS: 8}


def _pooled(title: str, method: str, **settings: Any) -> Model:
    return Model(title, method, _FIRST | settings, TRUNK)


def mid_sized(title: str, method: str = "annotator-queries", **settings: Any) -> Model:
    """Queries in two or three layers with four heads and linear layers."""
    choices = {RATE: (1e-3, 5e-4), "layers": (2, 3), "spread": (math.inf, 0.25)}
    return Model(title, method, MID_SIZED | NO_PRIOR | settings, choices)


def _published(title: str, method: str) -> Model:
    """Its rate is 1e-4 in the paper, which is too low for few items and random first weights: four
    are tried."""
    settings = {RATE: 1e-4, EPOCHS: 60, "training.batch_size": 32, "training.precision": "bf16"}
    return Model(title, method, settings, {RATE: (1e-4, 3e-4, 6e-4, 1e-3)})


_COMPARED = {
    BASE: _pooled("Base", "base-heads"),
    "d-lema": _pooled("D-LEMA", "d-lema"),
    "padl": _pooled("PADL", "padl"),
    "madl": replace(_pooled("MaDL", "madl", **{RATE: 3e-3}), choices=TRUNK | {RATE: (3e-3, 1e-2)}),
    "embedding": _pooled("Annotator embedding", "annotator-embedding"),
    HEADS: Model(
        "Annotator heads", "annotator-heads", _FIRST | NO_PRIOR,
        {RATE: (1e-3, 3e-3), "hidden": ((64,), (256,)), "spread": (math.inf, 0.5)},
    ),
    ONE_LAYER: Model(
        "Queries, one layer", "annotator-queries", {RATE: 1e-3, "width": 64} | NO_PRIOR,
        {RATE: (1e-3, 3e-3), "width": (64, 128), "spread": (math.inf, 0.25)},
    ),
    QUERIES: mid_sized("Queries, several layers"),
}  # fmt: skip
ABLATIONS = {
    "unified": mid_sized("w/ U-cls", "qumatl.variants:SharedClassifier"),
    "alone": mid_sized("w/o S-Attn", self_attention=False),
    "pre-mv": mid_sized("Pre-mv", "qumatl.variants:LearnedMajority"),
    "post-mv": mid_sized("Post-mv", "qumatl.variants:PredictedMajority"),
}
TUNED_MODELS = {
    f"{name}-tuned": Model(f"{title}, encoder tuned", method, NO_PRIOR | TUNED)
    for name, title, method in (
        (HEADS, "Annotator heads", "annotator-heads"),
        (ONE_LAYER, "Queries, one layer", "annotator-queries"),
    )
}
FLOORS = {"prior": Model("Prior", "prior"), "annotator-majority": Model(
    "Each annotator's most frequent answer", "annotator-majority")}  # fmt: skip
_PUBLISHED = {
    PUBLISHED: _published("Queries, as published", "qumatl.variants:AnnotatorQueries.published"),
    VIDEO: _published("Queries, as published for clips", "qumatl.variants:VideoQueries.published"),
}
MODELS: dict[str, Model] = _COMPARED | _PUBLISHED | ABLATIONS | TUNED_MODELS | FLOORS
COMPARED = (*_COMPARED, *FLOORS)
OF_TOKENS = (ONE_LAYER, QUERIES, PUBLISHED, *ABLATIONS)  # they attend to the parts of a picture
