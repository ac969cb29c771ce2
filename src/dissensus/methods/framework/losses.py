"""Losses that several methods minimise: of answers, of labels, and of whole distributions.

What is learned of items stands in the batch's targets under the question's name, and how much an
item counts under "QUESTION.weight".
"""

from __future__ import annotations

import torch
from torch import Tensor

from dissensus.networks.divergences import Divergence
from dissensus.networks.likelihoods import Likelihood, likelihood
from dissensus.scales import MultiLabel, Scale
from dissensus.training import Batch, Loss, Outputs, Sizes


def answer_losses(sizes: Sizes) -> tuple[Loss, ...]:
    """For each question the negative log-likelihood of every annotator's answer, over rows."""
    return tuple(_answer_loss(question, scale) for question, scale in sizes.scales.items())


def repeated_losses(sizes: Sizes) -> tuple[Loss, ...]:
    """The same where a network answers for items: every answer is compared with the item's."""
    return tuple(_repeated_loss(question, scale) for question, scale in sizes.scales.items())


def label_losses(
    sizes: Sizes, smoothing: float = 0.0, *, costs: bool = False, under: str = ""
) -> tuple[Loss, ...]:
    """For each question that of the item's one label, over items.

    Args:
        smoothing: the share of the label that is spread evenly over all values.
        costs: whether it is multiplied by what it costs to answer as the network now would, which
            stands in the targets under "QUESTION.cost", (n_items, n_values).
        under: what stands behind the question's name in that of the target.
    """
    return tuple(
        _label_loss(question, scale, smoothing, costs, f"{question}{under}")
        for question, scale in sizes.scales.items()
    )


def soft_losses(sizes: Sizes, kind: Divergence) -> tuple[Loss, ...]:
    """For each question how far the prediction is from the item's distribution, over items."""
    return tuple(_soft_loss(question, scale, kind) for question, scale in sizes.scales.items())


def item_weight(target: str, batch: Batch) -> Tensor:
    """How much each item counts for a target; an item in several batches counts once in all."""
    return batch.targets[f"{target}.weight"] * batch.share


def _answer_loss(question: str, scale: Scale) -> Loss:
    reading = likelihood(scale)

    def loss(outputs: Outputs, batch: Batch) -> Tensor:
        return reading.loss(outputs.rows[question], batch.rows.answer[question])

    return Loss(question, "row", loss, weight=lambda batch: batch.rows.weight[question])


def _repeated_loss(question: str, scale: Scale) -> Loss:
    reading = likelihood(scale)

    def loss(outputs: Outputs, batch: Batch) -> Tensor:
        raw = outputs.items[question][batch.rows.item]  # (n_rows, width)
        return reading.loss(raw, batch.rows.answer[question])

    return Loss(question, "row", loss, weight=lambda batch: batch.rows.weight[question])


def _label_loss(question: str, scale: Scale, smoothing: float, costs: bool, target: str) -> Loss:
    reading = likelihood(scale)

    def loss(outputs: Outputs, batch: Batch) -> Tensor:
        raw = outputs.items[question][:, : reading.width]
        found = reading.loss(raw, batch.targets[target])
        if smoothing:
            found = (1 - smoothing) * found + smoothing * _evenly(reading, scale, raw)
        if costs:
            said = reading.value(raw).unsqueeze(1)
            found = found * batch.targets[f"{question}.cost"].gather(1, said).squeeze(1)
        return found

    return Loss(target, "item", loss, weight=lambda batch: item_weight(target, batch))


def _evenly(reading: Likelihood, scale: Scale, raw: Tensor) -> Tensor:
    """The cross-entropy to a target that says nothing: every value alike, or yes as no."""
    mass = 0.5 if isinstance(scale, MultiLabel) else 1 / scale.n_columns
    return reading.soft_loss(raw, torch.full_like(raw, mass))


def _soft_loss(question: str, scale: Scale, kind: Divergence) -> Loss:
    reading = likelihood(scale)

    def loss(outputs: Outputs, batch: Batch) -> Tensor:
        return reading.soft_loss(outputs.items[question], batch.targets[question], kind)

    return Loss(question, "item", loss, weight=lambda batch: item_weight(question, batch))
