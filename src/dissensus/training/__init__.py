"""Training: batches, losses, the loop. Begin with `loop.Trainer.train_step`.

The loop is loaded when it is first used, so that settings need no torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dissensus.training.settings import Training

if TYPE_CHECKING:
    from dissensus.training.batch import Batch, Loss, Network, Outputs, Rows, Sizes
    from dissensus.training.batches import batch_indices
    from dissensus.training.examples import Examples
    from dissensus.training.loop import Trainer, fit
    from dissensus.training.stacking.groups import stackable, train_all
    from dissensus.training.validation import Validation, mean_loss

__all__ = [
    "Batch",
    "Examples",
    "Loss",
    "Network",
    "Outputs",
    "Rows",
    "Sizes",
    "Training",
    "fit",
    "Trainer",
    "Validation",
    "batch_indices",
    "mean_loss",
    "stackable",
    "train_all",
]

_HOMES = {  # what needs torch
    "Batch": "batch",
    "Examples": "examples",
    "Loss": "batch",
    "Network": "batch",
    "Outputs": "batch",
    "Rows": "batch",
    "Sizes": "batch",
    "Trainer": "loop",
    "Validation": "validation",
    "batch_indices": "batches",
    "fit": "loop",
    "mean_loss": "validation",
    "stackable": "stacking.groups",
    "train_all": "stacking.groups",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"dissensus.training.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'dissensus.training' has no attribute {name!r}")
