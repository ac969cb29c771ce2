"""Label distribution learning: the share of each answer, learned from votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dissensus.annotations import Ties
from dissensus.corpus import Corpus
from dissensus.methods.framework.labels import LabelMethod, check_target, first_biases, soft_targets
from dissensus.methods.framework.losses import soft_losses
from dissensus.methods.framework.settings import PROBE_CHOICES, Choices
from dissensus.methods.framework.shared_net import Branch, SharedNet
from dissensus.networks.likelihoods import Divergence
from dissensus.training import Loss, Network, Sizes, Training


@dataclass(eq=False)
class SoftLabel(LabelMethod):
    """Learns the distribution of answers to each item (LDL); annotators may be anonymous.

    Every item has the same weight, whether 3 or 50 annotators answered. Prefer `RepeatedLabel` if
    items with more answers should count more, `AnnotatorHeads` to predict single annotators.

    On an interval scale the mass in each bin is learned, on a multi-label scale the share of each
    value.

    Args:
        loss: how far the prediction is from the target, in nats: "ce" cross-entropy, "kl" (the
            same but for a constant), or "inverse-kl", which avoids mass on answers that no
            annotator gave (a target of 0 counts as 1e-6).
        target: the aggregator whose distribution is learned: "soft-vote", the share of annotators
            who gave each answer; "softmax-vote" (Fornaciari et al. 2021); "dawid-skene", ...
        weighted: whether an item is weighted by its number of answers.
        hidden: widths of hidden layers over the pooled features; empty for a linear probe.
        temperature: whether to rescale the distribution, by the majority labels of held-out items.
            For comparisons; the votes contain more information.
        branch: "output", or "attention" for the network of Fornaciari et al. (2021): attention
            blocks over the pooled features, instead of hidden layers.

    Reference: Geng (2016), Label Distribution Learning, doi 10.1109/TKDE.2016.2545658; Uma et al.
    (2021), doi 10.1613/jair.1.12752.
    """

    loss: Divergence = "ce"
    target: str = "soft-vote"
    weighted: bool = False
    hidden: tuple[int, ...] = ()
    branch: Branch = "output"
    dropout: float = 0.5
    training: Training = Training(epochs=10, least_steps=1000)
    name: ClassVar[str] = "soft-label"
    label: ClassVar[str] = "consensus"  # type: ignore[misc]  # no setting here: by which the
    ties: ClassVar[Ties] = "first"  # type: ignore[misc]  # temperature is chosen
    choices: ClassVar[Choices] = PROBE_CHOICES

    def network(self, sizes: Sizes) -> Network:
        return SharedNet(sizes, self.hidden, self.dropout, self.branch)

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        return soft_losses(sizes, self.loss)

    def targets(self, corpus: Corpus) -> dict[str, np.ndarray]:
        targets = {}
        for question in self.learned_.questions:
            n = corpus[question].per_item()
            targets[question] = soft_targets(corpus[question], self.target).astype(np.float32)
            targets[f"{question}.weight"] = (n if self.weighted else n > 0).astype(np.float32)
        return targets

    def start(self, corpus: Corpus, question: str) -> np.ndarray:
        rows = corpus[question]
        weight = rows.weight if self.weighted else rows.weight / rows.per_item()[rows.item]
        return first_biases(rows.scale, rows.answer, weight, self.base_rates)

    def check_question(self, corpus: Corpus, question: str) -> None:
        super().check_question(corpus, question)
        check_target(self.target)
