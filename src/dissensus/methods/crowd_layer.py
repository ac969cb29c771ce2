"""Crowd layer: each annotator's answers are a linear function of the class probabilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import torch
from torch import Tensor, nn

from dissensus.methods.framework.settings import TRUNK_CHOICES, Choices
from dissensus.methods.framework.truth_method import TruthMethod, TruthNet
from dissensus.training import Batch, Network, Sizes, Training

Layer = Literal["matrix", "weights", "biases", "weights+biases"]
FIRST: dict[str, Callable[[int], Tensor]] = {  # tables of an annotator, by the number of values
    "matrix": torch.eye, "weights": torch.ones, "biases": torch.zeros
}  # fmt: skip


class _CrowdNet(TruthNet):
    def __init__(self, sizes: Sizes, method: CrowdLayer) -> None:
        super().__init__(sizes, method)
        self.kinds = method.layer.split("+")
        for number, scale in enumerate(sizes.scales.values()):
            for kind in self.kinds:
                first = FIRST[kind](scale.n_columns)
                table = nn.Parameter(first.repeat(sizes.n_annotators, *[1] * first.ndim))
                self.register_parameter(f"{kind}_{number}", table)

    def tables(self) -> list[nn.Parameter]:
        kinds = tuple(FIRST)
        return [table for name, table in self.named_parameters() if name.startswith(kinds)]

    def rows_of(
        self, features: Tensor, truth: dict[str, Tensor], batch: Batch
    ) -> dict[str, Tensor]:
        annotator = batch.annotators[batch.rows.annotator]  # (n_rows,) codes
        rows = {}
        for number, (question, logits) in enumerate(truth.items()):
            seen = logits.softmax(dim=-1)[batch.rows.item]  # (n_rows, n_values)
            own = {kind: getattr(self, f"{kind}_{number}")[annotator] for kind in self.kinds}
            if "matrix" in own:
                seen = torch.einsum("rz,rzc->rc", seen, own["matrix"])
            seen = seen * own.get("weights", 1)
            rows[question] = seen + own.get("biases", 0)
        return rows


@dataclass(eq=False)
class CrowdLayer(TruthMethod):
    """Learns the true class of items through a layer for each annotator on top of it.

    The layer multiplies the probabilities of the classes by a matrix of the annotator, the identity
    at first; the result is the logits of the annotator's answer. An item's distribution is that of
    the classes. The matrix is no confusion matrix: nothing keeps its rows positive, and with many
    epochs classes may change their meaning. Prefer `AnnotatorConfusions` or `JointEm` if annotators
    gave few answers, `Madl` if they err on some items more than on others.

    Args:
        layer: what each annotator has: a "matrix", "weights" of the classes, "biases", or
            "weights+biases"; MW, VW, VB and VW+B in the paper.

    Reference: Rodrigues & Pereira (2018), Deep Learning from Crowds, AAAI, arXiv 1709.01779.
    """

    layer: Layer = "matrix"
    training: Training = Training(epochs=20, least_steps=1000, learning_rate=1e-2)
    name: ClassVar[str] = "crowd-layer"
    choices: ClassVar[Choices] = {**TRUNK_CHOICES, "layer": get_args(Layer)}

    def network(self, sizes: Sizes) -> Network:
        return _CrowdNet(sizes, self)
