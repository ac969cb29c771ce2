"""A network whose weights are distributions: each draw of the weights predicts by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from dissensus.corpus import Corpus
from dissensus.errors import ModelError
from dissensus.methods.framework.labels import LabelMethod
from dissensus.methods.framework.learned import Answers
from dissensus.methods.framework.losses import question_losses
from dissensus.methods.framework.members import TEMPERED_VOTES, ReadOut, joint_answers
from dissensus.methods.framework.settings import TRAINING_CHOICES, Choices
from dissensus.networks.bayesian import BayesianLayer, BayesianLayers, BayesianLinear, Drawn, Prior
from dissensus.networks.heads import Trunk
from dissensus.networks.likelihoods import Likelihood, likelihood
from dissensus.training import Batch, Loss, Network, Outputs, Sizes, Training

COST = ".cost"  # the name of the output with the cost of the weights


class _Head(nn.Module):
    """Two layers for one question, as wide as it has outputs.

    The prior is centred on the base rates of the answers. What does not depend on the content, such
    as the spread of ratings, is a plain parameter.
    """

    start: Tensor

    def __init__(self, width: int, family: Likelihood, start: np.ndarray | None, prior: Prior):
        super().__init__()
        n = family.n_outputs
        first = np.zeros(family.width) if start is None else start
        self.layers = BayesianLayers(BayesianLayer(width, n, prior), BayesianLinear(n, n, prior))
        self.register_buffer("start", torch.as_tensor(first[:n], dtype=torch.float32))
        self.constants = nn.Parameter(torch.as_tensor(first[n:], dtype=torch.float32))

    def forward(self, values: Tensor) -> Drawn:
        outputs, cost = self.layers(values)  # (n_passes, n_items, n_outputs)
        constants = self.constants.expand(*outputs.shape[:2], -1)
        return Drawn(torch.cat([outputs + self.start, constants], dim=-1), cost)


class _BayesianNet(Network):
    """Bayesian layers that the questions share over pooled features, and a head for each."""

    def __init__(self, sizes: Sizes, hidden: tuple[int, ...], passes: int, prior: Prior) -> None:
        super().__init__()
        self.passes = passes
        self.questions = tuple(sizes.scales)
        self.trunk = Trunk.over(sizes.widths, (), 0.0)
        widths = (self.trunk.width, *hidden)
        pairs = zip(widths, hidden, strict=False)
        self.shared = BayesianLayers(*(BayesianLayer(*pair, prior) for pair in pairs))
        for number, (question, scale) in enumerate(sizes.scales.items()):
            head = _Head(widths[-1], likelihood(scale), sizes.start.get(question), prior)
            self.add_module(f"head_{number}", head)

    def forward(self, batch: Batch) -> Outputs:
        features = self.trunk(batch.pooled)  # (n_items, width)
        shared, total = self.shared(features.expand(self.passes, -1, -1))
        answers = {}
        for number, question in enumerate(self.questions):
            raw, cost = self.get_submodule(f"head_{number}")(shared)
            answers[question] = raw.transpose(0, 1)  # (n_items, n_passes, width)
            total = total + cost
        return Outputs(items=answers | {COST: total.expand(len(features))})


@dataclass(eq=False)
class Bayesian(LabelMethod):
    """Learns the label of each item with weights that are distributions (Bayes by backprop).

    Every pass draws new weights; contents are encoded once. The passes differ where the labels
    leave the weights uncertain, which SeedBERT's comparison takes for disagreement of annotators.
    Predictions always use the same draws. `Prediction.members` contains the answer of each pass.
    Prefer `Single` if only the label is of interest: it learns faster, and better from few items.
    `AnnotatorHeads` learns how annotators differ.

    The loss is that of the label under the mean of the passes, plus the cost of the weights (their
    divergence from the prior) divided by the number of items in the batch, as in the paper's code.
    The bound of Blundell et al. divides the cost by the number of *all* items instead: set
    `complexity_weight` = batch size / number of items.

    Args:
        hidden: widths of the Bayesian layers that all questions share; each question adds two
            layers, as wide as it has outputs. A PReLU is between any two.
        passes: draws of the weights, in training and in prediction.
        prior: of each weight: "normal", N(0, 1), or a "mixture" of that with a spike at 0.
        complexity_weight: of the weights' cost, added to the label's loss; 1 in the paper. There,
            the cost of 300,000 weights dominates, and answers stay at the base rates.
        base_rates: whether the prior of the answers is their base rates; in the paper all answers
            are equally likely.
        read: the predicted distribution: the "mean" of the passes, or "votes", the share of passes
            for each answer; it may be changed after the fit. Votes have no temperature.

    Reference: Blundell, Cornebise, Kavukcuoglu & Wierstra (2015), arXiv 1505.05424; Raj Prabhu,
    Carbajal, Lehmann-Willenbrock & Gerkmann (2022), arXiv 2110.03299 (variant MU), as a baseline
    on categories in SeedBERT, arXiv 2211.13196.
    """

    hidden: tuple[int, ...] = (512, 256)
    passes: int = 30
    prior: Prior = "normal"
    complexity_weight: float = 1.0
    read: ReadOut = "mean"
    training: Training = Training(
        epochs=10, least_steps=1000, weight_decay=0.0
    )  # the prior draws weights to 0
    name: ClassVar[str] = "bayesian"
    ranges: ClassVar[dict[str, str]] = {
        "hidden": "1 or more",
        "passes": "1 or more",
        "complexity_weight": "at least 0",
    }
    choices: ClassVar[Choices] = {
        "training.learning_rate": TRAINING_CHOICES["training.learning_rate"],
        "training.epochs": TRAINING_CHOICES["training.epochs"],
        "complexity_weight": (1e-4, 1e-3, 1e-2, 1e-1, 1.0),
    }

    def network(self, sizes: Sizes) -> Network:
        return _BayesianNet(sizes, self.hidden, self.passes, self.prior)

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        def of_label(question: str, family: Likelihood, outputs: Outputs, batch: Batch) -> Tensor:
            """Under the mean of all passes."""
            return family.mixed_loss(outputs.items[question], batch.targets[question])

        def of_weights(outputs: Outputs, batch: Batch) -> Tensor:
            """Their cost, divided by the number of items in the batch without padding."""
            n_items = batch.share.sum().clamp(min=1)
            cost = (outputs.items[COST] * batch.share).sum() / n_items  # the same for every item
            return self.complexity_weight * cost / n_items

        labels = question_losses(sizes, "item", of_label)
        return (*labels, Loss(COST, "batch", of_weights, weight=lambda batch: batch.share))

    # ---- predict ----

    def answers(self, question: str, raw: Tensor) -> Answers:
        n_items, n_passes = raw.shape[:2]
        each = super().answers(question, raw.transpose(0, 1).flatten(0, 1))
        masses = each.distribution.reshape(n_passes, n_items, -1)
        values, scale = each.value.reshape(n_passes, n_items), self.learned_.questions[question]
        return joint_answers(scale, masses, values, self.read)

    def _is_tempered(self) -> bool:
        return self.read == "mean"

    # ---- checks ----

    def check_question(self, corpus: Corpus, question: str) -> None:
        if self.read == "votes" and self.temperature:
            raise ModelError(TEMPERED_VOTES)
        super().check_question(corpus, question)
