"""Losses that several methods minimise: of answers, of labels and of distributions.

The targets of items are in `batch.targets` under the name of the question, and their weights under
"QUESTION.weight".
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from dissensus.networks.likelihoods import Divergence, Likelihood, likelihood
from dissensus.scales import MultiLabel, Scale
from dissensus.training import Batch, Loss, Outputs, Sizes

PENALTY = ", penalty"  # is added to the name of an output that `penalised` reads


def answer_losses(sizes: Sizes) -> tuple[Loss, ...]:
    """The negative log-likelihood of every annotator's answer, for each question, over rows."""
    return tuple(_answer_loss(question, scale) for question, scale in sizes.scales.items())


def repeated_losses(sizes: Sizes) -> tuple[Loss, ...]:
    """The same for a network that predicts items: every answer is compared with its item's."""
    return tuple(_repeated_loss(question, scale) for question, scale in sizes.scales.items())


def label_losses(
    sizes: Sizes, smoothing: float = 0.0, *, costs: bool = False, suffix: str = ""
) -> tuple[Loss, ...]:
    """The negative log-likelihood of each item's label, for each question, over items.

    Args:
        smoothing: the share of the label that is spread evenly over all values.
        costs: whether to multiply by the cost of the value that the network predicts now, from
            the target "QUESTION.cost", (n_items, n_values).
        suffix: added to the name of the question to get the name of its target.
    """
    return tuple(
        _label_loss(question, scale, smoothing, costs, f"{question}{suffix}")
        for question, scale in sizes.scales.items()
    )


def soft_losses(sizes: Sizes, kind: Divergence) -> tuple[Loss, ...]:
    """The divergence of predictions from items' distributions, for each question, over items."""
    return tuple(_soft_loss(question, scale, kind) for question, scale in sizes.scales.items())


def penalised(loss: Loss) -> Loss:
    """In training, the loss of each row plus the penalty that the network returns for it."""

    def function(outputs: Outputs, batch: Batch) -> Tensor:
        losses = loss.function(outputs, batch)
        penalty = outputs.rows.get(f"{loss.name}{PENALTY}")  # none on a validation corpus
        return losses if penalty is None else losses + penalty

    return replace(loss, function=function)


def item_weight(target: str, batch: Batch) -> Tensor:
    """The weight of each item for a target; an item in several batches counts once per epoch."""
    return batch.targets[f"{target}.weight"] * batch.share


def _answer_loss(question: str, scale: Scale) -> Loss:
    family = likelihood(scale)

    def loss(outputs: Outputs, batch: Batch) -> Tensor:
        return family.loss(outputs.rows[question], batch.rows.answer[question])

    return Loss(question, "row", loss, weight=lambda batch: batch.rows.weight[question])


def _repeated_loss(question: str, scale: Scale) -> Loss:
    family = likelihood(scale)

    def loss(outputs: Outputs, batch: Batch) -> Tensor:
        raw = outputs.items[question][batch.rows.item]  # (n_rows, width)
        return family.loss(raw, batch.rows.answer[question])

    return Loss(question, "row", loss, weight=lambda batch: batch.rows.weight[question])


def _label_loss(question: str, scale: Scale, smoothing: float, costs: bool, target: str) -> Loss:
    family = likelihood(scale)

    def loss(outputs: Outputs, batch: Batch) -> Tensor:
        raw = outputs.items[question][:, : family.width]
        losses = family.loss(raw, batch.targets[target])
        if smoothing:
            losses = (1 - smoothing) * losses + smoothing * _uniform_loss(family, scale, raw)
        if costs:
            predicted = family.value(raw).unsqueeze(1)
            losses = losses * batch.targets[f"{question}.cost"].gather(1, predicted).squeeze(1)
        return losses

    return Loss(target, "item", loss, weight=lambda batch: item_weight(target, batch))


def _uniform_loss(family: Likelihood, scale: Scale, raw: Tensor) -> Tensor:
    """The cross-entropy to a uniform target (multi-label: one half for each value)."""
    mass = 0.5 if isinstance(scale, MultiLabel) else 1 / scale.n_columns
    return family.soft_loss(raw, torch.full_like(raw, mass))


def _soft_loss(question: str, scale: Scale, kind: Divergence) -> Loss:
    family = likelihood(scale)

    def loss(outputs: Outputs, batch: Batch) -> Tensor:
        return family.soft_loss(outputs.items[question], batch.targets[question], kind)

    return Loss(question, "item", loss, weight=lambda batch: item_weight(question, batch))
