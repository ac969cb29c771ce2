"""Soft labels as a second task: the label of each item, and the distribution of its answers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from torch import Tensor

from dissensus.annotations import Annotations, Ties
from dissensus.corpus import Corpus
from dissensus.errors import ModelError
from dissensus.methods.framework.labels import (
    check_labels,
    check_target,
    item_labels,
    label_targets,
    soft_targets,
)
from dissensus.methods.framework.learned import items_of
from dissensus.methods.framework.losses import label_losses, question_losses
from dissensus.methods.framework.settings import PROBE_CHOICES, Choices
from dissensus.methods.framework.shared_net import Branch, SharedNet
from dissensus.methods.framework.trained import TrainedMethod
from dissensus.networks.likelihoods import Likelihood, likelihood
from dissensus.scales import Interval, MultiLabel
from dissensus.training import Batch, Loss, Network, Outputs, Sizes, Training

SoftLoss = Literal["kl", "inverse-kl", "ce", "none"]
Answer = Literal["label", "soft"]


@dataclass(eq=False)
class SoftLabelMtl(TrainedMethod):
    """Learns the label of each item, and as a second task the distribution of answers to it.

    The second task regularises the shared layers where annotators disagree. Items with only a
    label, or only answers, are used too. Prefer `Single` without answers of several annotators,
    `SoftLabel` if only their distribution is of interest.

    Args:
        label: of the main task: "gold", "consensus" of the annotators (majority, median or mean,
            by scale), or an aggregator such as "dawid-skene" or "mace".
        target: the aggregator whose distribution the second task learns. On interval and
            multi-label scales, "softmax-vote" means "soft-vote".
        soft_loss: the loss of the second task, in bits: "kl", "inverse-kl" or "ce". It is added to
            the label's loss. "none": no second task (the paper's STL).
        branch: the layers of each task that are not shared: "output", or "attention" too.
        answer: the task that predicts, "label" or "soft"; it may be changed after the fit.
        ties: which of several majority labels is the label; "drop" leaves such labels out.
        hidden: widths of hidden layers over the pooled features; empty for a linear probe.
        dropout: also within the attention blocks; .1 in the paper.

    Reference: Fornaciari, Uma, Paun, Plank, Hovy & Poesio (2021), Beyond Black & White, doi
    10.18653/v1/2021.naacl-main.204.
    """

    label: str = "consensus"
    target: str = "softmax-vote"
    soft_loss: SoftLoss = "kl"
    branch: Branch = "output"
    answer: Answer = "label"
    ties: Ties = "first"
    hidden: tuple[int, ...] = ()
    dropout: float = 0.5
    training: Training = Training(epochs=10, least_steps=1000)
    name: ClassVar[str] = "soft-label-mtl"
    choices: ClassVar[Choices] = PROBE_CHOICES

    def network(self, sizes: Sizes) -> Network:
        tasks = {question: question for question in sizes.scales}
        if self.soft_loss != "none":
            tasks |= {_soft(question): question for question in sizes.scales}
        return SharedNet(sizes, self.hidden, self.dropout, self.branch, tasks)

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        labels = label_losses(sizes)
        if self.soft_loss == "none":
            return labels
        kind = self.soft_loss

        def of_task(task: str, family: Likelihood, outputs: Outputs, batch: Batch) -> Tensor:
            nats = family.soft_loss(outputs.items[task], batch.targets[task], kind)
            return nats / math.log(2)

        tasks = replace(sizes, scales={_soft(q): scale for q, scale in sizes.scales.items()})
        return (*labels, *question_losses(tasks, "item", of_task))

    def targets(self, corpus: Corpus) -> dict[str, np.ndarray]:
        labels = {question: self._labels(corpus, question) for question in self.learned_.questions}
        targets = label_targets(labels, corpus.n_items)
        for question in self.learned_.questions if self.soft_loss != "none" else ():
            task, answers, target = _soft(question), corpus[question], self.target
            if target == "softmax-vote" and isinstance(answers.scale, Interval | MultiLabel):
                target = "soft-vote"
            targets[task] = soft_targets(answers, target).astype(np.float32)
            targets[f"{task}.weight"] = (answers.per_item() > 0).astype(np.float32)
        return targets

    def learns(self, corpus: Corpus) -> np.ndarray:
        questions = self.learned_.questions
        tables = [self._labels(corpus, question) for question in questions]
        if self.soft_loss != "none":
            tables += [corpus[question] for question in questions]
        return items_of(tables)

    def start(self, corpus: Corpus, question: str) -> np.ndarray:
        labels = self._labels(corpus, question)
        return likelihood(labels.scale).start(labels.answer, labels.weight)

    def output(self, question: str) -> str:
        if self.answer == "label":
            return question
        if self.soft_loss == "none":
            raise ModelError("answer='soft' needs a second task, but soft_loss is 'none'")
        return _soft(question)

    def check_question(self, corpus: Corpus, question: str) -> None:
        check_target(self.target)
        if self.label != "gold" or self.soft_loss != "none":
            super().check_question(corpus, question)
        self.output(question)
        check_labels(corpus, question, self._labels(corpus, question))

    def _labels(self, corpus: Corpus, question: str) -> Annotations:
        return item_labels(corpus, question, self.label, self.ties, self.training.seed)


def _soft(question: str) -> str:
    return f"{question}.soft"
