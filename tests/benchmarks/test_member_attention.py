"""Where members of an ensemble look: weights of pooling, and gradient times input."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from dissensus.corpus import Focus
from dissensus.methods import SeedEnsemble
from tests.methods.test_seed_ensemble import QUICK, texts
from tests.methods.test_seed_ensemble import tiny as tiny

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "gpu"))
from member_attention import member_attention  # noqa: E402


def test_members_that_pool_show_their_weights(tiny: str) -> None:
    corpus = texts()
    fitted = SeedEnsemble(encoder=tiny, training=QUICK).fit(corpus)
    (looked,) = member_attention(fitted, corpus)["q"]
    assert looked.role == "text" and looked.weight.shape == (5, looked.offsets[-1])
    lengths = np.diff(looked.offsets)
    assert lengths[-1] == 0 and lengths[0] == lengths[1] > 0  # the last item shows nothing
    sums = np.add.reduceat(looked.weight, looked.offsets[:-2], axis=1)
    np.testing.assert_allclose(sums, 1, rtol=1e-5)
    assert np.std(looked.weight, axis=0).max() > 0.01  # each looks for itself
    text = str(corpus.contents["text"].values[int(corpus.content["text"][0])])
    ends = looked.places[: lengths[0], 0, 1]
    assert ends.max() == len(text)


def test_a_focus_is_all_that_is_looked_at(tiny: str) -> None:
    corpus = texts(12)
    start, stop = np.full((12, 1), np.nan), np.full((12, 1), np.nan)
    start[2], stop[2] = 0, 2
    corpus = replace(corpus, focus=Focus("text", start, stop))
    fitted = SeedEnsemble(encoder=tiny, n_members=2, training=QUICK).fit(corpus)
    (looked,) = member_attention(fitted, corpus)["q"]
    own = slice(*looked.offsets[2:4])
    inside = (looked.places[own, 0, 0] < 2) & (looked.places[own, 0, 1] > 0)
    assert inside.sum() == 1
    np.testing.assert_allclose(looked.weight[:, own][:, inside], 1)


@pytest.mark.parametrize("tune", ["all", 1])
def test_tuned_members_show_gradient_times_input(tiny: str, tune: str | int) -> None:
    """A position's weight is the slope of the answer as its vector grows."""
    corpus = texts(10)
    fitted = SeedEnsemble(encoder=tiny, tune=tune, n_members=2, training=QUICK).fit(corpus)
    network: Any = fitted.members_[1].network_
    matrices = [values for values in network.encoders[0].parameters() if values.dim() == 2]
    for values in (network.inner.head_0.weight, *matrices):
        values.data *= 10  # a network that has hardly learned tells nothing apart
    prediction = fitted.predict(corpus)["q"]
    (looked,) = member_attention(fitted, corpus)["q"]
    assert prediction.members is not None
    output = prediction.members[1]
    times = torch.ones(1, 10, 1)
    network.encoders[0].blocks[0].register_forward_pre_hook(
        lambda module, given: (given[0] * times[:, : given[0].shape[1]], *given[1:])
    )

    def answers(position: int, scale: float) -> np.ndarray:
        times[:] = 1
        times[0, position] = scale
        shares = fitted.members_[1].predict(corpus)["q"].distribution
        return np.asarray(np.log(shares[np.arange(10), output]))

    lengths, results = np.diff(looked.offsets), []
    for position in range(lengths.max()):
        slope = (answers(position, 1.02) - answers(position, 0.98)) / 0.04
        there = lengths > position
        own = looked.weight[1, looked.offsets[:-1][there] + position]
        np.testing.assert_allclose(own, slope[there], atol=1e-3)
        results += own.tolist()
    assert np.abs(results).max() > 0.02
    first, second = (looked.weight[:, looked.offsets[k] : looked.offsets[k + 1]] for k in (0, 1))
    np.testing.assert_allclose(first, second, atol=1e-6)  # the same text, twice
