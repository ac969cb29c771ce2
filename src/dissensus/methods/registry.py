"""The methods by the name users type; each is imported when it is first used."""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dissensus.errors import ModelError, did_you_mean, listed

if TYPE_CHECKING:
    from dissensus.methods.framework.base import Method

METHODS: dict[str, tuple[str, str]] = {
    "prior": ("prior", "Prior"),
    "annotator-majority": ("annotator_majority", "AnnotatorMajority"),
    "annotator-median": ("annotator_majority", "AnnotatorMedian"),
    "logistic": ("logistic", "Logistic"),
    "logistic-votes": ("logistic", "Logistic"),
    "annotator-logistic": ("logistic", "AnnotatorLogistic"),
    "single": ("single", "Single"),
    "seed-ensemble": ("seed_ensemble", "SeedEnsemble"),
    "bayesian": ("bayesian", "Bayesian"),
    "soft-label": ("soft_label", "SoftLabel"),
    "soft-label-mtl": ("soft_label_mtl", "SoftLabelMtl"),
    "repeated-label": ("repeated_label", "RepeatedLabel"),
    "label-and-uncertainty": ("label_and_uncertainty", "LabelAndUncertainty"),
    "annotator-heads": ("annotator_heads", "AnnotatorHeads"),
    "annotator-onehot": ("annotator_onehot", "AnnotatorOneHot"),
    "annotator-queries": ("annotator_queries", "AnnotatorQueries"),
    "annotator-embedding": ("annotator_embedding", "AnnotatorEmbedding"),
    "base-heads": ("annotator_heads", "AnnotatorHeads"),
    "d-lema": ("d_lema", "DLema"),
    "padl": ("padl", "Padl"),
    "crowd-layer": ("crowd_layer", "CrowdLayer"),
    "conal": ("conal", "Conal"),
    "union-net": ("annotator_confusions", "AnnotatorConfusions"),
    "annotator-confusions": ("annotator_confusions", "AnnotatorConfusions"),
    "geo-f": ("annotator_confusions", "AnnotatorConfusions"),
    "geo-w": ("annotator_confusions", "AnnotatorConfusions"),
    "joint-em": ("joint_em", "JointEm"),
    "madl": ("madl", "Madl"),
    "annot-mix": ("annot_mix", "AnnotMix"),
    "method-ensemble": ("method_ensemble", "MethodEnsemble"),
    "grid-density": ("grid_density", "GridDensity"),
}
PRESETS: dict[str, dict[str, Any]] = {  # settings of methods that are another one with these:
    "base-heads": {"common": False, "hidden": (256,)},  # Base of QuMATL (Zhang et al. 2025)
    "logistic-votes": {"target": "soft-vote"},
    "union-net": {"trace": 0.0, "spread": math.inf, "union": True},
    "geo-f": {"trace": 0.0, "spread": 10.0, "class_volume": 0.001},
    "geo-w": {"trace": 0.0, "spread": 10.0, "confusion_volume": 0.001},
}
ON_REQUEST = (  # `dissensus compare` fits these only if they are named:
    *("bayesian", "annotator-embedding", "d-lema", "grid-density"),  # slow ones,
    "base-heads",  # annotator-heads with other settings, and models of a truth, which many
    *("padl", "crowd-layer", "conal", "union-net", "annotator-confusions", "geo-f"),  # corpora
    *("geo-w", "joint-em", "madl", "annot-mix", "method-ensemble"),  # do not have
)


def build(name: str) -> Method:
    """A method by the name users type, with its default settings; not fitted.

    Example:
        >>> build("base-heads").hidden
        (256,)
    """
    return method(name)(**PRESETS.get(name, {}))


def method(name: str) -> type[Method]:
    """The class of a method, by the name users type; `build` also knows the settings of presets."""
    if name not in METHODS:
        raise ModelError(
            f"no method {name!r}{did_you_mean(name, METHODS)}; there are {listed(METHODS, 40)}"
        )
    module, attribute = METHODS[name]
    cls: type[Method] = getattr(importlib.import_module(f"dissensus.methods.{module}"), attribute)
    return cls


def load(path: str | Path, method_class: type[Method] | None = None) -> Method:
    """Read a model folder that `save` wrote. No code in the folder is ever run.

    Args:
        path: a folder, or the name of a model on the Hugging Face hub, such as "user/model".
        method_class: the class of the model, if it is not a method of dissensus.
    """
    from dissensus.methods.framework.base import load_model
    from dissensus.methods.framework.hub import download, on_hub
    from dissensus.methods.framework.model_folder import read_model

    path = download(str(path)) if on_hub(path) else path
    config, weights = read_model(path)
    name = str(config.get("method"))
    if method_class is None:
        if name not in METHODS:
            raise ModelError(
                f"{path}: a model of {name!r}, which is not a method of dissensus; pass its class: "
                "load(path, TheClass)"
            )
        method_class = method(name)
    return load_model(path, method_class, config, weights)
