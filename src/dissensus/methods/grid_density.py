"""The density of the ratings of an item, predicted directly as mass over a grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from dissensus.corpus import Corpus
from dissensus.densities import Grid, RatingKde, expectation, pool
from dissensus.methods.framework.density_loss import (
    TARGET,
    check_density,
    density_targets,
    direct_density_loss,
)
from dissensus.methods.framework.learned import Answers
from dissensus.methods.framework.settings import TRUNK_CHOICES, Choices
from dissensus.methods.framework.trained import TrainedMethod
from dissensus.networks.heads import Trunk
from dissensus.prediction import JointDensity
from dissensus.scales import Interval
from dissensus.training import Batch, Loss, Network, Outputs, Sizes


class _GridNet(Network):
    def __init__(self, sizes: Sizes, method: GridDensity) -> None:
        super().__init__()
        self.trunk = Trunk.over(sizes.widths, method.hidden, method.dropout)
        self.head = nn.Linear(self.trunk.width, method.bins ** len(sizes.scales))
        if method.base_rates and sizes.start:
            first = torch.as_tensor(next(iter(sizes.start.values())), dtype=torch.float32)
            nn.init.normal_(self.head.weight, std=0.02)
            self.head.bias.data.copy_(first)

    def forward(self, batch: Batch) -> Outputs:
        return Outputs(items={TARGET: self.head(self.trunk(batch.pooled))})


@dataclass(frozen=True, eq=False)
class _MarginalAnswers(Answers):
    """The answers to one question, and the mass of all questions that they are from."""

    mass: np.ndarray  # (n_items, bins, ...)


@dataclass(eq=False)
class GridDensity(TrainedMethod):
    """Learns the density of the ratings of an item directly, as a softmax over the cells of a grid.

    The baseline of Tavernor et al. (2024). It does not know annotators; all of them are predicted
    alike, with the item's distribution. Prefer `AnnotatorHeads` with `objective="both"` to predict
    annotators too.

    Args:
        hidden: widths of the hidden layers.
        dropout: of the vectors and the hidden layers.
        bins: cells for each question; one question or two are learned.
        base_rates: whether the biases of the output layer start at the mean density of the
            training items, or are drawn.

    Reference: Zhang, Essl & Mower Provost (2017), doi 10.1145/3136755.3136792; Tavernor, El-Tawil &
    Mower Provost (2024), arXiv 2408.11956.
    """

    hidden: tuple[int, ...] = (64,)
    dropout: float = 0.5
    bins: int = 4
    base_rates: bool = True
    name: ClassVar[str] = "grid-density"
    scales: ClassVar[tuple[str, ...]] = ("ordinal", "interval")
    choices: ClassVar[Choices] = TRUNK_CHOICES
    ranges: ClassVar[dict[str, str]] = {"bins": "2 or more"}

    def check(self, corpus: Corpus, questions: Any = None) -> tuple[str, ...]:
        names = super().check(corpus, questions)
        check_density(self.name, names)
        return names

    def network(self, sizes: Sizes) -> Network:
        return _GridNet(sizes, self)

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        return (direct_density_loss(),)

    def targets(self, corpus: Corpus) -> dict[str, np.ndarray]:
        return density_targets(corpus, tuple(self.learned_.questions), self.bins)

    def start(self, corpus: Corpus, question: str) -> np.ndarray:
        """The logarithms of the mean density, (n_cells,), of all questions together."""
        targets = self.targets(corpus)
        weight = targets[f"{TARGET}.weight"]
        mass = targets[TARGET].reshape(len(weight), -1)
        mean = weight @ mass / max(weight.sum(), 1.0)
        return np.log(mean + 1e-3)

    def learns(self, corpus: Corpus) -> np.ndarray:
        weight = self.targets(corpus)[f"{TARGET}.weight"]
        return np.flatnonzero(weight)

    # ---- predict ----

    @property
    def kde_(self) -> RatingKde | None:
        return RatingKde(bins=self.bins)

    def output(self, question: str) -> str:
        return TARGET

    def answers(self, question: str, raw: Tensor) -> Answers:
        """The marginal of the density: its mass, and its mean as the consensus."""
        questions = self.learned_.questions
        scale, axis = questions[question], list(questions).index(question)
        others = tuple(at + 1 for at in range(len(questions)) if at != axis)
        joint = torch.softmax(raw.double(), dim=1).cpu().numpy()
        joint = joint.reshape(-1, *(self.bins,) * len(questions))
        marginal, grid = joint.sum(axis=others), Grid((self.bins,))
        shares = np.asarray(pool(marginal, grid, scale.n_columns))
        value = scale.consensus(shares).astype(scale.dtype)
        if isinstance(scale, Interval):
            value = scale.from_unit(expectation(marginal, grid, positions="ends")[:, 0])
        return _MarginalAnswers(shares, value, joint)

    def predict_density(
        self, corpus: Corpus, by_item: dict[str, Answers], bins: int
    ) -> JointDensity:
        first = next(iter(by_item.values()))
        assert isinstance(first, _MarginalAnswers)
        scales = self.learned_.questions
        mass = pool(first.mass, Grid(first.mass.shape[1:]), bins)
        return JointDensity(tuple(scales), tuple(scales.values()), corpus.items, mass)
