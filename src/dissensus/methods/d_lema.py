"""D-LEMA: one independent network for each annotator, fused by how certain each is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from scipy.special import entr
from torch import Tensor, nn

from dissensus.corpus import Corpus
from dissensus.methods.framework.learned import Answers
from dissensus.methods.framework.losses import answer_losses
from dissensus.methods.framework.settings import TRUNK_CHOICES, Choices
from dissensus.methods.framework.trained import TrainedMethod
from dissensus.networks.heads import Trunk
from dissensus.networks.likelihoods import Grouped, likelihood
from dissensus.networks.noise import Dropout, positions_in_batch, uniforms
from dissensus.scales import Interval, MultiLabel, Scale
from dissensus.training import Batch, Loss, Network, Outputs, Sizes, Training

SMALLEST = 1e-6  # weight of an annotator whose distribution is uniform


class _Masks(nn.Module):
    """Dropout masks of whole networks: one for each annotator, pass and unit, for all items."""

    def __init__(self, share: float, passes: int) -> None:
        super().__init__()
        self.share, self.passes = share, passes
        self.number = 0

    def forward(self, annotators: Tensor, width: int, like: Tensor) -> Tensor:
        """Factors, (n_annotators, n_passes, width)."""
        with positions_in_batch(annotators):  # masks do not depend on the other annotators
            drawn = uniforms((len(annotators), self.passes, width), self.number, like)
        return (drawn >= self.share).to(like.dtype) / (1 - self.share)


class _IndependentNet(Network):
    """Tables with the layers of all networks; the last layer has the outputs of all questions."""

    def __init__(self, sizes: Sizes, method: DLema) -> None:
        super().__init__()
        self.vectors = Trunk.over(sizes.widths, (), method.dropout)
        families = {question: likelihood(scale) for question, scale in sizes.scales.items()}
        self.scales, self.families = sizes.scales, families
        self.n_outputs = [family.n_outputs for family in families.values()]
        widths = [self.vectors.width, *method.hidden]
        self.passes = method.passes
        self.dropouts, self.masks = nn.ModuleList(), nn.ModuleList()
        self.weights, self.biases = nn.ParameterList(), nn.ParameterList()
        for before, after in zip(widths, [*method.hidden, sum(self.n_outputs)], strict=True):
            limit = 1 / math.sqrt(before)  # as torch draws a linear layer
            shape = (sizes.n_annotators, before, after)
            self.weights.append(torch.empty(shape).uniform_(-limit, limit))
            self.masks.append(_Masks(method.dropout, method.passes))
        for width in method.hidden:
            self.biases.append(torch.zeros(sizes.n_annotators, width))
            self.dropouts.append(Dropout(method.dropout))
        for number, (question, family) in enumerate(families.items()):
            start = sizes.start.get(question)
            bias = np.zeros((sizes.n_annotators, family.width)) if start is None else start
            self.register_parameter(f"start_{number}", nn.Parameter(torch.as_tensor(bias).float()))
        with torch.no_grad():
            self.weights[-1].mul_(0.1)  # begin near the answers' base rates

    def tables(self) -> list[nn.Parameter]:
        starts = [getattr(self, f"start_{number}") for number in range(len(self.n_outputs))]
        return [*self.weights, *self.biases, *starts]

    def forward(self, batch: Batch) -> Outputs:
        values = self.vectors(batch.pooled)  # (n_items, width)
        annotator = batch.annotators[batch.rows.annotator]  # (n_rows,) codes
        if self.training:
            raw = self._one_pass(values, batch, annotator).unsqueeze(1)
        else:
            raw = self._all_passes(values, batch)
        parts = torch.split(raw, self.n_outputs, dim=-1)  # (n_rows, n_passes, n_outputs) each
        rows = {}
        for number, (question, family) in enumerate(self.families.items()):
            own = getattr(self, f"start_{number}")[annotator].unsqueeze(1)
            missing = family.width - family.n_outputs
            each = nn.functional.pad(parts[number], (0, missing)) + own
            rows[question] = _mean(self.scales[question], each)
        return Outputs(rows=rows)

    def _one_pass(self, values: Tensor, batch: Batch, annotator: Tensor) -> Tensor:
        """With dropout of its own for each row after the vectors', (n_rows, n_outputs)."""
        first, *further = self.weights  # a slice would be a copy
        if len(batch.annotators) <= len(annotator):  # few weights to copy: all pairs
            of_pairs = values @ first[batch.annotators]  # (n_annotators, n_items, n_outputs)
            rows = of_pairs[batch.rows.annotator, batch.rows.item]
        else:
            rows = torch.einsum("rw,rwo->ro", values[batch.rows.item], first[annotator])
        with positions_in_batch(batch.places.get("rows")):
            for bias, dropout, weight in zip(self.biases, self.dropouts, further, strict=True):
                rows = dropout((rows + bias[annotator]).relu())
                rows = torch.einsum("rw,rwo->ro", rows, weight[annotator])
        return rows

    def _all_passes(self, values: Tensor, batch: Batch) -> Tensor:
        """With the masks of each pass, (n_rows, n_passes, n_outputs)."""
        codes = batch.annotators
        masks = [
            mask(codes, weight.shape[1], values)
            for mask, weight in zip(self.masks, self.weights, strict=True)
        ]
        passes = []
        for n in range(self.passes):
            of_pairs = values.unsqueeze(0).expand(len(codes), -1, -1)  # (n_annotators, n_items, w)
            for number, weight in enumerate(self.weights):
                if number:
                    of_pairs = (of_pairs + self.biases[number - 1][codes].unsqueeze(1)).relu()
                masked = masks[number][:, n].unsqueeze(-1) * weight[codes]
                of_pairs = of_pairs @ masked
            passes.append(of_pairs[batch.rows.annotator, batch.rows.item])
        return torch.stack(passes, dim=1)


