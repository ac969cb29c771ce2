"""One network for all annotators, which reads the annotator as a one-hot vector."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import nn

from dissensus.corpus import Corpus
from dissensus.errors import ModelError
from dissensus.methods.framework.annotator_method import AnnotatorMethod
from dissensus.networks.heads import Head, Trunk, hidden_layers
from dissensus.networks.likelihoods import likelihood
from dissensus.networks.noise import positions_in_batch
from dissensus.training import Batch, Network, Outputs, Sizes


class _OneHotNet(Network):
    """The product of a one-hot vector with the first layer is a row of a table."""

    def __init__(self, sizes: Sizes, method: AnnotatorOneHot) -> None:
        super().__init__()
        self.vectors = Trunk.over(sizes.widths, (), method.dropout)
        width, (first, *rest) = self.vectors.width, method.hidden
        self.first = nn.Linear(width, first)
        limit = 1 / math.sqrt(width + sizes.n_annotators)  # as torch draws such a layer
        table = torch.empty(sizes.n_annotators, first).uniform_(-limit, limit)
        self.annotators = nn.Parameter(table)
        self.layers = hidden_layers(first, rest, method.dropout)
        self.questions = tuple(sizes.scales)
        before, last = method.hidden[-1], [*method.hidden, *method.question_hidden][-1]
        for number, (question, scale) in enumerate(sizes.scales.items()):
            own = hidden_layers(before, method.question_hidden, method.dropout)
            head = Head(last, likelihood(scale), sizes.start.get(question))
            self.add_module(f"question_{number}", nn.Sequential(*own, head))

    def tables(self) -> list[nn.Parameter]:
        return [self.annotators]

    def forward(self, batch: Batch) -> Outputs:
        items = self.first(self.vectors(batch.pooled))  # (n_items, width)
        annotator = batch.annotators[batch.rows.annotator]  # (n_rows,) codes
        with positions_in_batch(batch.places.get("rows")):
            features = self.layers((items[batch.rows.item] + self.annotators[annotator]).relu())
            rows = {
                question: self.get_submodule(f"question_{number}")(features)
                for number, question in enumerate(self.questions)
            }
        return Outputs(rows=rows)


@dataclass(eq=False)
class AnnotatorOneHot(AnnotatorMethod):
    """Predicts the answer of each annotator with one network, which reads a one-hot annotator.

    The one-hot variant of Tavernor et al. (2024). All weights but one row are shared, so that it
    has far fewer of them than `AnnotatorHeads`; what differs between annotators enters before the
    first hidden layer.

    Args:
        hidden: widths of the hidden layers, at least one; the first reads the annotator.

    Reference: Tavernor, El-Tawil & Mower Provost (2024), arXiv 2408.11956.
    """

    name: ClassVar[str] = "annotator-onehot"

    def check(self, corpus: Corpus, questions: Any = None) -> tuple[str, ...]:
        if not self.hidden:
            raise ModelError("annotator-onehot needs at least one hidden layer, e.g. hidden=64")
        return super().check(corpus, questions)

    def network(self, sizes: Sizes) -> Network:
        return _OneHotNet(sizes, self)
