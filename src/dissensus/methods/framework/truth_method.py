"""TruthMethod: a model of the true value of each item, and of how annotators see it."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from dissensus.methods.framework.losses import answer_losses
from dissensus.methods.framework.settings import TRUNK_CHOICES, Choices
from dissensus.methods.framework.trained import TrainedMethod
from dissensus.networks.heads import Head, Trunk
from dissensus.networks.likelihoods import likelihood
from dissensus.training import Batch, Loss, Network, Outputs, Sizes, Training

ReadOut = Literal["truth", "annotators"]
PUBLISHED = Training(  # as MaDL and annot-mix are trained
    epochs=50,
    least_steps=1000,
    batch_size=64,
    optimiser="radam",
    learning_rate=1e-2,
    weight_decay=0.0,
    warm_up=0,
)
FIRST = ", through the first confusion"  # is added to the name of an output of the class model


class TruthNet(Network):
    """Hidden layers that the questions share, and for each question a head with logits of the true
    value. A subclass says how the annotator of a row sees it."""

    def __init__(self, sizes: Sizes, method: TruthMethod) -> None:
        super().__init__()
        self.pretrains = getattr(method, "pretrain", 0.0) > 0
        self.trunk = Trunk.over(sizes.widths, method.hidden, method.dropout)
        self.questions = tuple(sizes.scales)
        for number, (question, scale) in enumerate(sizes.scales.items()):
            head = Head(self.trunk.width, likelihood(scale), sizes.start.get(question))
            self.add_module(f"truth_{number}", head)

    def add_confusions(self, sizes: Sizes, width: int, accuracy: float) -> None:
        """Layers from embeddings to the confusion matrix of each question, and the first matrix,
        in which answers are right with this probability."""
        for number, scale in enumerate(sizes.scales.values()):
            first = diagonal_logits(scale.n_columns, accuracy)
            output = nn.Linear(width, scale.n_columns**2)
            with torch.no_grad():
                output.bias.copy_(first.flatten())
            self.add_module(f"confusion_{number}", output)
            self.register_buffer(f"first_{number}", first.log_softmax(dim=-1))

    def forward(self, batch: Batch) -> Outputs:
        features = self.trunk(batch.pooled)  # (n_items, width)
        truth = {
            question: self.get_submodule(f"truth_{number}")(features)
            for number, question in enumerate(self.questions)
        }
        return Outputs(rows=self.rows_of(features, truth, batch), items=truth)

    def seen_by(self, number: int, log_truth: Tensor, embedding: Tensor) -> dict[str, Tensor]:
        """Logarithms of the distribution of rows' answers to the question of this number, through
        confusions of embeddings, and in training through the first confusion too.

        Args:
            log_truth: of the true value, (n_rows, n_values).
            embedding: (n_rows, width).
        """
        question, n_values = self.questions[number], log_truth.shape[-1]
        confusion = self.get_submodule(f"confusion_{number}")(embedding)
        confusion = confusion.unflatten(-1, (n_values, n_values)).log_softmax(dim=-1)
        answers = {question: seen_through(log_truth, confusion)}
        if self.training and self.pretrains:
            first = getattr(self, f"first_{number}")
            answers[f"{question}{FIRST}"] = seen_through(log_truth, first)
        return answers

    @abstractmethod
    def rows_of(
        self, features: Tensor, truth: dict[str, Tensor], batch: Batch
    ) -> dict[str, Tensor]:
        """Logits of each row's answer by question, (n_rows, n_values), and what losses need.

        Args:
            features: of items, (n_items, width).
            truth: logits of the true value of items by question, (n_items, n_values).
        """


@dataclass(eq=False)
class TruthMethod(TrainedMethod):
    """A method with a model of the truth, from which the answers of annotators follow.

    Args:
        hidden: widths of the hidden layers that all questions share.
        dropout: of the vectors and the hidden layers.
        read: what an item's distribution is: that of the "truth", or the mean of its "annotators".
            It may be changed after the fit.
    """

    hidden: tuple[int, ...] = (64,)
    dropout: float = 0.5
    read: ReadOut = "truth"
    individual: ClassVar[bool] = True
    needs_rows: ClassVar[bool] = True
    scales: ClassVar[tuple[str, ...]] = ("nominal", "ordinal")
    instead: ClassVar[str] = "annotator-heads"
    choices: ClassVar[Choices] = TRUNK_CHOICES

    @property
    def predicts_truth(self) -> bool:
        return self.read == "truth"

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        return answer_losses(sizes)


def after_pretraining(losses: tuple[Loss, ...], share: float) -> tuple[Loss, ...]:
    """In the first share of the epochs, losses of answers through the first confusion, so that the
    class model learns alone; then the losses themselves.

    Without this, a flexible confusion matrix may explain the answers instead of the class model,
    and classes change their meaning.
    """
    if not share:
        return losses

    def function(loss: Loss, outputs: Outputs, batch: Batch) -> Tensor:
        rows = outputs.rows | {loss.name: outputs.rows[f"{loss.name}{FIRST}"]}
        return loss.function(Outputs(rows=rows, items=outputs.items), batch)

    first = (replace(loss, name=f"{loss.name}{FIRST}", function=partial(function, loss),
                     during=(0.0, share)) for loss in losses)  # fmt: skip
    return (*first, *(replace(loss, during=(share, 1.0)) for loss in losses))


# ---- confusion matrices: how an annotator's answers depend on the truth, row by row ----


def seen_through(log_truth: Tensor, log_confusion: Tensor) -> Tensor:
    """The logarithm of the distribution of an annotator's answer.

    It is the sum over all true values c of p(c) P(answer | c).

    Args:
        log_truth: of the true value, (n, n_values).
        log_confusion: of the answer (last axis) for each true value, (n, n_values, n_values).
    """
    return (log_truth.unsqueeze(-1) + log_confusion).logsumexp(dim=-2)


def diagonal_logits(n_values: int, share: float) -> Tensor:
    """Logits of a confusion matrix whose answers are right with this probability, and otherwise
    each wrong value with the same, (n_values, n_values)."""
    others = max(1, n_values - 1)
    return torch.eye(n_values) * math.log(share * others / (1 - share))
