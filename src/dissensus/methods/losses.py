"""Losses that several methods minimise: the likelihood of answers, and of labels."""

from __future__ import annotations

from torch import Tensor

from dissensus.networks.likelihoods import likelihood
from dissensus.scales import Scale
from dissensus.training import Batch, Loss, Outputs, Sizes


def answer_losses(sizes: Sizes) -> tuple[Loss, ...]:
    """For each question the negative log-likelihood of every annotator's answer, over rows."""
    return tuple(_answer_loss(question, scale) for question, scale in sizes.scales.items())


def label_losses(sizes: Sizes) -> tuple[Loss, ...]:
    """For each question that of the item's one label, over items.

    The labels are the target of the question's name, and its weight that of "NAME.weight".
    """
    return tuple(_label_loss(question, scale) for question, scale in sizes.scales.items())


def _answer_loss(question: str, scale: Scale) -> Loss:
    reading = likelihood(scale)

    def loss(outputs: Outputs, batch: Batch) -> Tensor:
        return reading.loss(outputs.rows[question], batch.rows.answer[question])

    return Loss(question, "row", loss, weight=lambda batch: batch.rows.weight[question])


def _label_loss(question: str, scale: Scale) -> Loss:
    reading = likelihood(scale)

    def loss(outputs: Outputs, batch: Batch) -> Tensor:
        return reading.loss(outputs.items[question], batch.targets[question])

    def weight(batch: Batch) -> Tensor:
        return batch.targets[f"{question}.weight"] * batch.share

    return Loss(question, "item", loss, weight)
