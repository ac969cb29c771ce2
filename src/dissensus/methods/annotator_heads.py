"""One head per annotator over a shared trunk."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import nn

from dissensus.corpus import Corpus
from dissensus.methods.framework.annotator_method import (
    AnnotatorMethod,
    PriorNetwork,
    annotator_biases,
)
from dissensus.methods.framework.losses import PENALTY, penalised
from dissensus.networks import heads
from dissensus.networks.heads import Trunk, hidden_layers
from dissensus.networks.likelihoods import likelihood
from dissensus.training import Batch, Loss, Network, Outputs, Sizes


class _HeadsNet(PriorNetwork):
    """Hidden layers that all share, and for each question a head of each annotator."""

    def __init__(self, sizes: Sizes, method: AnnotatorHeads) -> None:
        super().__init__()
        self.trunk = Trunk.over(sizes.widths, method.hidden, method.dropout)
        self.questions = tuple(sizes.scales)
        self.add_prior(method)
        own = method.question_hidden
        width = [self.trunk.width, *own][-1]
        for number, (question, scale) in enumerate(sizes.scales.items()):
            family, start = likelihood(scale), sizes.start.get(question)
            of_all = heads.AnnotatorHeads(sizes.n_annotators, width, family, start, method.common)
            if own:
                layers = hidden_layers(self.trunk.width, own, method.dropout)
                self.add_module(f"layers_{number}", layers)
            self.add_module(f"heads_{number}", of_all)

    def tables(self) -> list[nn.Parameter]:
        all_heads = [part for part in self.children() if isinstance(part, heads.AnnotatorHeads)]
        return [table for part in all_heads for table in part.tables()]

    def forward(self, batch: Batch) -> Outputs:
        features = self.trunk(batch.pooled)  # (n_items, width)
        annotator = batch.annotators[batch.rows.annotator]  # (n_rows,) codes
        rows = {}
        for number, question in enumerate(self.questions):
            layers, item = getattr(self, f"layers_{number}", None), batch.rows.item
            own = features if layers is None else layers(features)
            of_question = self.get_submodule(f"heads_{number}")
            assert isinstance(of_question, heads.AnnotatorHeads)
            rows[question] = of_question(own, item, annotator)
            if self.precision and self.training:
                squares = of_question.squares(batch.annotators)
                rows[f"{question}{PENALTY}"] = self.row_penalty(number, squares, batch)
        return Outputs(rows=rows)


@dataclass(eq=False)
class AnnotatorHeads(AnnotatorMethod):
    """Predicts the answer of each annotator; an item's distribution is their mean.

    The multi-task model of Davani et al. (2022) and Tavernor et al. (2024) is `common=False`. With
    `common`, each annotator's head is added to a head that all annotators share, which helps
    annotators with few answers. Prefer `Single` if there is one label per item.

    Args:
        common: whether a head that all annotators share is added to each annotator's own.
        spread: the standard deviation, in logits, of a normal prior of the difference between an
            annotator's head and the common one; inf for none. The fewer answers an annotator gave,
            the closer is the head to the common one. It has an effect with `common` and with the
            likelihood as loss.

    Reference: Davani, Diaz & Prabhakaran (2022), doi 10.1162/tacl_a_00449; Tavernor, El-Tawil &
    Mower Provost (2024), arXiv 2408.11956.
    """

    common: bool = True
    spread: float = 0.5
    name: ClassVar[str] = "annotator-heads"
    ranges: ClassVar[dict[str, str]] = {"spread": "above 0, or inf for no prior"}

    @property
    def has_prior(self) -> bool:
        return self.common and self.loss == "likelihood" and math.isfinite(self.spread)

    def network(self, sizes: Sizes) -> Network:
        return _HeadsNet(sizes, self)

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        losses = super().losses(sizes)
        return tuple(penalised(loss) for loss in losses) if self.has_prior else losses

    def start(self, corpus: Corpus, question: str) -> np.ndarray:
        """The biases to start from: one row for all annotators together, then one for each."""
        family = likelihood(corpus[question].scale)
        spread = self.spread if self.has_prior else math.inf
        return annotator_biases(corpus, question, family, self.name, self.aggregate, spread)
