"""Losses that several methods minimise: of answers and ratings, of labels and of distributions.

The targets of items are in `batch.targets` under the name of the question, and their weights under
"QUESTION.weight".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal

import torch
from torch import Tensor

from dissensus.errors import ModelError
from dissensus.networks.likelihoods import Divergence, Likelihood, NormalLikelihood, likelihood
from dissensus.scales import Interval, MultiLabel, Ordinal, Scale
from dissensus.training import Batch, Loss, Outputs, Sizes

RatingLoss = Literal["likelihood", "ccc", "mse"]
SMALLEST = 1e-8  # added to a concordance's denominator, which is 0 where all ratings are equal
PENALTY = ", penalty"  # is added to the name of an output that `penalised` reads


OfQuestion = Callable[[str, Likelihood, Outputs, Batch], Tensor]


def question_losses(
    sizes: Sizes, over: Literal["row", "item"], function: OfQuestion
) -> tuple[Loss, ...]:
    """A loss of each question, weighted as its answers are, or as its targets."""
    weight = _row_weight if over == "row" else item_weight
    return tuple(
        Loss(q, over, partial(function, q, likelihood(scale)), partial(weight, q))
        for q, scale in sizes.scales.items()
    )


def answer_losses(sizes: Sizes, *, of_items: bool = False) -> tuple[Loss, ...]:
    """The negative log-likelihood of every annotator's answer, for each question, over rows.

    Args:
        of_items: whether the network predicts items: every answer is compared with its item's.
    """

    def loss(question: str, family: Likelihood, outputs: Outputs, batch: Batch) -> Tensor:
        raw = outputs.items[question][batch.rows.item] if of_items else outputs.rows[question]
        return family.loss(raw, batch.rows.answer[question])

    return question_losses(sizes, "row", loss)


def label_losses(sizes: Sizes, smoothing: float = 0.0, *, costs: bool = False) -> tuple[Loss, ...]:
    """The negative log-likelihood of each item's label, for each question, over items.

    Args:
        smoothing: the share of the label that is spread evenly over all values.
        costs: whether to multiply by the cost of the value that the network predicts now, from
            the target "QUESTION.cost", (n_items, n_values).
    """

    def loss(question: str, family: Likelihood, outputs: Outputs, batch: Batch) -> Tensor:
        raw = outputs.items[question][:, : family.width]
        losses = family.loss(raw, batch.targets[question])
        if smoothing:
            scale = sizes.scales[question]
            even = torch.full_like(raw, 0.5 if isinstance(scale, MultiLabel) else 1 / raw.shape[1])
            losses = (1 - smoothing) * losses + smoothing * family.soft_loss(raw, even)
        if costs:
            predicted = family.value(raw).unsqueeze(1)
            losses = losses * batch.targets[f"{question}.cost"].gather(1, predicted).squeeze(1)
        return losses

    return question_losses(sizes, "item", loss)


def soft_losses(sizes: Sizes, kind: Divergence) -> tuple[Loss, ...]:
    """The divergence of predictions from items' distributions, for each question, over items."""

    def loss(question: str, family: Likelihood, outputs: Outputs, batch: Batch) -> Tensor:
        return family.soft_loss(outputs.items[question], batch.targets[question], kind)

    return question_losses(sizes, "item", loss)


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


def _row_weight(question: str, batch: Batch) -> Tensor:
    return batch.rows.weight[question]


# ---- ratings, as positions on [-1, 1] ----


def rating_losses(sizes: Sizes, kind: RatingLoss) -> tuple[Loss, ...]:
    """The losses of the answers of annotators.

    Args:
        kind: "likelihood" of each answer, a loss for each question; "ccc", 1 - concordance of all
            predicted and given ratings of a batch, or "mse", their squared error, each summed over
            the questions as one loss.
    """
    if kind == "likelihood":
        return answer_losses(sizes)

    def loss(outputs: Outputs, batch: Batch) -> Tensor:
        total = torch.zeros((), device=batch.items.device)
        for question, scale in sizes.scales.items():
            raw, answer = outputs.rows[question], batch.rows.answer[question]
            weight = batch.rows.weight[question]
            predicted, observed = positions(scale, raw), answer_positions(scale, answer)
            if kind == "ccc":
                total = total + (1 - weighted_ccc(predicted, observed, weight))
            else:
                squares = (weight * (predicted - observed) ** 2).sum()
                total = total + squares / weight.sum().clamp(min=SMALLEST)
            total = total + _spread_only(scale, raw, answer, weight)
        return total

    def n_answers(batch: Batch) -> Tensor:
        """Each row counts once for each question that it answers."""
        return torch.stack(list(batch.rows.weight.values())).sum(dim=0)

    return (Loss(kind, "batch", loss, weight=n_answers),)


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
        return raw[:, 0]
    levels = torch.linspace(-1, 1, scale.n_columns, dtype=raw.dtype, device=raw.device)
    return likelihood(scale).distribution(raw) @ levels


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
