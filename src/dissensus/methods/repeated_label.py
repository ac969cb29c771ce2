"""Repeated labelling: every answer is a separate training example."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dissensus.methods.framework.losses import answer_losses
from dissensus.methods.framework.settings import PROBE_CHOICES, Choices
from dissensus.methods.framework.shared_net import Branch, SharedNet
from dissensus.methods.framework.trained import TrainedMethod
from dissensus.training import Loss, Network, Sizes, Training


@dataclass(eq=False)
class RepeatedLabel(TrainedMethod):
    """Learns every answer as if it were the label, regardless of the annotator (ReL).

    The same as `SoftLabel(weighted=True)` on nominal, ordinal and multi-label answers: an item
    is weighted by its number of answers. On an interval scale answers are learned without bins.
    Answers may be anonymous, or votes. Prefer `SoftLabel` if a few items have most of the answers,
    `AnnotatorHeads` to predict single annotators.

    Args:
        hidden: widths of hidden layers over the pooled features; empty for a linear probe.
        branch: "output", or "attention" for the network of Fornaciari et al. (2021): attention
            blocks over the pooled features, instead of hidden layers.

    Reference: Kurniawan, Mistica, Baldwin & Lau (2026), Training and Evaluating with Human Label
    Variation, doi 10.1162/coli.a.578.
    """

    hidden: tuple[int, ...] = ()
    branch: Branch = "output"
    dropout: float = 0.5
    training: Training = Training(epochs=10, least_steps=1000)
    name: ClassVar[str] = "repeated-label"
    choices: ClassVar[Choices] = PROBE_CHOICES
    needs_rows: ClassVar[bool] = True

    def network(self, sizes: Sizes) -> Network:
        return SharedNet(sizes, self.hidden, self.dropout, self.branch)

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        return answer_losses(sizes, of_items=True)
