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

SMOOTHING = 5.0  # answers of the crowd that an annotator's first bias is made of, beside their own


class _HeadsNet(Network):
    def __init__(self, sizes: Sizes, hidden: tuple[int, ...], dropout: float, common: bool) -> None:
        super().__init__()
        self.trunk = Trunk(list(sizes.widths), sum(sizes.widths.values()), hidden, dropout)
        self.questions = tuple(sizes.scales)
        for number, (question, scale) in enumerate(sizes.scales.items()):
            of_question = heads.AnnotatorHeads(
                sizes.n_annotators,
                self.trunk.width,
                likelihood(scale),
                sizes.start.get(question),
                common,
            )
            self.add_module(f"heads_{number}", of_question)

    def prepare(self, pooled: dict[str, Tensor]) -> None:
        self.trunk.standardise(pooled)

    def tables(self) -> list[nn.Parameter]:
        of_questions = [part for part in self.children() if isinstance(part, heads.AnnotatorHeads)]
        return [table for part in of_questions for table in (part.weight, part.bias)]

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
    """Predicts every annotator's own answer; an item's distribution is the mean of theirs.

    The multi-task model of Davani et al. (2022) and of Tavernor et al. (2024), which is
    `common=False`. With `common`, heads are deviations from one that everyone shares, which
    helps annotators who gave few answers. Prefer `Single` when only one label is known.

    Args:
        common: whether a shared head is added to everybody's own.
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
        """What everyone together, and then each annotator, would answer unseen."""
        asked, who = corpus[question], corpus[question].annotator_codes(self.name)
        reading = likelihood(asked.scale)
        crowd = reading.start(asked.answer, asked.weight)
        given = Grouped(asked.answer, asked.weight, who, corpus.n_annotators, SMOOTHING)
        return np.concatenate([crowd[None], reading.starts(given)])
