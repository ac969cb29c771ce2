"""One label per item, one model for all annotators: the usual baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from dissensus.agreement import majority_share, value_pairs
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.errors import ModelError
from dissensus.methods.framework.labels import LabelMethod
from dissensus.methods.framework.losses import label_losses
from dissensus.methods.framework.settings import PROBE_CHOICES, Choices
from dissensus.methods.framework.shared_net import Branch, PoolingNet, SharedNet
from dissensus.scales import Interval
from dissensus.training import Loss, Network, Sizes, Training


@dataclass(eq=False)
class Single(LabelMethod):
    """Learns one label per item: the BERT or STL baseline of the papers.

    Its distribution says how certain the model is of the label, not how annotators differ. Prefer
    `SoftLabel` to predict the share of each value, and `AnnotatorHeads` to predict annotators.

    Args:
        min_agreement: leave out items whose most frequent answer has a smaller share (Jamison &
            Gurevych 2015); not for interval scales. Items with a gold label only are kept.
        weight_by_agreement: whether an item is weighted by this share instead of 1.
        cost_sensitive: whether a mistake costs less if annotators of the same item often differ in
            the same way (Plank et al. 2014); for nominal and ordinal scales.
        label_smoothing: the share of each label that is spread evenly over all values (multi-label:
            over yes and no of each value); not for interval scales.
        hidden: widths of hidden layers over the pooled features; empty for a linear probe.
        pool: "mean" over the positions of a content, or "attention", weighted by a learned query.
        branch: "output", or "attention" for the network of Fornaciari et al. (2021): attention
            blocks over the pooled features, instead of hidden layers.
    """

    min_agreement: float = 0.0
    weight_by_agreement: bool = False
    cost_sensitive: bool = False
    label_smoothing: float = 0.0
    hidden: tuple[int, ...] = ()
    pool: Literal["mean", "attention"] = "mean"
    branch: Branch = "output"
    dropout: float = 0.5
    training: Training = Training(epochs=10, least_steps=1000)
    name: ClassVar[str] = "single"
    ranges: ClassVar[dict[str, str]] = {
        "min_agreement": "from 0 to 1",
        "label_smoothing": "at least 0 and below 1",
    }
    choices: ClassVar[Choices] = PROBE_CHOICES

    @property
    def pools(self) -> bool:
        return self.pool == "mean"

    def network(self, sizes: Sizes) -> Network:
        inner = SharedNet(sizes, self.hidden, self.dropout, self.branch)
        return inner if self.pools else PoolingNet(sizes, inner)

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        return label_losses(sizes, self.label_smoothing, costs=self.cost_sensitive)

    def targets(self, corpus: Corpus) -> dict[str, np.ndarray]:
        targets = super().targets(corpus)
        for question in self.learned_.questions if self.weight_by_agreement else ():
            targets[f"{question}.weight"] *= _agreement(corpus[question]).astype(np.float32)
        for question in self.learned_.questions if self.cost_sensitive else ():
            costs = 1 - confusions(corpus[question])  # (n_values, n_values)
            np.fill_diagonal(costs, 1)
            targets[f"{question}.cost"] = costs[targets[question]].astype(np.float32)
        return targets

    def check_question(self, corpus: Corpus, question: str) -> None:
        if not self.pools and self.branch == "attention":
            raise ModelError("pool='attention' needs branch='output'")
        rated = isinstance(corpus[question].scale, Interval)
        if rated and (self.min_agreement or self.weight_by_agreement):
            raise ModelError(
                f"{corpus.name}: agreement is the share of the most frequent answer; {question!r} "
                "has interval answers"
            )
        if self.cost_sensitive and corpus[question].scale.kind not in ("nominal", "ordinal"):
            raise ModelError(
                f"{corpus.name}: cost_sensitive needs nominal or ordinal answers; {question!r} has "
                f"{corpus[question].scale.kind} ones"
            )
        if self.label_smoothing and rated:
            raise ModelError(
                f"{corpus.name}: label smoothing spreads a label over values; {question!r} has "
                "interval answers"
            )
        super().check_question(corpus, question)

    def labels(self, corpus: Corpus, question: str) -> Annotations:
        labels = super().labels(corpus, question)
        if not self.min_agreement:
            return labels
        agreement = _agreement(corpus[question])[labels.item]
        return labels.take(agreement >= self.min_agreement)


def confusions(annotations: Annotations) -> np.ndarray:
    """How often annotators give a value (column) where another annotator of the same item gives the
    value of the row, (n_values, n_values). A row is 0 if no item with two answers has its value.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no")]
        >>> confusions(Annotations.from_rows(rows)).round(4).tolist()
        [[0.6667, 0.3333], [1.0, 0.0]]
    """
    pairs = value_pairs(annotations)
    return pairs / np.where(pairs.any(axis=1), pairs.sum(axis=1), 1)[:, None]


def _agreement(annotations: Annotations) -> np.ndarray:
    """The share of the most frequent answer to each item, (n_items,); 1 without answers."""
    return np.nan_to_num(majority_share(annotations), nan=1.0)
