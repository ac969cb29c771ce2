"""Losses that several methods minimise: of answers and ratings, of labels and of distributions.

The targets of items are in `batch.targets` under the name of the question, and their weights under
"QUESTION.weight".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
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


def answer_losses(sizes: Sizes) -> tuple[Loss, ...]:
    """The negative log-likelihood of every annotator's answer, for each question, over rows."""
    return _row_losses(sizes, lambda outputs, batch, question: outputs.rows[question])


def repeated_losses(sizes: Sizes) -> tuple[Loss, ...]:
    """The same for a network that predicts items: every answer is compared with its item's."""
    return _row_losses(
        sizes, lambda outputs, batch, question: outputs.items[question][batch.rows.item]
    )


def label_losses(sizes: Sizes, smoothing: float = 0.0, *, costs: bool = False) -> tuple[Loss, ...]:
    """The negative log-likelihood of each item's label, for each question, over items.

    Args:
        smoothing: the share of the label that is spread evenly over all values.
        costs: whether to multiply by the cost of the value that the network predicts now, from
            the target "QUESTION.cost", (n_items, n_values).
    """
    return tuple(
        _label_loss(question, scale, smoothing, costs) for question, scale in sizes.scales.items()
    )


def soft_losses(sizes: Sizes, kind: Divergence) -> tuple[Loss, ...]:
    """The divergence of predictions from items' distributions, for each question, over items."""

    def of_question(question: str, scale: Scale) -> Loss:
        family = likelihood(scale)

        def loss(outputs: Outputs, batch: Batch) -> Tensor:
            return family.soft_loss(outputs.items[question], batch.targets[question], kind)

        return Loss(question, "item", loss, weight=lambda batch: item_weight(question, batch))

    return tuple(of_question(question, scale) for question, scale in sizes.scales.items())


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


def _row_losses(sizes: Sizes, raw_of: Callable[[Outputs, Batch, str], Tensor]) -> tuple[Loss, ...]:
    def of_question(question: str, scale: Scale) -> Loss:
        family = likelihood(scale)

        def loss(outputs: Outputs, batch: Batch) -> Tensor:
            return family.loss(raw_of(outputs, batch, question), batch.rows.answer[question])

        return Loss(question, "row", loss, weight=lambda batch: batch.rows.weight[question])

    return tuple(of_question(question, scale) for question, scale in sizes.scales.items())


def _label_loss(question: str, scale: Scale, smoothing: float, costs: bool) -> Loss:
    family = likelihood(scale)

    def loss(outputs: Outputs, batch: Batch) -> Tensor:
        raw = outputs.items[question][:, : family.width]
        losses = family.loss(raw, batch.targets[question])
        if smoothing:
            losses = (1 - smoothing) * losses + smoothing * _uniform_loss(family, scale, raw)
        if costs:
            predicted = family.value(raw).unsqueeze(1)
            losses = losses * batch.targets[f"{question}.cost"].gather(1, predicted).squeeze(1)
        return losses

    return Loss(question, "item", loss, weight=lambda batch: item_weight(question, batch))


def _uniform_loss(family: Likelihood, scale: Scale, raw: Tensor) -> Tensor:
    """The cross-entropy to a uniform target (multi-label: one half for each value)."""
    mass = 0.5 if isinstance(scale, MultiLabel) else 1 / scale.n_columns
    return family.soft_loss(raw, torch.full_like(raw, mass))


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


def _answers(batch: Batch) -> Tensor:
    """How often each row counts: once for each question that it answers."""
    return torch.stack(list(batch.rows.weight.values())).sum(dim=0)
