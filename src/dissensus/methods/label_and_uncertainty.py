"""The label of each item, and how much annotators disagree about it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from dissensus.agreement import item_entropy, item_variance
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.methods.framework.labels import LabelMethod
from dissensus.methods.framework.learned import Answers
from dissensus.methods.framework.losses import label_losses, question_losses
from dissensus.methods.framework.settings import PROBE_CHOICES, Choices
from dissensus.methods.framework.shared_net import SharedNet
from dissensus.methods.framework.trained import TrainedMethod
from dissensus.scales import Interval, MultiLabel
from dissensus.training import Batch, Loss, Network, Outputs, Sizes, Training

DISAGREEMENT = ".disagreement"  # is added to the name of the question


def disagreement(annotations: Annotations) -> np.ndarray:
    """How much annotators disagree about each item, (n_items,), from 0 to 1.

    The entropy of the answers as a share of the highest possible (multi-label: mean over the
    values); on an interval scale the standard deviation, with the scale mapped to [-1, 1]. nan for
    items with fewer than two answers.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t2", "ann", "yes")]
        >>> disagreement(Annotations.from_rows(rows)).tolist()
        [1.0, nan]
    """
    scale = annotations.scale
    if isinstance(scale, Interval):
        per_item = np.sqrt(item_variance(annotations)) / ((scale.high - scale.low) / 2)
    else:
        n_values = 2 if isinstance(scale, MultiLabel) else scale.n_columns
        per_item = item_entropy(annotations) / np.log(max(n_values, 2))
    return np.where(annotations.voters() >= 2, per_item, np.nan)


@dataclass(frozen=True, eq=False)
class _UncertainAnswers(Answers):
    """Answers with the expected disagreement about each item."""

    disagreement: np.ndarray  # (n,)


class _UncertainNet(Network):
    """A shared network whose last output for each question is the disagreement."""

    def __init__(self, sizes: Sizes, hidden: tuple[int, ...], dropout: float) -> None:
        super().__init__()
        labels = {question: start[:-1] for question, start in sizes.start.items()}
        self.labels = SharedNet(replace(sizes, start=labels), hidden, dropout)
        self.questions = self.labels.tasks
        for number, question in enumerate(self.questions):
            head = nn.Linear(self.labels.trunk.width, 1)
            nn.init.normal_(head.weight, std=0.02)
            nn.init.constant_(head.bias, sizes.start[question][-1] if sizes.start else 0.0)
            self.add_module(f"disagreement_{number}", head)

    def forward(self, batch: Batch) -> Outputs:
        features = self.labels.trunk(batch.pooled)  # (n_items, width)
        answers = self.labels.answers(features)
        for number, question in enumerate(self.questions):
            expected = self.get_submodule(f"disagreement_{number}")(features)
            answers[question] = torch.cat([answers[question], expected], dim=1)
        return Outputs(items=answers)


@dataclass(eq=False)
class LabelAndUncertainty(LabelMethod):
    """Learns the one label of each item, and how much its annotators disagreed.

    The multi-task model of Han et al. (2017). `Prediction.disagreement` is the expected
    disagreement, 0 to 1; the distribution says how certain the model is of the label, as in
    `Single`. Disagreement is learned from items with two answers or more; without such items it is
    nan. Prefer `SoftLabel` to predict the share of each answer as well.

    Args:
        uncertainty_weight: of the squared error of the disagreement, added to the label's loss.
        hidden: widths of hidden layers over the pooled features; empty for a linear probe.

    Reference: Han, Zhang, Schmitt, Pantic & Schuller (2017), From Hard to Soft, doi
    10.1145/3123266.3123383; on categories as in SeedBERT's comparison, arXiv 2211.13196.
    """

    uncertainty_weight: float = 1.0
    hidden: tuple[int, ...] = ()
    dropout: float = 0.5
    training: Training = Training(epochs=10, least_steps=1000)
    name: ClassVar[str] = "label-and-uncertainty"
    ranges: ClassVar[dict[str, str]] = {"uncertainty_weight": "at least 0"}
    choices: ClassVar[Choices] = PROBE_CHOICES
    disputable_: dict[str, bool] = field(init=False, repr=False)  # items have several answers

    def network(self, sizes: Sizes) -> Network:
        return _UncertainNet(sizes, self.hidden, self.dropout)

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        def squared(target: str, _: Any, outputs: Outputs, batch: Batch) -> Tensor:
            expected = outputs.items[target.removesuffix(DISAGREEMENT)][:, -1]
            return self.uncertainty_weight * (expected - batch.targets[target]) ** 2

        scales = {f"{question}{DISAGREEMENT}": scale for question, scale in sizes.scales.items()}
        of_disagreement = question_losses(replace(sizes, scales=scales), "item", squared)
        return (*label_losses(sizes), *of_disagreement)

    def targets(self, corpus: Corpus) -> dict[str, np.ndarray]:
        targets = super().targets(corpus)
        for question in self.learned_.questions:
            per_item = disagreement(corpus[question])
            name = f"{question}{DISAGREEMENT}"
            targets[name] = np.nan_to_num(per_item).astype(np.float32)
            targets[f"{name}.weight"] = np.isfinite(per_item).astype(np.float32)
        return targets

    def learns(self, corpus: Corpus) -> np.ndarray:
        several = [np.flatnonzero(corpus[q].voters() >= 2) for q in self.learned_.questions]
        return np.unique(np.concatenate([super().learns(corpus), *several]))

    def start(self, corpus: Corpus, question: str) -> np.ndarray:
        """The biases of the label, followed by the mean disagreement."""
        per_item = disagreement(corpus[question])
        known = per_item[np.isfinite(per_item)]
        mean = known.mean() if known.size else 0.0
        return np.r_[super().start(corpus, question), mean]

    def prepare_fit(self, corpus: Corpus, validation: Corpus | None) -> None:
        questions = self.learned_.questions
        self.disputable_ = {q: bool((corpus[q].voters() >= 2).any()) for q in questions}
        self.notes_ += [
            f"no item of {question!r} has two annotators: there is no disagreement to learn"
            for question in questions
            if not self.disputable_[question]
        ]

    # ---- predict ----

    def answers(self, question: str, raw: Tensor) -> Answers:
        label = super().answers(question, raw[:, :-1])
        expected = raw[:, -1].double().clamp(0, 1).cpu().numpy()
        if not self.disputable_[question]:
            expected = np.full_like(expected, np.nan)
        return _UncertainAnswers(label.distribution, label.value, expected)

    # ---- save, load and check ----

    def config(self) -> dict[str, Any]:
        return super().config() | {"disputable": self.disputable_}

    def restore(self, weights: dict[str, np.ndarray], config: dict[str, Any]) -> None:
        self.disputable_ = config["disputable"]
        super().restore(weights, config)

    def check_question(self, corpus: Corpus, question: str) -> None:
        TrainedMethod.check_question(self, corpus, question)  # with gold labels too
        super().check_question(corpus, question)
