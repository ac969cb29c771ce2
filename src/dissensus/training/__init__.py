"""Training: batches, losses, the loop. Begin with `loop.Trainer.train_step`.

The loop is loaded when it is first used, so that settings need no torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dissensus.training.settings import Training

if TYPE_CHECKING:
    from dissensus.training.batch import Batch, Loss, Network, Outputs, Rows, Sizes
    from dissensus.training.examples import Examples
    from dissensus.training.loop import fit

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
]

_HOMES = {  # what needs torch
    "Batch": "batch",
    "Examples": "examples",
    "Loss": "batch",
    "Network": "batch",
    "Outputs": "batch",
    "Rows": "batch",
    "Sizes": "batch",
    "fit": "loop",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"dissensus.training.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'dissensus.training' has no attribute {name!r}")
