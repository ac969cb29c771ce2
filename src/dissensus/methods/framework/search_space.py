"""The values of settings that are tried when settings are chosen on training data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Choices = Mapping[str, tuple[Any, ...]]  # setting, such as "training.epochs" -> values

STEPS = (300, 1000, 3000)  # of training on features, at least

TRAINING_CHOICES: Choices = {
    "training.learning_rate": (1e-4, 3e-4, 1e-3, 3e-3, 1e-2),
    "training.epochs": (5, 10, 20, 40),
    "training.weight_decay": (0.0, 0.01, 0.1),
    "dropout": (0.0, 0.2, 0.5),
}
PROBE_CHOICES: Choices = {**TRAINING_CHOICES, "hidden": ((), (64,), (256,))}
TRUNK_CHOICES: Choices = {**TRAINING_CHOICES, "hidden": ((32,), (64,), (256,))}


def choices_of_features(choices: Choices) -> Choices:
    """The choices where all contents are features: the number of steps instead of epochs."""
    return {
        "training.least_steps" if name == "training.epochs" else name: (
            STEPS if name == "training.epochs" else values
        )
        for name, values in choices.items()
    }
