"""Losses of ratings: against the metric, by finite differences, and with padding."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dissensus.methods.framework.losses import (
    RatingLoss,
    answer_positions,
    positions,
    rating_losses,
    weighted_ccc,
)
from dissensus.metrics import concordance
from dissensus.scales import Interval, Ordinal, Scale
from dissensus.training import Batch, Outputs, Sizes
from dissensus.training.batch import Rows

SCALES: dict[str, Scale] = {"valence": Interval(1, 5), "activation": Interval(1, 5)}
SIZES = Sizes(SCALES, 3, {"text": 2})


@pytest.fixture
def ratings() -> tuple[torch.Tensor, torch.Tensor]:
    generator = np.random.default_rng(0)
    x, noise = generator.normal(size=(2, 40)) * 0.3
    return torch.from_numpy(x), torch.from_numpy(0.5 * x + 0.1 + noise)


def batch_of(answers: torch.Tensor, weight: torch.Tensor) -> Batch:
    """A batch of one item per row; answers (n_rows, 2)."""
    n = len(answers)
    at = torch.arange(n)
    rows = Rows(
        at,
        at % 3,
        {question: answers[:, k] for k, question in enumerate(SCALES)},
        dict.fromkeys(SCALES, weight),
    )
    return Batch(at, torch.ones(n), torch.arange(3), {}, {}, {}, {}, {}, rows, {}, 0)


def test_ccc_is_the_metrics(ratings: tuple[torch.Tensor, torch.Tensor]) -> None:
    x, y = ratings
    ccc = weighted_ccc(x, y, torch.ones(40))
    assert float(ccc) == pytest.approx(concordance(x.numpy(), y.numpy()), abs=1e-7)


def test_rows_of_weight_0_do_not_count(ratings: tuple[torch.Tensor, torch.Tensor]) -> None:
    x, y = ratings
    padded_x, padded_y = (torch.cat([values, torch.tensor([9.0, -7.0])]) for values in (x, y))
    weight = torch.cat([torch.ones(40), torch.zeros(2)])
    assert torch.allclose(
        weighted_ccc(padded_x, padded_y, weight), weighted_ccc(x, y, torch.ones(40))
    )


def test_equal_ratings_have_no_concordance_and_a_finite_gradient() -> None:
    x = torch.full((5,), 0.3, requires_grad=True)
    ccc = weighted_ccc(x, torch.full((5,), 0.3), torch.ones(5))
    (gradient,) = torch.autograd.grad(ccc, x)
    assert float(ccc.detach()) == 0 and torch.isfinite(gradient).all()


@pytest.mark.parametrize("kind", ["ccc", "mse"])
def test_gradients_are_finite_differences(kind: RatingLoss) -> None:
    generator = torch.Generator().manual_seed(1)
    raw = 0.3 * torch.randn(2, 6, 2, generator=generator, dtype=torch.float64)
    answers = 0.3 * torch.randn(6, 2, generator=generator, dtype=torch.float64)
    weight = torch.tensor([1.0, 2, 0, 1, 1, 1], dtype=torch.float64)
    batch = batch_of(answers, weight)
    (loss,) = rating_losses(SIZES, kind)

    def total(values: torch.Tensor) -> torch.Tensor:
        spread = raw[:, :, 1:]
        outputs = {q: torch.cat([values[k], spread[k]], 1) for k, q in enumerate(SCALES)}
        return batch.loss(Outputs(rows=outputs), (loss,))

    assert torch.autograd.gradcheck(total, raw[:, :, :1].clone().requires_grad_())


def test_the_spread_is_learned_by_likelihood_and_leaves_the_loss_as_it_is() -> None:
    answers = torch.tensor([[0.5, 0.0], [-0.5, 0.0], [0.1, 0.0]])
    batch = batch_of(answers, torch.ones(3))
    raw = torch.zeros(3, 2)
    raw[:, 0] = torch.tensor([0.4, -0.4, 0.2])
    raw.requires_grad_()
    (loss,) = rating_losses(Sizes({"valence": Interval(1, 5)}, 3, {}), "mse")
    value = batch.loss(Outputs(rows={"valence": raw}), (loss,))
    (gradient,) = torch.autograd.grad(value, raw)
    assert float(value.detach()) == pytest.approx(0.01)
    assert (gradient[:, 1] > 0).all()  # a spread of 1 is too wide for errors of .1


def test_ordinal_answers_are_expected_levels() -> None:
    scale = Ordinal(("low", "middle", "high"))
    raw = torch.log(torch.tensor([[0.2, 0.2, 0.6]]))
    assert float(positions(scale, raw)) == pytest.approx(0.4)
    assert answer_positions(scale, torch.tensor([0, 1, 2])).tolist() == [-1, 0, 1]
