"""The paper's networks and how it trained them, as settings of `soft-label-mtl`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dissensus.errors import DataError
from dissensus.methods import SoftLabelMtl
from dissensus.methods.framework.settings import changed, configured, settings_of
from dissensus.methods.framework.trained import TrainedMethod
from dissensus.methods.soft_label_mtl import SoftLoss
from dissensus.training import Training
from dissensus_papers.soft_labels.conditions import STEMS, SoftLabelsCondition

LOSSES: dict[str, SoftLoss] = {"stl": "none", "kl": "kl", "inverse-kl": "inverse-kl", "ce": "ce"}
TRAINING = Training(
    epochs=10,
    batch_size=1024,
    shuffle=False,
    optimiser="adam",
    learning_rate=1e-3,
    schedule="constant",
    weight_decay=0.0,
    warm_up=0.0,
    clip=math.inf,
    choose_by="macro-F1",
    ties="last",
)
LATER: dict[str, Any] = {  # settings that kept outcomes lack, and what they had
    "training.dropout_seed": None,
    "training.averaged": 0.0,
    "training.plateau_factor": 0.5,
    "training.smallest_gain": 0.0,
    "training.decay_biases": True,
    "training.least_steps": 0,
}


def methods(
    condition: SoftLabelsCondition,
    glove: str | Path | None,
    settings: Sequence[tuple[str, str]] = (),
) -> dict[str, SoftLabelMtl]:
    """STL and the three MTL models of a condition, without a seed.

    Args:
        settings: other ones, name and value as typed.
    """
    by_model = {}
    for model, soft_loss in LOSSES.items():
        plain = SoftLabelMtl(
            encoder=_encoder(condition, glove, settings),
            tune="all",
            label=condition.label,
            target="softmax-vote",
            soft_loss=soft_loss,
            branch="output" if condition.corpus == STEMS else "attention",
            dropout=0.1,
            training=TRAINING,
        )
        other = changed(plain, _typed(settings))
        assert isinstance(other, SoftLabelMtl)
        by_model[model] = other
    return by_model


def _encoder(
    condition: SoftLabelsCondition, glove: str | Path | None, settings: Sequence[tuple[str, str]]
) -> str | dict[str, str]:
    if condition.corpus == STEMS:
        return {"word": "character-cnn", "stem": "character-cnn:copy=2"}  # a network for each
    if glove is not None:
        return f"tagger:{glove}"
    if any(name == "encoder" for name, _ in settings):
        return "auto"
    raise DataError(
        f"{condition.name} reads words: name a file of vectors with --glove (make glove)"
    )


def _typed(settings: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Settings that were typed, as values."""
    known = settings_of(configured(SoftLabelMtl, list(settings)))
    return {name: known[name] for name, _ in settings}


def saved_settings(method: TrainedMethod) -> dict[str, Any]:
    """The settings of a method to save: without the device, and the folder of word vectors."""
    settings = settings_of(method)
    if isinstance(settings["encoder"], str) and settings["encoder"].startswith("tagger:"):
        settings["encoder"] = f"tagger:{Path(settings['encoder'].partition(':')[2]).name}"
    untold = {"training.device", "training.save_every", "training.compile"}
    untold |= {name for name, value in LATER.items() if settings[name] == value}
    return {name: value for name, value in settings.items() if name not in untold}
