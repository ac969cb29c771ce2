"""UnionNet: the answers of all annotators are seen through one transition matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from torch import Tensor, nn

from dissensus.methods.framework.settings import TRUNK_CHOICES, Choices
from dissensus.methods.framework.truth_method import (
    TruthMethod,
    TruthNet,
    diagonal_logits,
    seen_through,
)
from dissensus.training import Batch, Loss, Network, Outputs, Sizes, Training

UNION = ", among the answers of all"  # is added to the name of an output that only the loss reads


class _UnionNet(TruthNet):
    def __init__(self, sizes: Sizes, method: UnionNet) -> None:
        super().__init__(sizes, method)
        for number, scale in enumerate(sizes.scales.values()):
            first = diagonal_logits(scale.n_columns, method.accuracy)
            logits = first.repeat(sizes.n_annotators, 1, 1)
            self.register_parameter(f"transition_{number}", nn.Parameter(logits))

    def rows_of(
        self, features: Tensor, truth: dict[str, Tensor], batch: Batch
    ) -> dict[str, Tensor]:
        annotator = batch.annotators[batch.rows.annotator]  # (n_rows,) codes
        rows = {}
        for number, (question, logits) in enumerate(truth.items()):
            transition = getattr(self, f"transition_{number}")  # (n_annotators, n_values, n_values)
            own = transition[annotator]
            log_truth = logits.log_softmax(dim=-1)[batch.rows.item]
            rows[question] = seen_through(log_truth, own.log_softmax(dim=-1))
            if self.training:
                total = transition.logsumexp(dim=(0, 2))  # of each class, over all answers
                rows[f"{question}{UNION}"] = seen_through(log_truth, own - total[:, None])
        return rows


@dataclass(eq=False)
class UnionNet(TruthMethod):
    """Learns the true class of items and one transition matrix to the answers of all annotators.

    For each class, the matrix has a distribution over all pairs of an annotator and an answer. The
    loss is the negative logarithm of sum over classes c of p(c | item) P(annotator, answer | c): it
    also explains who answered. An annotator's answer is predicted by the part of the matrix that
    belongs to the annotator, each row divided by its sum. An item's distribution is that of the
    classes. Prefer `AnnotatorConfusions`, whose matrices have a prior, if annotators gave few
    answers.

    Args:
        accuracy: how likely an annotator is right in the first matrix.

    Reference: Wei, Xie, Feng, Han & An (2022), Deep Learning From Multiple Noisy Annotators as a
    Union, IEEE TNNLS, doi 10.1109/TNNLS.2022.3168696; this is its variant B.
    """

    accuracy: float = 0.8
    training: Training = Training(epochs=20, least_steps=1000, learning_rate=1e-2)
    name: ClassVar[str] = "union-net"
    choices: ClassVar[Choices] = {**TRUNK_CHOICES, "accuracy": (0.6, 0.8, 0.95)}
    ranges: ClassVar[dict[str, str]] = {"accuracy": "above 0 and below 1"}

    def network(self, sizes: Sizes) -> Network:
        return _UnionNet(sizes, self)

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        return tuple(_union(loss) for loss in super().losses(sizes))


def _union(loss: Loss) -> Loss:
    """In training, how unlikely each answer is among those of all annotators."""

    def function(outputs: Outputs, batch: Batch) -> Tensor:
        among_all = outputs.rows.get(f"{loss.name}{UNION}")
        if among_all is None:  # on a validation corpus
            return loss.function(outputs, batch)
        return -among_all.gather(1, batch.rows.answer[loss.name][:, None]).squeeze(1)

    return replace(loss, function=function)
