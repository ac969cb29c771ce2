"""The usual way: one label per item, one model for everybody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from torch import Tensor

from dissensus.annotations import Annotations, Ties
from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.methods.losses import label_losses
from dissensus.methods.trained import TrainedMethod
from dissensus.networks.heads import Head, Trunk
from dissensus.networks.likelihoods import likelihood
from dissensus.training import Batch, Loss, Network, Outputs, Sizes, Training


class _SingleNet(Network):
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
        features = self.trunk(batch.pooled)  # (n_items, width)
        return Outputs(
            items={
                question: self.get_submodule(f"head_{number}")(features)
                for number, question in enumerate(self.questions)
            }
        )


@dataclass(eq=False)
class Single(TrainedMethod):
    """Learns the one label that stands for each item: the BERT or STL baseline of the papers.

    Its distribution says how sure the model is of the label, not how people differ. Prefer
    `AnnotatorHeads` to know what each of them would say.

    Args:
        label: "consensus" of the annotators (majority, median or mean, by scale) or "gold".
        ties: which of several majority labels is taken; "drop" leaves such items out.
        hidden: widths of hidden layers over the pooled features; none is a linear probe.
    """

    label: Literal["consensus", "gold"] = "consensus"
    ties: Ties = "first"
    hidden: tuple[int, ...] = ()
    dropout: float = 0.5
    training: Training = Training(epochs=10)
    name: ClassVar[str] = "single"

    def network(self, sizes: Sizes) -> Network:
        return _SingleNet(sizes, self.hidden, self.dropout)

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        return label_losses(sizes)

    def targets(self, corpus: Corpus) -> dict[str, np.ndarray]:
        made = {}
        for question, scale in self.learned_.questions.items():
            labels = self._labels(corpus, question)
            answer = likelihood(scale).target(labels.answer)
            made[question] = np.zeros((corpus.n_items, *answer.shape[1:]), answer.dtype)
            made[question][labels.item] = answer
            made[f"{question}.weight"] = np.zeros(corpus.n_items, np.float32)
            made[f"{question}.weight"][labels.item] = 1
        return made

    def learns(self, corpus: Corpus) -> np.ndarray:
        labelled = [self._labels(corpus, q).item for q in self.learned_.questions]
        return np.unique(np.concatenate(labelled))

    def start(self, corpus: Corpus, question: str) -> np.ndarray:
        labels = self._labels(corpus, question)
        return likelihood(labels.scale).start(labels.answer, labels.weight)

    def _check(self, corpus: Corpus, question: str) -> None:
        if self.label == "consensus":
            super()._check(corpus, question)
        elif self.label != "gold":
            raise DataError(f"a label is the 'consensus' or 'gold', not {self.label!r}")
        if not self._labels(corpus, question).n_rows:
            raise DataError(f"{corpus.name}: no item has one label for {question!r}")

    def _labels(self, corpus: Corpus, question: str) -> Annotations:
        if self.label == "consensus":
            return corpus[question].consensus(self.ties, self.training.seed)
        if question not in corpus.gold:
            raise DataError(f"{corpus.name}: no gold label for {question!r}")
        return corpus.gold[question].to(corpus[question].scale)
