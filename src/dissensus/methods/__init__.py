"""Methods: `Corpus -> fitted method -> Predictions`. A method is a file; `framework` is shared.

`METHODS` names the module and class of each; they are imported when first used, so that a list
of methods needs no torch.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dissensus.errors import ModelError, did_you_mean, listed

if TYPE_CHECKING:
    from dissensus.methods.annot_mix import AnnotMix
    from dissensus.methods.annotator_confusions import AnnotatorConfusions
    from dissensus.methods.annotator_embedding import AnnotatorEmbedding
    from dissensus.methods.annotator_heads import AnnotatorHeads
    from dissensus.methods.annotator_majority import AnnotatorMajority
    from dissensus.methods.annotator_median import AnnotatorMedian
    from dissensus.methods.annotator_onehot import AnnotatorOneHot
    from dissensus.methods.annotator_queries import AnnotatorQueries
    from dissensus.methods.base_heads import BaseHeads
    from dissensus.methods.bayesian import Bayesian
    from dissensus.methods.crowd_layer import CrowdLayer
    from dissensus.methods.d_lema import DLema
    from dissensus.methods.framework.answers import Answers
    from dissensus.methods.framework.base import Method
    from dissensus.methods.framework.calibration import held_out_items
    from dissensus.methods.framework.members import MemberAnswers
    from dissensus.methods.framework.settings import changed, configured, seeded, settings_of
    from dissensus.methods.framework.stacked_fits import Job, fit_many, try_many, worth_stacking
    from dissensus.methods.framework.temperature import best_temperature, tempered
    from dissensus.methods.framework.trained import TrainedMethod
    from dissensus.methods.grid_density import GridDensity
    from dissensus.methods.joint_em import JointEm
    from dissensus.methods.label_and_uncertainty import LabelAndUncertainty
    from dissensus.methods.madl import Madl
    from dissensus.methods.padl import Padl
    from dissensus.methods.prior import Prior
    from dissensus.methods.repeated_label import RepeatedLabel
    from dissensus.methods.seed_ensemble import SeedEnsemble
    from dissensus.methods.sim_label import SimLabel
    from dissensus.methods.single import Single
    from dissensus.methods.soft_label import SoftLabel
    from dissensus.methods.soft_label_mtl import SoftLabelMtl

__all__ = [
    "METHODS",
    "ON_REQUEST",
    "AnnotatorHeads",
    "AnnotatorMajority",
    "AnnotatorMedian",
    "AnnotatorOneHot",
    "AnnotatorQueries",
    "Answers",
    "Bayesian",
    "GridDensity",
    "Job",
    "LabelAndUncertainty",
    "MemberAnswers",
    "AnnotatorConfusions",
    "CrowdLayer",
    "JointEm",
    "BaseHeads",
    "DLema",
    "Padl",
    "AnnotatorEmbedding",
    "SimLabel",
    "AnnotMix",
    "Madl",
    "Method",
    "Prior",
    "RepeatedLabel",
    "SeedEnsemble",
    "Single",
    "SoftLabel",
    "SoftLabelMtl",
    "TrainedMethod",
    "best_temperature",
    "changed",
    "configured",
    "fit_many",
    "held_out_items",
    "load",
    "method",
    "seeded",
    "settings_of",
    "tempered",
    "try_many",
    "worth_stacking",
]

METHODS: dict[str, tuple[str, str]] = {
    "prior": ("prior", "Prior"),
    "annotator-majority": ("annotator_majority", "AnnotatorMajority"),
    "annotator-median": ("annotator_median", "AnnotatorMedian"),
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
    "base-heads": ("base_heads", "BaseHeads"),
    "d-lema": ("d_lema", "DLema"),
    "padl": ("padl", "Padl"),
    "sim-label": ("sim_label", "SimLabel"),
    "crowd-layer": ("crowd_layer", "CrowdLayer"),
    "annotator-confusions": ("annotator_confusions", "AnnotatorConfusions"),
    "joint-em": ("joint_em", "JointEm"),
    "madl": ("madl", "Madl"),
    "annot-mix": ("annot_mix", "AnnotMix"),
    "grid-density": ("grid_density", "GridDensity"),
}
ON_REQUEST = (  # `dissensus compare` fits these only if they are named:
    *("bayesian", "annotator-embedding", "d-lema", "sim-label", "grid-density"),  # slow ones,
    "base-heads",  # annotator-heads with other settings, and
    *("padl", "crowd-layer", "annotator-confusions", "joint-em", "madl", "annot-mix"),  # models of
    # a truth, which many corpora do not have
)

_HOMES = {  # what is no method itself
    "Answers": "answers",
    "Job": "stacked_fits",
    "MemberAnswers": "members",
    "Method": "base",
    "TrainedMethod": "trained",
    "best_temperature": "temperature",
    "changed": "settings",
    "configured": "settings",
    "fit_many": "stacked_fits",
    "held_out_items": "calibration",
    "seeded": "settings",
    "settings_of": "settings",
    "tempered": "temperature",
    "try_many": "stacked_fits",
    "worth_stacking": "stacked_fits",
}


def method(name: str) -> type[Method]:
    """The class of a method, by the name users type."""
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
        method_class: the class of the model, if it is not a method of dissensus.
    """
    from dissensus.methods.framework.base import load_model
    from dissensus.methods.framework.model_folder import read_config

    config = read_config(path)
    name = str(config.get("method"))
    if method_class is None:
        if name not in METHODS:
            raise ModelError(
                f"{path}: a model of {name!r}, which is not a method of dissensus; pass its class: "
                "load(path, TheClass)"
            )
        method_class = method(name)
    elif method_class.name != name:
        raise ModelError(
            f"{path}: a model of {name!r}, but {method_class.__name__} is {method_class.name!r}; "
            "pass the class that the model was fitted with"
        )
    return load_model(path, method_class, config)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        module = importlib.import_module(f"dissensus.methods.framework.{_HOMES[name]}")
        return getattr(module, name)
    for of_method, (_, attribute) in METHODS.items():
        if attribute == name:
            return method(of_method)
    raise AttributeError(f"module 'dissensus.methods' has no attribute {name!r}")
