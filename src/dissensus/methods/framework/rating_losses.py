"""Losses of predicted ratings as positions on [-1, 1]: concordance and squared error."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from dissensus.errors import ModelError
from dissensus.methods.framework.losses import answer_losses
from dissensus.networks.likelihoods import NormalLikelihood, likelihood
from dissensus.scales import Interval, Ordinal, Scale
from dissensus.training import Batch, Loss, Outputs, Sizes

RatingLoss = Literal["likelihood", "ccc", "mse"]
MOMENTS = "moments"
SMALLEST = 1e-8  # added to a concordance's denominator, which is 0 where all ratings are equal
SMALLEST_VARIANCE = 0.01  # of the ratings of an item, on [-1, 1]; equal ratings have none


def rating_losses(sizes: Sizes, kind: RatingLoss) -> tuple[Loss, ...]:
    """The losses of the answers of annotators.

    Args:
        kind: "likelihood" of each answer, a loss for each question; "ccc", 1 - concordance of all
            predicted and given ratings of a batch, or "mse", their squared error, each summed over
            the questions as one loss.
    """
    if kind == "likelihood":
        return answer_losses(sizes)
    error = _one_minus_ccc if kind == "ccc" else _squared_error

    def loss(outputs: Outputs, batch: Batch) -> Tensor:
        total = torch.zeros((), device=batch.items.device)
        for question, scale in sizes.scales.items():
            raw, answer = outputs.rows[question], batch.rows.answer[question]
            weight = batch.rows.weight[question]
            total = total + error(positions(scale, raw), answer_positions(scale, answer), weight)
            total = total + _spread_only(scale, raw, answer, weight)
        return total

    return (Loss(kind, "batch", loss, weight=_answers),)


def moments_loss(sizes: Sizes, weight: float, left_out: int | None = None) -> Loss:
    """How far the mean and the variance of an item's predicted ratings are from those of its
    ratings, summed over the questions: the KL divergence of two normal distributions.

    The predicted variance is the mean of the variances of the annotators, and the variance of their
    means. Items with fewer than two ratings of each question do not count.

    Args:
        weight: the loss is multiplied by it.
        left_out: the code of an annotator whose answers do not count.
    """

    def members(batch: Batch, question: str) -> Tensor:
        """Which rows count for an item, (n_items, n_rows)."""
        rows = batch.rows
        counts = rows.weight[question] > 0
        if left_out is not None:
            counts = counts & (batch.annotators[rows.annotator] != left_out)
        places = torch.arange(len(batch.items), device=rows.item.device)
        return ((rows.item == places[:, None]) & counts).float()

    def loss(outputs: Outputs, batch: Batch) -> Tensor:
        total = torch.zeros(len(batch.items), device=batch.items.device)
        for question, scale in sizes.scales.items():
            raw = outputs.rows[question]
            own = members(batch, question).to(raw.dtype)
            share = own / own.sum(dim=1, keepdim=True).clamp(min=1)
            answers = answer_positions(scale, batch.rows.answer[question]).to(raw.dtype)
            given, given_variance = _moments(share, answers)
            predicted, between = _moments(share, positions(scale, raw))
            variance = share @ variances(scale, raw) + between
            total = total + _normal_kl(predicted, variance, given, given_variance)
        return weight * total

    def counts(batch: Batch) -> Tensor:
        several = [members(batch, question).sum(dim=1) >= 2 for question in sizes.scales]
        return torch.stack(several).all(dim=0) * batch.share

    return Loss(MOMENTS, "item", loss, weight=counts)


def check_ratings(method: str, setting: str, question: str, scale: Scale) -> None:
    """Refuse answers that have no position between two ends."""
    if not isinstance(scale, Interval | Ordinal):
        raise ModelError(
            f"{method}: {setting} needs ordinal or interval answers, but {question!r} is "
            f"{scale.kind}; choose another setting, or declare the scale when reading"
        )


def positions(scale: Scale, raw: Tensor) -> Tensor:
    """The predicted position on [-1, 1] of each row, (n_rows,): the mean, or the expected level."""
    if isinstance(scale, Interval):
        return NormalLikelihood(scale).mean(raw)
    return likelihood(scale).distribution(raw) @ _levels(scale, raw)


def variances(scale: Scale, raw: Tensor) -> Tensor:
    """The predicted variance of each row, (n_rows,), of positions on [-1, 1]."""
    if isinstance(scale, Interval):
        return NormalLikelihood(scale).variance(raw)
    off = _levels(scale, raw) - positions(scale, raw)[:, None]
    return (likelihood(scale).distribution(raw) * off**2).sum(dim=1)


def _levels(scale: Scale, raw: Tensor) -> Tensor:
    return torch.linspace(-1, 1, scale.n_columns, dtype=raw.dtype, device=raw.device)


def answer_positions(scale: Scale, answer: Tensor) -> Tensor:
    """Answers in the form that the likelihood expects, as positions on [-1, 1], (n_rows,)."""
    if isinstance(scale, Interval):
        return answer
    return answer.float() * (2 / max(scale.n_columns - 1, 1)) - 1


def weighted_ccc(x: Tensor, y: Tensor, weight: Tensor) -> Tensor:
    """Lin's concordance of two vectors, with unbiased variances; rows of weight 0 do not count.

    0 where both are constant.
    """
    n = weight.sum().clamp(min=SMALLEST)
    mean_x, mean_y = (weight * x).sum() / n, (weight * y).sum() / n
    of_x, of_y = x - mean_x, y - mean_y
    freedom = (n - 1).clamp(min=SMALLEST)
    covariance = (weight * of_x * of_y).sum() / freedom
    variances = (weight * (of_x**2 + of_y**2)).sum() / freedom
    return 2 * covariance / (variances + (mean_x - mean_y) ** 2 + SMALLEST)


def _one_minus_ccc(x: Tensor, y: Tensor, weight: Tensor) -> Tensor:
    return 1 - weighted_ccc(x, y, weight)


def _squared_error(x: Tensor, y: Tensor, weight: Tensor) -> Tensor:
    return (weight * (x - y) ** 2).sum() / weight.sum().clamp(min=SMALLEST)


def _spread_only(scale: Scale, raw: Tensor, answer: Tensor, weight: Tensor) -> Tensor:
    """0, with the gradient of the likelihood for the spread of ratings alone.

    So annotators have a density although positions are learned by another loss.
    """
    if not isinstance(scale, Interval):
        return raw.new_zeros(())
    fixed = torch.cat([raw[:, :1].detach(), raw[:, 1:]], dim=1)
    unlikely = NormalLikelihood(scale).loss(fixed, answer)
    mean = (weight * unlikely).sum() / weight.sum().clamp(min=SMALLEST)
    return mean - mean.detach()


def _moments(share: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and variance of the values of rows for each item; `share` is (n_items, n_rows)."""
    mean = share @ values
    return mean, (share * (values - mean[:, None]) ** 2).sum(dim=1)


def _normal_kl(mean: Tensor, variance: Tensor, of_mean: Tensor, of_variance: Tensor) -> Tensor:
    """The KL divergence of a normal distribution from another one."""
    other = of_variance.clamp(min=SMALLEST_VARIANCE)
    ratio = variance.clamp(min=SMALLEST_VARIANCE) / other
    return 0.5 * (ratio + (mean - of_mean) ** 2 / other - 1 - ratio.log())


def _answers(batch: Batch) -> Tensor:
    """How often each row counts: once for each question that it answers."""
    return torch.stack(list(batch.rows.weight.values())).sum(dim=0)
