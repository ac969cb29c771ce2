"""CoNAL: a crowd layer that all annotators share, and one of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dissensus.methods.framework.losses import PENALTY, penalised
from dissensus.methods.framework.settings import TRUNK_CHOICES, Choices
from dissensus.methods.framework.truth_method import TruthMethod, TruthNet
from dissensus.training import Batch, Loss, Network, Sizes, Training


class _ConalNet(TruthNet):
    def __init__(self, sizes: Sizes, method: Conal) -> None:
        super().__init__(sizes, method)
        self.difference = method.difference
        self.annotators = nn.Parameter(torch.randn(sizes.n_annotators, method.embedding))
        self.item = nn.Linear(self.trunk.width, method.embedding)
        for number, scale in enumerate(sizes.scales.values()):
            common = 2 * torch.eye(scale.n_columns)
            own = common.repeat(sizes.n_annotators, 1, 1)
            self.register_parameter(f"common_{number}", nn.Parameter(common))
            self.register_parameter(f"own_{number}", nn.Parameter(own))

    def rows_of(
        self, features: Tensor, truth: dict[str, Tensor], batch: Batch
    ) -> dict[str, Tensor]:
        item, annotator = batch.rows.item, batch.annotators[batch.rows.annotator]
        of_item = F.normalize(self.item(features), dim=-1)[item]
        of_annotator = F.normalize(self.annotators[annotator], dim=-1)
        share = (of_item * of_annotator).sum(dim=-1).sigmoid()[:, None]  # of the common layer
        rows = {}
        for number, (question, logits) in enumerate(truth.items()):
            seen = logits.softmax(dim=-1)[item]  # (n_rows, n_values)
            common, own = getattr(self, f"common_{number}"), getattr(self, f"own_{number}")
            individual = torch.einsum("rz,rzc->rc", seen, own[annotator])
            rows[question] = share * (seen @ common) + (1 - share) * individual
            if self.training:
                squares = (own - common).square().sum(dim=(-2, -1))  # (n_annotators,)
                penalty = -self.difference * (squares + 1e-12).sqrt().sum()
                rows[f"{question}{PENALTY}"] = penalty.expand(len(annotator))
        return rows


@dataclass(eq=False)
class Conal(TruthMethod):
    """Learns the true class of items through a layer that annotators share, and one of each.

    Both layers are those of `CrowdLayer`: a matrix by which the probabilities of the classes are
    multiplied. The logits of an answer are a mean of both, whose weight comes from embeddings of
    the annotator and the item. An item's distribution is that of the classes. Prefer `AnnotMix` if
    annotators gave few answers, `AnnotatorHeads` if they differ in opinion and there is no truth.

    Args:
        embedding: the size of the embeddings of annotators and items.
        difference: the weight of the differences between the matrices of annotators and the common
            one in the loss, which are to be large.

    Reference: Chu, Ma & Wang (2021), Learning from Crowds by Modeling Common Confusions, AAAI,
    arXiv 2012.13052; there, the embedding of an item is computed from its vector.
    """

    embedding: int = 20
    difference: float = 1e-5
    training: Training = Training(epochs=20, least_steps=1000, learning_rate=1e-2)
    name: ClassVar[str] = "conal"
    choices: ClassVar[Choices] = {**TRUNK_CHOICES, "embedding": (5, 20, 80)}
    ranges: ClassVar[dict[str, str]] = {"embedding": "1 or more", "difference": "at least 0"}

    def network(self, sizes: Sizes) -> Network:
        return _ConalNet(sizes, self)

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        return tuple(penalised(loss) for loss in super().losses(sizes))
