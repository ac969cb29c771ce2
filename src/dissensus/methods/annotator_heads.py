"""One head per annotator over a shared trunk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Tensor, nn

from dissensus.corpus import Corpus
from dissensus.methods.framework.losses import answer_losses
from dissensus.methods.framework.search_space import TRUNK_CHOICES, Choices
from dissensus.methods.framework.trained import TrainedMethod
from dissensus.networks import heads
from dissensus.networks.heads import Trunk
from dissensus.networks.likelihoods import Grouped, likelihood
from dissensus.training import Batch, Loss, Network, Outputs, Sizes, Training

SMOOTHING = 5.0  # answers of the average annotator, added to each annotator's for the first bias


class _HeadsNet(Network):
    def __init__(self, sizes: Sizes, hidden: tuple[int, ...], dropout: float, common: bool) -> None:
        super().__init__()
        self.trunk = Trunk(list(sizes.widths), sum(sizes.widths.values()), hidden, dropout)
        self.questions = tuple(sizes.scales)
        for number, (question, scale) in enumerate(sizes.scales.items()):
            question_heads = heads.AnnotatorHeads(
                sizes.n_annotators,
                self.trunk.width,
                likelihood(scale),
                sizes.start.get(question),
                common,
            )
            self.add_module(f"heads_{number}", question_heads)

    def prepare(self, pooled: dict[str, Tensor]) -> None:
        self.trunk.standardise(pooled)

    def tables(self) -> list[nn.Parameter]:
        all_heads = [part for part in self.children() if isinstance(part, heads.AnnotatorHeads)]
        return [table for part in all_heads for table in (part.weight, part.bias)]

    def forward(self, batch: Batch) -> Outputs:
        features = self.trunk(batch.pooled)  # (n_items, width)
        annotator = batch.annotators[batch.rows.annotator]  # (n_rows,) codes
        return Outputs(
            rows={
                question: self.get_submodule(f"heads_{number}")(
                    features, batch.rows.item, annotator
                )
                for number, question in enumerate(self.questions)
            }
        )


@dataclass(eq=False)
class AnnotatorHeads(TrainedMethod):
    """Predicts the answer of each annotator; an item's distribution is their mean.

    The multi-task model of Davani et al. (2022) and Tavernor et al. (2024) is `common=False`. With
    `common`, each annotator's head is added to a head that all annotators share, which helps
    annotators with few answers. Prefer `Single` if there is one label per item.

    Args:
        common: whether a head that all annotators share is added to each annotator's own.
        hidden: widths of the shared hidden layers.

    Reference: Davani, Diaz & Prabhakaran (2022), doi 10.1162/tacl_a_00449; Tavernor, El-Tawil &
    Mower Provost (2024), arXiv 2408.11956.
    """

    common: bool = True
    hidden: tuple[int, ...] = (64,)
    dropout: float = 0.5
    training: Training = Training(epochs=20)
    name: ClassVar[str] = "annotator-heads"
    choices: ClassVar[Choices] = TRUNK_CHOICES
    individual: ClassVar[bool] = True
    needs_rows: ClassVar[bool] = True

    def network(self, sizes: Sizes) -> Network:
        return _HeadsNet(sizes, self.hidden, self.dropout, self.common)

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        return answer_losses(sizes)

    def start(self, corpus: Corpus, question: str) -> np.ndarray:
        """The biases to start from: one row for all annotators together, then one for each."""
        annotations = corpus[question]
        annotator = annotations.annotator_codes(self.name)
        answer, weight = annotations.answer, annotations.weight
        family = likelihood(annotations.scale)
        by_annotator = Grouped(answer, weight, annotator, corpus.n_annotators, SMOOTHING)
        return np.concatenate([family.start(answer, weight)[None], family.starts(by_annotator)])
