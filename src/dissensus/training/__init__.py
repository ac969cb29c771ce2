"""The loop, once: batches of items with all their rows, pure losses, one door to the network."""

from dissensus.training.batch import Batch, Loss, Network, Outputs, Rows, Sizes
from dissensus.training.examples import Examples
from dissensus.training.loop import fit
from dissensus.training.settings import Training

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
