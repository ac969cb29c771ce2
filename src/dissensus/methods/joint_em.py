"""A class model and confusion matrices that explain all answers to an item together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from dissensus.aggregation import DawidSkene
from dissensus.corpus import Corpus
from dissensus.methods.framework.settings import TRUNK_CHOICES, Choices
from dissensus.methods.framework.truth_method import TruthMethod, TruthNet, seen_through
from dissensus.training import Batch, Loss, Network, Outputs, Sizes, Training

CONFUSION = ", confusion"  # is added to the name of an output that only the loss reads
PRIOR = ", log prior of the confusion"


class _JointNet(TruthNet):
    def __init__(self, sizes: Sizes, method: JointEm) -> None:
        super().__init__(sizes, method)
        self.pseudo_answers = method.smoothing
        for number, (question, scale) in enumerate(sizes.scales.items()):
            shape = (sizes.n_annotators, scale.n_columns, scale.n_columns)
            first = method.first_confusions_.get(question)
            start = torch.zeros(shape) if first is None else torch.as_tensor(first).float()
            prior = torch.zeros(shape[1:]) if first is None else start.exp().mean(dim=0)
            n_answers = torch.as_tensor(method.learned_.n_answers[question])
            self.register_parameter(f"confusion_{number}", nn.Parameter(start))
            self.register_buffer(f"prior_{number}", prior)
            self.register_buffer(f"n_answers_{number}", n_answers.clamp(min=1))

    def rows_of(
        self, features: Tensor, truth: dict[str, Tensor], batch: Batch
    ) -> dict[str, Tensor]:
        annotator = batch.annotators[batch.rows.annotator]  # (n_rows,) codes
        rows = {}
        for number, (question, logits) in enumerate(truth.items()):
            own = getattr(self, f"confusion_{number}")[annotator].log_softmax(dim=-1)
            rows[question] = seen_through(logits.log_softmax(dim=-1)[batch.rows.item], own)
            rows[f"{question}{CONFUSION}"] = own
            if self.training:
                prior = self.pseudo_answers * getattr(self, f"prior_{number}")
                n_answers = getattr(self, f"n_answers_{number}")[annotator]
                rows[f"{question}{PRIOR}"] = (prior * own).sum(dim=(-2, -1)) / n_answers
        return rows


@dataclass(eq=False)
class JointEm(TruthMethod):
    """Learns the true class of items and the annotators' confusion matrices from all answers to an
    item together.

    What is maximised is the likelihood of the EM algorithm of Raykar et al. (2010) and of AggNet,
    log of the sum over classes c of p(c | item) times P(answer | annotator, c) of all annotators of
    the item. Its gradient is that of an M-step under the posterior classes of the E-step; every
    batch does both. The matrices start from those of Dawid and Skene. An item's distribution is
    that of the classes, predicted from the content alone. Prefer `AnnotatorConfusions` if most
    items have one answer, `AnnotatorHeads` if annotators differ in opinion and there is no truth.

    Args:
        smoothing: answers to items of each class that are added to each annotator's, distributed as
            those of all annotators.

    Reference: Raykar et al. (2010), Learning From Crowds, JMLR 11; Albarqouni et al. (2016),
    AggNet, doi 10.1109/TMI.2016.2528120.
    """

    smoothing: float = 1.0
    training: Training = Training(epochs=20, least_steps=1000, learning_rate=1e-2)
    first_confusions_: dict[str, np.ndarray] = field(init=False, repr=False, default_factory=dict)
    name: ClassVar[str] = "joint-em"
    choices: ClassVar[Choices] = {**TRUNK_CHOICES, "smoothing": (0.3, 1.0, 3.0)}
    ranges: ClassVar[dict[str, str]] = {"smoothing": "above 0"}

    def prepare_fit(self, corpus: Corpus, validation: Corpus | None) -> None:
        questions = self.learned_.questions
        self.first_confusions_ = {q: self._first_confusions(corpus, q) for q in questions}

    def _first_confusions(self, corpus: Corpus, question: str) -> np.ndarray:
        """Logarithms of each annotator's answers to items of each class, (n_annotators, n_values,
        n_values), under the classes that Dawid and Skene find."""
        rows = corpus[question]
        truth = DawidSkene().fit(rows).distribution_  # (n_items, n_values)
        n_values = truth.shape[1]
        cell = rows.annotator_codes(self.name).astype(np.int64) * n_values + rows.answer
        counts = np.zeros((corpus.n_annotators * n_values, n_values))
        np.add.at(counts, cell, truth[rows.item] * rows.weight[:, None])
        counts = counts.reshape(-1, n_values, n_values).transpose(0, 2, 1)  # truth, then answer
        every = counts.sum(axis=0) + np.eye(n_values) + 1 / n_values
        counts = counts + (1 + self.smoothing) * every / every.sum(axis=1, keepdims=True)
        return np.log(counts / counts.sum(axis=2, keepdims=True))

    @property
    def has_prior(self) -> bool:
        return True

    def network(self, sizes: Sizes) -> Network:
        return _JointNet(sizes, self)

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        return tuple(_joint_loss(question) for question in sizes.scales)


def _joint_loss(question: str) -> Loss:
    """The negative log-likelihood of all answers to an item."""

    def function(outputs: Outputs, batch: Batch) -> Tensor:
        answer, weight = batch.rows.answer[question], batch.rows.weight[question]
        confusion = outputs.rows[f"{question}{CONFUSION}"]  # (n_rows, n_values, n_values)
        index = answer[:, None, None].expand(-1, confusion.shape[1], 1)
        of_answer = confusion.gather(2, index).squeeze(2)  # (n_rows, n_values)
        truth = outputs.items[question].log_softmax(dim=-1)
        joint = truth.index_add(0, batch.rows.item, of_answer * weight[:, None])
        loss = -joint.logsumexp(dim=-1)
        prior = outputs.rows.get(f"{question}{PRIOR}")  # none on a validation corpus
        if prior is not None:
            loss = loss.index_add(0, batch.rows.item, -prior * weight)
        return loss

    def answered(batch: Batch) -> Tensor:
        rows = batch.rows
        n_answers = torch.zeros_like(batch.share, dtype=rows.weight[question].dtype)
        return (n_answers.index_add(0, rows.item, rows.weight[question]) > 0).to(batch.share.dtype)

    return Loss(question, "item", function, weight=answered)
