"""Sampled panels against exact answers: hypergeometric, multinomial, and all panels tried."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

from dissensus import Annotations, Interval, Names, Nominal, Ordinal, Prediction
from dissensus.corpus import Corpus
from dissensus.juries import PANELS, groups_of, jury, reweighted
from dissensus.prediction import ByAnnotator
from dissensus.scales import Scale

ERROR = 4 * np.sqrt(0.25 / PANELS)


def predicted(scale: Scale, shares: np.ndarray) -> Prediction:
    """Of shares, (n_items, n_annotators, n_columns)."""
    n_items, n_annotators, _ = shares.shape
    item, annotator = map(np.ravel, np.indices((n_items, n_annotators)))
    flat = shares.reshape(-1, shares.shape[2])
    names = Names([f"a{n}" for n in range(n_annotators)])
    pairs = ByAnnotator(item, annotator, names, scale.consensus(flat), flat)
    mean = shares.mean(axis=1)
    items = Names([f"t{n}" for n in range(n_items)])
    return Prediction(scale, items, mean, scale.consensus(mean), pairs)


def test_certain_annotators_are_drawn_as_without_replacement() -> None:
    """7 of 20 say yes; a panel of 5 says yes if 3 of it do: hypergeometric."""
    shares = np.zeros((1, 20, 2))
    shares[0, :7, 1] = shares[0, 7:, 0] = 1
    found = jury(predicted(Nominal(("no", "yes")), shares), [np.arange(20)], [5]).shares[0, 1]
    assert found == pytest.approx(hypergeom.sf(2, 20, 7, 5), abs=ERROR)


def test_alike_annotators_answer_as_by_the_binomial_distribution() -> None:
    """Six members with 0.3 each; three of them are half a verdict."""
    shares = np.tile([0.7, 0.3], (1, 50, 1))
    found = jury(predicted(Nominal(("no", "yes")), shares), [np.arange(50)], [6]).shares[0, 1]
    assert found == pytest.approx(binom.sf(3, 6, 0.3) + binom.pmf(3, 6, 0.3) / 2, abs=ERROR)


@pytest.mark.parametrize("scale", [Nominal(("a", "b", "c")), Ordinal(("1", "2", "3"))])
def test_two_groups_agree_with_all_panels_and_answers(scale: Scale) -> None:
    shares = np.random.default_rng(0).dirichlet([0.4] * 3, (2, 7))
    pools, seats = [np.arange(3), np.arange(3, 7)], [2, 2]
    found = jury(predicted(scale, shares), pools, seats)
    for item in range(2):
        exact, n = np.zeros(3), 0
        for one, other in product(combinations(range(3), 2), combinations(range(3, 7), 2)):
            n += 1
            for answers in product(range(3), repeat=4):
                chance = np.prod(shares[item, [*one, *other], answers])
                counts = np.bincount(answers, minlength=3)
                if isinstance(scale, Nominal):
                    best = counts == counts.max()
                    exact += chance * best / best.sum()
                else:
                    exact += chance * np.bincount(sorted(answers)[1:3], minlength=3) / 2
        np.testing.assert_allclose(found.shares[item], exact / n, atol=ERROR)
    assert found.columns().keys() >= {"jury", f"jury.{scale.values[0]}"}  # type: ignore[attr-defined]


def test_panels_of_ratings_have_medians_with_an_interval() -> None:
    """One group rates 2, the other 8; five of nine are of the second."""
    scale = Interval(0, 10, n_bins=5)
    shares = np.zeros((1, 20, 5))
    shares[0, :10, 0], shares[0, 10:, 4] = 1, 1
    found = jury(predicted(scale, shares), [np.arange(10), np.arange(10, 20)], [4, 5])
    draws = np.random.default_rng(0).random((20_000, 5)) * 2 + 8
    lowest = draws.min(axis=1)  # the median of nine: the lowest of the five
    assert found.value[0] == pytest.approx(np.median(lowest), abs=0.05)
    assert [found.low[0], found.high[0]] == pytest.approx(
        np.quantile(lowest, [0.05, 0.95]), abs=0.1
    )


def test_a_population_weighs_groups() -> None:
    shares = np.random.default_rng(1).dirichlet([1, 1, 1], (4, 6))
    rows = [("t0", f"a{n}", "a") for n in range(7)]
    facts = {"gender": ["f", "f", "m", "m", "m", None, "f"]}
    questions = {"q": Annotations.from_rows(rows)}
    corpus = Corpus.build("mine", ["t0"], questions, annotator_attributes=facts)
    prediction = predicted(Nominal(("a", "b", "c")), shares)
    assert prediction.by_annotator is not None
    groups = groups_of(corpus, "gender", prediction.by_annotator.annotators)
    assert {name: codes.tolist() for name, codes in groups.items()} == {"f": [0, 1], "m": [2, 3, 4]}
    found = reweighted(prediction, groups, {"f": 3, "m": 1}).distribution
    exact = 0.75 * shares[:, :2].mean(axis=1) + 0.25 * shares[:, 2:5].mean(axis=1)
    np.testing.assert_allclose(found, exact)
