"""A confusion matrix for each annotator, learned by gradient together with the class model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from dissensus.methods.framework.losses import PENALTY, penalised
from dissensus.methods.framework.settings import TRUNK_CHOICES, Choices
from dissensus.methods.framework.truth_method import (
    TruthMethod,
    TruthNet,
    diagonal_logits,
    seen_through,
)
from dissensus.training import Batch, Loss, Network, Sizes, Training


class _ConfusionsNet(TruthNet):
    def __init__(self, sizes: Sizes, method: AnnotatorConfusions) -> None:
        super().__init__(sizes, method)
        self.precision = 1 / method.spread**2
        self.trace, self.union = method.trace, method.union
        self.class_volume, self.confusion_volume = method.class_volume, method.confusion_volume
        for number, (question, scale) in enumerate(sizes.scales.items()):
            shared = diagonal_logits(scale.n_columns, method.accuracy)
            own = torch.zeros(sizes.n_annotators, *shared.shape)
            if self.union:
                shared, own = torch.zeros_like(shared), own + shared
            learned = nn.Parameter(shared, requires_grad=not self.union)
            self.register_parameter(f"shared_{number}", learned)
            self.register_parameter(f"own_{number}", nn.Parameter(own))
            n_answers = torch.as_tensor(method.learned_.n_answers[question])
            self.register_buffer(f"n_answers_{number}", n_answers.clamp(min=1))

    def rows_of(
        self, features: Tensor, truth: dict[str, Tensor], batch: Batch
    ) -> dict[str, Tensor]:
        annotator = batch.annotators[batch.rows.annotator]  # (n_rows,) codes
        rows = {}
        for number, (question, logits) in enumerate(truth.items()):
            shared, every = getattr(self, f"shared_{number}"), getattr(self, f"own_{number}")
            own = every[annotator]  # (n_rows, n_values, n_values)
            confusion = (shared + own).log_softmax(dim=-1)
            log_truth = logits.log_softmax(dim=-1)[batch.rows.item]
            rows[question] = seen_through(log_truth, confusion)
            if self.training:
                trace = confusion.diagonal(dim1=-2, dim2=-1).exp().mean(dim=-1)
                n_answers = getattr(self, f"n_answers_{number}")[annotator]
                squares = own.square().sum(dim=(-2, -1)) / n_answers
                penalty = 0.5 * self.precision * squares + self.trace * trace
                if self.union:  # the cross-entropy and this penalty are -log p(annotator, answer)
                    of_class = (shared + every).logsumexp(dim=(0, 2))  # of all answers
                    rows[question] = seen_through(log_truth, shared + own - of_class[:, None])
                    penalty = penalty - rows[question].logsumexp(dim=-1)
                if self.class_volume:
                    classes, share = logits.softmax(dim=-1), batch.share / batch.share.sum()
                    volume = log_determinant(classes.T @ (classes * share[:, None]))
                    penalty = penalty - self.class_volume * volume
                if self.confusion_volume:
                    matrices = (shared + every).softmax(dim=-1)  # (n_annotators, truth, answer)
                    products = matrices @ matrices.transpose(1, 2)
                    volume = log_determinant(products.mean(dim=0))
                    penalty = penalty - self.confusion_volume * volume
                rows[f"{question}{PENALTY}"] = penalty
        return rows


@dataclass(eq=False)
class AnnotatorConfusions(TruthMethod):
    """Learns the true class of items and a confusion matrix for each annotator, by gradient.

    p(answer | item, annotator) is the sum over classes c of p(c | item) P(answer | annotator, c).
    The logits of an annotator's matrix are those of a shared matrix plus a deviation, which has a
    normal prior: the fewer answers an annotator gave, the closer is the matrix to the shared one.
    An item's distribution is that of the classes. Prefer `Madl` if annotators err on some items
    more than on others, `AnnotatorHeads` if annotators differ in opinion and there is no truth.

    Args:
        accuracy: how likely an annotator is right in the first confusion matrix.
        spread: the standard deviation of the prior of deviations; inf for none.
        trace: the weight of the mean trace of the confusion matrices in the loss. Above 0, of all
            matrices that explain the answers those are learned that are furthest from the identity.
        class_volume: the weight of the volume of class probabilities in the loss, which is to be
            large: the logarithm of the determinant of F'F, F being those of a batch, (n_items,
            n_values).
        confusion_volume: the same of all confusion matrices, side by side.

        union: whether annotators share no matrix, and in training a class has one distribution over
            the answers of all annotators together, which also explains who answered.

    Published methods without the trace are `geo-f` and `geo-w` (GeoCrowdNet), each with one of the
    volumes and almost without the prior, and `union-net`, with the union and without the prior.

    Reference: Tanno, Saeedi, Sankaranarayanan, Alexander & Silberman (2019), Learning from Noisy
    Labels by Regularized Estimation of Annotator Confusion, CVPR, arXiv 1902.03680; there, matrices
    are independent and the trace has the weight .01. Volumes: Ibrahim, Nguyen & Fu (2023), Deep
    Learning From Crowdsourced Labels: Coupled Cross-Entropy Minimization, Identifiability, and
    Regularization, ICLR, arXiv 2306.03288. Union: Wei, Xie, Feng, Han & An (2022), Deep Learning
    From Multiple Noisy Annotators as a Union, doi 10.1109/TNNLS.2022.3168696, variant B.
    """

    accuracy: float = 0.8
    spread: float = 1.0
    trace: float = 0.01
    class_volume: float = 0.0
    confusion_volume: float = 0.0
    union: bool = False
    training: Training = Training(epochs=20, least_steps=1000, learning_rate=1e-2)
    name: ClassVar[str] = "annotator-confusions"
    choices: ClassVar[Choices] = {**TRUNK_CHOICES, "spread": (0.3, 1.0, 3.0)}
    ranges: ClassVar[dict[str, str]] = {
        "accuracy": "above 0 and below 1",
        "spread": "above 0, or inf for no prior",
        "trace": "at least 0",
        "class_volume": "at least 0",
        "confusion_volume": "at least 0",
    }

    @property
    def has_prior(self) -> bool:
        return math.isfinite(self.spread)

    def network(self, sizes: Sizes) -> Network:
        return _ConfusionsNet(sizes, self)

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        return tuple(penalised(loss) for loss in super().losses(sizes))


def log_determinant(products: Tensor) -> Tensor:
    """The logarithm of the determinant of mean products of probabilities, (n_values, n_values), to
    which 1e-4 of the identity is added, since it may be singular.

    It is found by elimination, whose steps can be stacked, and captured on a GPU.
    """
    left = products + 1e-4 * torch.eye(len(products)).to(products)
    total = products.new_zeros(())
    for _ in range(len(products)):
        pivot, column = left[0, 0], left[1:, 0]
        total = total + pivot.log()
        left = left[1:, 1:] - torch.outer(column, column) / pivot
    return total
