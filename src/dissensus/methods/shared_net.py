"""The network of methods that answer for everybody alike."""

from __future__ import annotations

from torch import Tensor

from dissensus.networks.heads import Head, Trunk
from dissensus.networks.likelihoods import likelihood
from dissensus.training import Batch, Network, Outputs, Sizes


class SharedNet(Network):
    """One head per question over a trunk that they share, per item."""

    def __init__(self, sizes: Sizes, hidden: tuple[int, ...], dropout: float) -> None:
        super().__init__()
        self.trunk = Trunk(list(sizes.widths), sum(sizes.widths.values()), hidden, dropout)
        self.questions = tuple(sizes.scales)
        for number, (question, scale) in enumerate(sizes.scales.items()):
            head = Head(self.trunk.width, likelihood(scale), sizes.start.get(question))
            self.add_module(f"head_{number}", head)

    def prepare(self, pooled: dict[str, Tensor]) -> None:
        self.trunk.standardise(pooled)

    def forward(self, batch: Batch) -> Outputs:
        return Outputs(items=self.answers(self.trunk(batch.pooled)))

    def answers(self, features: Tensor) -> dict[str, Tensor]:
        """What the heads make of features (n_items, width)."""
        return {
            question: self.get_submodule(f"head_{number}")(features)
            for number, question in enumerate(self.questions)
        }
