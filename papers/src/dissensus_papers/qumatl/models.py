"""The models: the paper's and its baselines, on one frozen encoder, and ours."""

from __future__ import annotations

import math

from dissensus_papers.framework.models import Model

QUERIES, BASE, HEADS = "queries", "base", "heads"
NO_PRIOR = {"spread": math.inf}
TUNED = {
    "tune": "all",
    "training.encoder_learning_rate": 5e-5,
    "training.learning_rate": 1e-3,
    "training.epochs": 8,
}

_BASELINES = {
    BASE: Model("Base", "base-heads"),
    "d-lema": Model("D-LEMA", "d-lema"),
    "padl": Model("PADL", "padl"),
    "madl": Model("MaDL", "madl"),
}
_FURTHER = {
    "embedding": Model("Annotator embedding", "annotator-embedding", NO_PRIOR),
    HEADS: Model("Annotator heads", "annotator-heads", NO_PRIOR),
}
_OURS = {QUERIES: Model("Annotator queries", "annotator-queries", NO_PRIOR)}
_TUNED = {
    f"{name}-tuned": Model(
        f"{model.title}, encoder tuned", model.method, {**model.settings, **TUNED}
    )
    for name, model in ((HEADS, _FURTHER[HEADS]), (QUERIES, _OURS[QUERIES]))
}
_ABLATIONS = {
    "unified": Model("w/ U-cls", "annotator-queries", NO_PRIOR | {"classifier": "shared"}),
    "alone": Model("w/o S-Attn", "annotator-queries", NO_PRIOR | {"self_attention": False}),
    "pre-mv": Model("Pre-mv", "annotator-queries", NO_PRIOR | {"learn": "majority"}),
    "post-mv": Model("Post-mv", "annotator-queries", NO_PRIOR | {"vote": "majority"}),
}
_FLOORS = {
    "prior": Model("Prior", "prior"),
    "annotator-majority": Model("Each annotator's most frequent answer", "annotator-majority"),
}
MODELS: dict[str, Model] = _BASELINES | _FURTHER | _OURS | _TUNED | _ABLATIONS | _FLOORS
COMPARED = (*_BASELINES, *_FURTHER, *_OURS, *_FLOORS)
ABLATED = (QUERIES, *_ABLATIONS)
OF_TUNED = tuple(_TUNED)
