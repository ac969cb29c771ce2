"""MaDL: a class model, and confusion matrices that depend on the annotator and on the item."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor, nn

from dissensus.methods.framework.settings import TRAINING_CHOICES, Choices
from dissensus.methods.framework.truth_method import (
    PUBLISHED,
    TruthMethod,
    TruthNet,
    after_pretraining,
)
from dissensus.training import Batch, Loss, Network, Outputs, Sizes, Training

WEIGHT = "weight of the annotator"  # outputs that only the loss reads
PRIOR = "log prior of the bandwidth"
LANDMARKS = 512  # annotators whose embeddings the density of all is estimated from, at most
SMALLEST = 1e-3  # bandwidth
SHAPE, RATE = 1.25, 0.25  # of the Gamma prior of the density's bandwidth, as published


class _MadlNet(TruthNet):
    def __init__(self, sizes: Sizes, method: Madl) -> None:
        super().__init__(sizes, method)
        size = method.embedding
        self.weighs = method.weighted
        self.annotators = nn.Parameter(torch.randn(sizes.n_annotators, size))
        self.item = nn.Linear(self.trunk.width, size)
        self.product = nn.Parameter(nn.init.xavier_uniform_(torch.empty(size, size, size)))
        self.layers = nn.Sequential(
            nn.Linear(3 * size, method.confusion_hidden),
            nn.LayerNorm(method.confusion_hidden),
            nn.ReLU(),
            nn.Linear(method.confusion_hidden, size),
            nn.LayerNorm(size),
        )
        self.add_confusions(sizes, size, method.accuracy)
        self.bandwidth = nn.Parameter(torch.tensor([(SHAPE - 1) / RATE]))  # the mode

    def rows_of(
        self, features: Tensor, truth: dict[str, Tensor], batch: Batch
    ) -> dict[str, Tensor]:
        annotator = batch.annotators[batch.rows.annotator]  # (n_rows,) codes
        own = self.annotators[annotator]
        item = self.item(features)[batch.rows.item]
        both = own + item
        square = (both.unsqueeze(-1) * both.unsqueeze(-2)).flatten(-2)  # (n_rows, size * size)
        product = square @ self.product.flatten(1).T
        embedding = (self.layers(torch.cat([own, item, product], dim=-1)) + own).relu()
        rows: dict[str, Tensor] = {}
        for number, logits in enumerate(truth.values()):
            log_truth = logits.log_softmax(dim=-1)[batch.rows.item]
            rows |= self.seen_by(number, log_truth, embedding)
        if self.training and self.weighs:
            rows[WEIGHT] = self.weights()[annotator]
            rows[PRIOR] = self.log_prior().expand(len(annotator))
        return rows

    def weights(self) -> Tensor:
        """The weight of each annotator, (n_annotators,): 1 on average, and the smaller the more
        annotators have a similar embedding."""
        embeddings = self.annotators.detach()
        every = -(-len(embeddings) // LANDMARKS)  # all of them are landmarks if they are few
        distance = (embeddings[:, None] - embeddings[None, ::every]).square().sum(dim=-1)
        density = (-self.bandwidth.clamp(min=SMALLEST) * distance).exp().sum(dim=1)
        rarity = 1 / density.clamp(min=1e-6)
        return rarity / rarity.mean()

    def log_prior(self) -> Tensor:
        """The logarithm of the Gamma density of the bandwidth."""
        bandwidth = self.bandwidth.clamp(min=SMALLEST)
        constant = SHAPE * math.log(RATE) - math.lgamma(SHAPE)
        return (SHAPE - 1) * bandwidth.log() - RATE * bandwidth + constant


@dataclass(eq=False)
class Madl(TruthMethod):
    """Learns the true class of items, and how each annotator confuses classes on each item (MaDL).

    p(answer | item, annotator) is the sum over classes c of p(c | item) P(answer | item,
    annotator, c). The confusion matrix P comes from an embedding of the annotator, one of the item
    and their product. Annotators with similar embeddings are likely to copy each other's errors;
    each of them weighs less, by the density of embeddings. An item's distribution is that of the
    class model. Prefer `AnnotatorConfusions` if confusions do not depend on the item,
    `AnnotatorHeads` if annotators differ in opinion and there is no truth.

    Args:
        embedding: the size of the embeddings of annotators and items.
        confusion_hidden: the width of the hidden layer of the confusion matrices.
        accuracy: how likely an annotator is right in the first confusion matrix.
        pretrain: the share of the epochs in which all annotators have this matrix, so that classes
            keep their meaning.
        weighted: whether annotators are weighted by the density of embeddings.

    The layers are those of the published code, with layer normalisation where it has batch
    normalisation, whose state cannot be stacked. The density is estimated from at most 512 of the
    annotators.

    Reference: Herde, Huseljic & Sick (2023), Multi-annotator Deep Learning, arXiv 2304.02539.
    """

    embedding: int = 16
    confusion_hidden: int = 128
    accuracy: float = 0.8
    pretrain: float = 0.0
    weighted: bool = True
    training: Training = PUBLISHED
    name: ClassVar[str] = "madl"
    choices: ClassVar[Choices] = {
        **TRAINING_CHOICES,
        "training.epochs": (10, 20, 50),
        "training.weight_decay": (0.0, 1e-4, 1e-3),
        "hidden": ((32,), (64,), (256,)),
        "pretrain": (0.0, 0.2),
        "weighted": (True, False),
    }
    ranges: ClassVar[dict[str, str]] = {
        "embedding": "1 or more",
        "confusion_hidden": "1 or more",
        "accuracy": "above 0 and below 1",
        "pretrain": "at least 0 and below 1",
    }

    def network(self, sizes: Sizes) -> Network:
        return _MadlNet(sizes, self)

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        losses = super().losses(sizes)
        if self.weighted:
            losses = tuple(_weighted(loss, len(losses)) for loss in losses)
        return after_pretraining(losses, self.pretrain)


def _weighted(loss: Loss, n_losses: int) -> Loss:
    """In training, the loss of each row times its annotator's weight, minus a share of the
    logarithm of the prior."""

    def function(outputs: Outputs, batch: Batch) -> Tensor:
        rows = outputs.rows
        losses = loss.function(outputs, batch)
        if WEIGHT not in rows:  # on a validation corpus
            return losses
        return losses * rows[WEIGHT] - rows[PRIOR] / n_losses

    return replace(loss, function=function)
