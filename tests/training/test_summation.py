"""The same seed gives the same bytes, with several threads too."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from dissensus import simulate
from dissensus.methods import AnnotatorHeads
from dissensus.training import Training
from dissensus.training.summation import ordered_sums


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def gradient_of_repeated_rows() -> np.ndarray:
    generator = torch.Generator().manual_seed(0)
    rows = torch.randint(0, 50, (20_000,), generator=generator)
    features = torch.zeros(50, 64, requires_grad=True)
    loss = (features[rows] * torch.randn(20_000, 64, generator=generator)).sum()
    (gradient,) = torch.autograd.grad(loss, features)
    return gradient.numpy()


def test_gradients_of_repeated_rows_are_summed_in_the_same_order() -> None:
    with ordered_sums(torch.device("cpu")):
        gradients = [gradient_of_repeated_rows() for _ in range(5)]
    assert all(np.array_equal(gradients[0], other) for other in gradients[1:])
    assert not torch.are_deterministic_algorithms_enabled()


def test_trainings_with_the_same_seed_have_the_same_weights() -> None:
    corpus = simulate.text(n_items=120, n_annotators=6, labels_per_item=4)
    weights = [
        AnnotatorHeads(encoder="characters", init_seed=0, training=Training(epochs=1, seed=0))
        .fit(corpus)
        .weights()
        for _ in range(3)
    ]
    for name, first in weights[0].items():
        assert all(np.array_equal(first, other[name]) for other in weights[1:]), name
