"""One head per annotator over a shared trunk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Tensor, nn

from dissensus.corpus import Corpus
from dissensus.methods.framework.annotator_method import AnnotatorMethod
from dissensus.methods.framework.search_space import TRUNK_CHOICES, Choices
from dissensus.networks import heads
from dissensus.networks.heads import Trunk, hidden_layers
from dissensus.networks.likelihoods import Grouped, likelihood
from dissensus.training import Batch, Network, Outputs, Sizes, Training

SMOOTHING = 5.0  # answers of the average annotator, added to each annotator's for the first bias


class _HeadsNet(Network):
    def __init__(self, sizes: Sizes, method: AnnotatorHeads) -> None:
        super().__init__()
        self.standardises = method.standardise
        self.trunk = Trunk(
            list(sizes.widths),
            sum(sizes.widths.values()),
            method.hidden,
            method.dropout,
            method.hidden_dropout,
        )
        self.questions = tuple(sizes.scales)
        own, further = method.question_hidden, method.hidden_dropout
        width = [self.trunk.width, *own][-1]
        for number, (question, scale) in enumerate(sizes.scales.items()):
            question_heads = heads.AnnotatorHeads(
                sizes.n_annotators,
                width,
                likelihood(scale),
                sizes.start.get(question),
                method.common,
            )
            if own:
                dropout = method.dropout if further is None else further
                layers = hidden_layers(self.trunk.width, own, dropout)
                self.add_module(f"layers_{number}", layers)
            self.add_module(f"heads_{number}", question_heads)

    def prepare(self, pooled: dict[str, Tensor]) -> None:
        if self.standardises:
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
                    self._own(number, features), batch.rows.item, annotator
                )
                for number, question in enumerate(self.questions)
            }
        )

    def _own(self, number: int, features: Tensor) -> Tensor:
        """The features of items after the layers of a question, if it has its own."""
        layers = getattr(self, f"layers_{number}", None)
        return features if layers is None else layers(features)


@dataclass(eq=False)
class AnnotatorHeads(AnnotatorMethod):
    """Predicts the answer of each annotator; an item's distribution is their mean.

    The multi-task model of Davani et al. (2022) and Tavernor et al. (2024) is `common=False`. With
    `common`, each annotator's head is added to a head that all annotators share, which helps
    annotators with few answers. Prefer `Single` if there is one label per item.

    Args:
        common: whether a head that all annotators share is added to each annotator's own.
        hidden: widths of the shared hidden layers.
        question_hidden: widths of further hidden layers that each question has of its own.
        dropout: of the vectors and the hidden layers.
        hidden_dropout: of the hidden layers, if it differs.
        standardise: whether vectors are standardised by the mean and the standard deviation of the
            training items.

    Reference: Davani, Diaz & Prabhakaran (2022), doi 10.1162/tacl_a_00449; Tavernor, El-Tawil &
    Mower Provost (2024), arXiv 2408.11956.
    """

    common: bool = True
    hidden: tuple[int, ...] = (64,)
    question_hidden: tuple[int, ...] = ()
    dropout: float = 0.5
    hidden_dropout: float | None = None
    standardise: bool = True
    training: Training = Training(epochs=20)
    name: ClassVar[str] = "annotator-heads"
    choices: ClassVar[Choices] = TRUNK_CHOICES

    def network(self, sizes: Sizes) -> Network:
        return _HeadsNet(sizes, self)

    def start(self, corpus: Corpus, question: str) -> np.ndarray:
        """The biases to start from: one row for all annotators together, then one for each."""
        annotations = corpus[question]
        annotator = annotations.annotator_codes(self.name)
        answer, weight = annotations.answer, annotations.weight
        family = likelihood(annotations.scale)
        by_annotator = Grouped(answer, weight, annotator, corpus.n_annotators, SMOOTHING)
        return np.concatenate([family.start(answer, weight)[None], family.starts(by_annotator)])