def _mean(scale: Scale, raw: Tensor) -> Tensor:
    """Outputs whose distribution is the mean of those of several passes, (n, width); of ratings,
    one normal density with the same mean and variance.

    Args:
        raw: (n, n_passes, width).
    """
    if raw.shape[1] == 1:
        return raw.squeeze(1)
    if isinstance(scale, Interval):
        position, spread = raw[..., 0], raw[..., 1].clamp(-4, 2).exp()
        variance = spread.square().mean(dim=1) + position.var(dim=1, correction=0)
        return torch.stack([position.mean(dim=1), 0.5 * variance.log()], dim=-1)
    if isinstance(scale, MultiLabel):
        return raw.sigmoid().mean(dim=1).logit(eps=1e-7)
    return raw.log_softmax(dim=-1).logsumexp(dim=1) - math.log(raw.shape[1])


@dataclass(eq=False)
class DLema(TrainedMethod):
    """Trains a network for each annotator, independent of the others; all at once (D-LEMA).

    The baseline of QuMATL. The original is an ensemble of Bayesian networks for masks of images,
    each trained on annotations that do not contradict one another. Here each network learns the
    answers of one annotator. Predictions are means over several dropout masks (Monte-Carlo
    dropout). An item's distribution is the mean of its annotators', weighted by how certain each
    is: 1 minus the entropy of the distribution, as a share of the largest entropy. Prefer
    `AnnotatorHeads` unless every annotator gave many answers. If the encoder is fine-tuned, the
    networks share it.

    Args:
        hidden: widths of the hidden layers of each network.
        dropout: of the vectors and the hidden layers.
        passes: dropout masks that a prediction is the mean of. They are the same for all items.
        fused: whether annotators are weighted by how certain they are, or equally.

    Reference: Mirikharaji, Abhishek, Izadi & Hamarneh (2021), D-LEMA, CVPR workshops, arXiv
    2012.07206; Zhang et al. (2025), QuMATL, arXiv 2503.15237.
    """

    hidden: tuple[int, ...] = (64,)
    dropout: float = 0.5
    passes: int = 10
    fused: bool = True
    training: Training = Training(epochs=20, least_steps=1000, learning_rate=3e-3)
    name: ClassVar[str] = "d-lema"
    individual: ClassVar[bool] = True
    needs_rows: ClassVar[bool] = True
    choices: ClassVar[Choices] = TRUNK_CHOICES
    ranges: ClassVar[dict[str, str]] = {"passes": "1 or more"}

    def network(self, sizes: Sizes) -> Network:
        return _IndependentNet(sizes, self)

    def losses(self, sizes: Sizes) -> tuple[Loss, ...]:
        return answer_losses(sizes)

    def start(self, corpus: Corpus, question: str) -> np.ndarray:
        """The biases to start from, one row for each annotator."""
        rows = corpus[question]
        annotator = rows.annotator_codes(self.name)
        of_annotators = Grouped(rows.answer, rows.weight, annotator, corpus.n_annotators, 0.0)
        starts = likelihood(rows.scale).starts(of_annotators)
        return np.where(np.isfinite(starts), starts, 0.0)  # of annotators without an answer

    def vote_weights(self, question: str, answers: Answers) -> np.ndarray:
        if not self.fused:
            return super().vote_weights(question, answers)
        return certainty(self.learned_.questions[question], answers.distribution)


def certainty(scale: Scale, distribution: np.ndarray) -> np.ndarray:
    """1 minus the entropy of each distribution as a share of the largest, at least 1e-6, (n,)."""
    if isinstance(scale, MultiLabel):
        distribution = np.stack([distribution, 1 - distribution], axis=-1)
    entropy = entr(distribution).sum(axis=-1)
    each = np.clip(1 - entropy / math.log(max(distribution.shape[-1], 2)), SMALLEST, 1)
    return np.asarray(each.mean(axis=-1) if isinstance(scale, MultiLabel) else each)
