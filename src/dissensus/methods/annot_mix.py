"""annot-mix: a class model and confusion matrices that learn mixtures of two answers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor, nn

from dissensus.methods.framework.settings import TRUNK_CHOICES, Choices
from dissensus.methods.framework.truth_method import (
    PUBLISHED,
    TruthMethod,
    TruthNet,
    after_pretraining,
)
from dissensus.networks.likelihoods import likelihood
from dissensus.networks.noise import positions_in_batch, uniforms
from dissensus.scales import Scale
from dissensus.training import Batch, Loss, Network, Outputs, Sizes, Training

OTHER = ", answer that is mixed in"  # are added to the names of outputs that only the loss reads
SHARES = ", shares of both answers"


class _Partners(nn.Module):
    """Draws for each row another answer of the batch, and the share of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.number = 0

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Positions of rows and shares, (n_rows,) each."""
        weights = torch.stack(list(batch.rows.weight.values()))
        answered = (weights > 0).any(dim=0)
        drawn = uniforms((weights.shape[1], 2), self.number, weights)
        first = answered.logical_not().int().argsort(stable=True)  # rows with an answer come first
        n_answered = answered.sum().clamp(min=1)
        position = (drawn[:, 0] * n_answered).long().minimum(n_answered - 1)
        return first[position], drawn[:, 1]


class _MixNet(TruthNet):
    def __init__(self, sizes: Sizes, method: AnnotMix) -> None:
        super().__init__(sizes, method)
        size = method.embedding
        self.mixes = method.mixed
        self.partners = _Partners()
        limit = 1 / math.sqrt(sizes.n_annotators)  # as torch draws a layer over one-hot vectors
        table = torch.empty(sizes.n_annotators, size).uniform_(-limit, limit)
        self.annotators = nn.Parameter(table)
        self.item = nn.Linear(self.trunk.width, size)
        self.layers = nn.Sequential(nn.Linear(2 * size, size), nn.LayerNorm(size), nn.ReLU())
        self.add_confusions(sizes, size, method.accuracy)

    def forward(self, batch: Batch) -> Outputs:
        if not self.training or not self.mixes:
            return super().forward(batch)
        rows, annotator = batch.rows, batch.annotators[batch.rows.annotator]
        with positions_in_batch(batch.places.get("rows")):
            other, share = self.partners(batch)

            def mixture(values: Tensor) -> Tensor:
                return share[:, None] * values + (1 - share[:, None]) * values[other]

            vectors = {
                role: mixture(of_items[rows.item]) for role, of_items in batch.pooled.items()
            }
            features = self.trunk(vectors)  # (n_rows, width)
        embedding = mixture(self.annotators[annotator])
        outputs: dict[str, Tensor] = {}
        for number, question in enumerate(self.questions):
            truth = self.get_submodule(f"truth_{number}")(features)
            outputs |= self._answers(number, features, embedding, truth)
            outputs[f"{question}{OTHER}"] = rows.answer[question][other]
            answered = (rows.weight[question][other] > 0).to(share.dtype)
            outputs[f"{question}{SHARES}"] = torch.stack([share, (1 - share) * answered], dim=1)
        return Outputs(rows=outputs)

    def rows_of(
        self, features: Tensor, truth: dict[str, Tensor], batch: Batch
    ) -> dict[str, Tensor]:
        item = batch.rows.item
        embedding = self.annotators[batch.annotators[batch.rows.annotator]]
        rows: dict[str, Tensor] = {}
        for number, logits in enumerate(truth.values()):
            rows |= self._answers(number, features[item], embedding, logits[item])
        return rows

    def _answers(
        self, number: int, features: Tensor, embedding: Tensor, truth: Tensor
    ) -> dict[str, Tensor]:
        """Logarithms of the distribution of answers, for features and embeddings of rows."""
        of_item = self.item(features.detach())  # confusions do not change the features
        joined = self.layers(torch.cat([of_item, embedding], dim=-1))
        return self.seen_by(number, truth.log_softmax(dim=-1), joined)


@dataclass(eq=False)
class AnnotMix(TruthMethod):
    """Learns the true class of items and confusion matrices from mixtures of two answers.

    As in `Madl`, a confusion matrix depends on embeddings of the annotator and the item. In
    training, each answer is mixed with another one of the batch, at random shares: the vectors of
    the items, the annotators and the answers. This keeps the network from learning single wrong
    answers by heart. An item's distribution is that of the classes. Prefer `AnnotatorConfusions`
    if confusions do not depend on the item.

    Args:
        embedding: the size of the embeddings of annotators and items.
        accuracy: how likely an annotator is right in the first confusion matrix.
        pretrain: the share of the epochs in which all annotators have this matrix, so that classes
            keep their meaning.
        mixed: whether answers are mixed.

    Partners are drawn with replacement. Where several processes train, each mixes the answers of
    its part of the batch. Layer normalisation replaces batch normalisation, whose state cannot be
    stacked.

    Reference: Herde, Lührs, Huseljic & Sick (2024), Annot-Mix, ECAI, arXiv 2405.03386.
    """

    embedding: int = 128
    accuracy: float = 0.9
    pretrain: float = 0.2
    mixed: bool = True
    training: Training = PUBLISHED
    name: ClassVar[str] = "annot-mix"
    choices: ClassVar[Choices] = {
        **TRUNK_CHOICES,
        "training.epochs": (10, 20, 50),
        "training.weight_decay": (0.0, 1e-4, 1e-3),
    }
    ranges: ClassVar[dict[str, str]] = {
        "embedding": "1 or more",
        "accuracy": "above 0 and below 1",
        "pretrain": "at least 0 and below 1",
    }

    def network(self, sizes: Sizes) -> Network:
        return _MixNet(sizes, self)

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        losses = tuple(_mixed(loss, sizes.scales[loss.name]) for loss in super().losses(sizes))
        return after_pretraining(losses, self.pretrain)


def _mixed(loss: Loss, scale: Scale) -> Loss:
    """The loss of both answers of each row, by their shares."""
    family, question = likelihood(scale), loss.name

    def function(outputs: Outputs, batch: Batch) -> Tensor:
        own = loss.function(outputs, batch)
        if f"{question}{OTHER}" not in outputs.rows:  # nothing is mixed
            return own
        other = family.loss(outputs.rows[question], outputs.rows[f"{question}{OTHER}"])
        shares = outputs.rows[f"{question}{SHARES}"]
        return shares[:, 0] * own + shares[:, 1] * other

    return replace(loss, function=function)
