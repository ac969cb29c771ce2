"""KOS, M-MSR, weighted votes, first matrices and a Bayesian model, against crowd-kit or by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.special import betaln
from scipy.stats import norm

from dissensus.aggregation import (
    BayesianDawidSkene,
    Kos,
    Majority,
    MatrixMeanSubsequenceReduced,
    WeightedVote,
    aggregate,
)
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.scales import Nominal
from tests.aggregation.test_aggregators import VALUES, frame, votes
from tests.error_texts import error_text

PEER = pytest.mark.filterwarnings("ignore")  # crowd-kit beside a newer pandas


@PEER
def test_kos_as_crowd_kit() -> None:
    from crowdkit.aggregation import KOS

    annotations = votes(60, 10, seed=1)[1]
    answer = (annotations.answer > 0).astype(np.int32)
    binary = Annotations.from_arrays(
        annotations.item, annotations.annotator, answer, Nominal(("no", "yes"))
    )
    expected = KOS(n_iter=20).fit_predict(frame(binary)).sort_index()
    assert Kos(iterations=20).fit(binary).consensus_.answer.tolist() == expected.tolist()


def test_kos_turns_the_answers_of_a_contrary_annotator_round() -> None:
    generator = np.random.default_rng(0)
    truth = generator.integers(0, 2, 80)
    flips = np.stack([generator.random(80) < share for share in (0.1, 0.1, 0.15, 0.9, 0.9)], axis=1)
    item, annotator = np.indices(flips.shape)
    answer = (truth[:, None] ^ flips).ravel().astype(np.int32)
    crowd = Annotations.from_arrays(item.ravel(), annotator.ravel(), answer, Nominal(("n", "y")))
    right = [np.mean(one.fit(crowd).consensus_.answer == truth) for one in (Kos(), Majority())]
    assert right[0] > 0.95 > right[1]


@PEER
@pytest.mark.parametrize("seed", range(2))
def test_m_msr_as_crowd_kit(seed: int) -> None:
    from crowdkit.aggregation import MMSR

    annotations = votes(200, 12, seed)[1]  # where it does not matter how it begins
    peer = MMSR()
    expected = peer.fit_predict(frame(annotations)).sort_index()
    fitted = MatrixMeanSubsequenceReduced().fit(annotations)
    assert fitted.consensus_.answer.tolist() == expected.tolist()
    odds = np.log(fitted.accuracy_ * 2 / (1 - fitted.accuracy_))
    assert peer.skills_ is not None
    np.testing.assert_allclose(odds, peer.skills_.sort_index().to_numpy(), atol=1e-7)


@PEER
def test_votes_weighted_by_gold_as_crowd_kit() -> None:
    """crowd-kit's GoldMajorityVote fails beside scikit-learn 1.9; these are its two steps."""
    from crowdkit.aggregation import MajorityVote

    truth, annotations = votes(60, 8)
    gold = Annotations.from_arrays(np.arange(20), None, truth[:20], Nominal(VALUES))
    table = frame(annotations)
    known = table[table["task"] < 20]
    right = known["label"].to_numpy() == truth[known["task"]]
    accuracy = pd.Series(right).groupby(known["worker"].to_numpy()).mean()
    peer = MajorityVote().fit(table, skills=accuracy)
    assert peer.probas_ is not None
    fitted = WeightedVote().fit(annotations, gold=gold)
    np.testing.assert_allclose(
        fitted.distribution_, peer.probas_.sort_index()[[0, 1, 2]].to_numpy(), atol=1e-12
    )
    skills = pd.Series(np.linspace(0.1, 0.8, 8), index=range(8))
    weighted = MajorityVote().fit(table, skills=skills)
    assert weighted.probas_ is not None
    given = {f"p{k}": skill for k, skill in enumerate(skills)}
    np.testing.assert_allclose(
        WeightedVote().fit(annotations, skills=given).distribution_,
        weighted.probas_.sort_index()[[0, 1, 2]].to_numpy(),
        atol=1e-12,
    )


def exact_posterior(answer: np.ndarray, n_drawn: int = 500) -> np.ndarray:
    """P(true value of each item is 1) by summing over all truths; answers (n_items, n_annotators).

    What the crowd has in common is drawn from its prior, usual accuracies are integrated out on
    quantiles of theirs.
    """
    generator = np.random.default_rng(0)
    middle = generator.normal(1.4, 0.6, n_drawn)
    spread = np.abs(generator.normal(0, 2.5, n_drawn))
    strength = np.exp(generator.normal(np.log(10), 1, n_drawn))[:, None]
    quantiles = norm.ppf((np.arange(15) + 0.5) / 15)
    usual = 1 / (1 + np.exp(-middle[:, None] - spread[:, None] * quantiles))  # (n_drawn, 15)
    right_added, wrong_added = strength * usual, strength * (1 - usual)
    base = betaln(right_added, wrong_added)
    n_items, n_annotators = answer.shape
    mass, total = np.zeros(n_items), 0.0
    for truth in product((0, 1), repeat=n_items):
        true = np.array(truth)
        counts = np.bincount(true, minlength=2) + 1.0
        log = np.full(n_drawn, betaln(*counts))
        for k in range(n_annotators):
            each = np.zeros_like(usual)
            for value in (0, 1):
                wrong, right = np.bincount(answer[true == value, k] == value, minlength=2)
                each += betaln(right + right_added, wrong + wrong_added) - base
            log += np.log(np.exp(each).mean(axis=1))
        weight = np.exp(log).mean()
        mass += weight * true
        total += weight
    return mass / total


def crowd(
    n_values: int, n_items: int, accuracy: np.ndarray, seed: int
) -> tuple[np.ndarray, Annotations]:
    """True values, and answers of annotators with these accuracies to all items."""
    generator = np.random.default_rng([seed, n_values])
    truth = generator.integers(0, n_values, n_items)
    right = generator.random((n_items, len(accuracy))) < accuracy
    wrong = (truth[:, None] + generator.integers(1, n_values, right.shape)) % n_values
    answer = np.where(right, truth[:, None], wrong).astype(np.int32)
    item, annotator = np.indices(answer.shape)
    scale = Nominal(tuple("abcdefghijkl"[:n_values]))
    return truth, Annotations.from_arrays(item.ravel(), annotator.ravel(), answer.ravel(), scale)


def test_the_bayesian_model_equals_the_sum_over_all_truths() -> None:
    annotations = crowd(2, 6, np.array([0.7, 0.8, 0.75]), seed=3)[1]
    answer = annotations.answer.reshape(6, 3)
    fitted = BayesianDawidSkene(draws=12_000, seed=2).fit(annotations)  # labels rarely swap
    np.testing.assert_allclose(fitted.distribution_[:, 1], exact_posterior(answer), atol=0.04)


@pytest.mark.parametrize("n_values", [2, 12])
def test_bayesian_accuracies_do_not_depend_on_the_number_of_values(n_values: int) -> None:
    """A prior of one answer for each cell made 0.80 into 0.30 with 12 values."""
    errors, inside = [], []
    for seed in range(4):
        skill = np.random.default_rng(seed).uniform(0.6, 0.95, 6)
        annotations = crowd(n_values, 100, skill, seed)[1]
        fitted = BayesianDawidSkene(draws=300).fit(annotations)
        errors.append(fitted.accuracy_ - skill)
        inside.append((fitted.accuracy_low_ <= skill) & (skill <= fitted.accuracy_high_))
    assert abs(np.mean(errors)) < 0.03
    assert np.mean(inside) >= 0.85  # of 24 intervals


def test_a_seed_determines_the_bayesian_model() -> None:
    annotations = crowd(3, 30, np.array([0.6, 0.8, 0.9]), seed=0)[1]
    fitted, again, other = (
        BayesianDawidSkene(draws=50, seed=seed).fit(annotations).distribution_ for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(again, fitted)
    assert not np.array_equal(other, fitted)


def test_skills_that_cannot_be_used() -> None:
    rows = [("t1", "ann", "yes"), ("t1", "bob", "no")]
    corpus = Corpus.build("mine", ["t1"], {"q": Annotations.from_rows(rows)})
    for skills, message in (
        ({"ann": -1.0}, "a skill is a number from 0 up, found -1.0 for 'ann'"),
        ({"eve": 1.0}, "no annotator has a skill: skills are of 'eve', answers of 'ann', 'bob'"),
        (None, "weighted-vote needs skills (--skills TABLE) or gold labels (--use-gold); without "
               "them use soft-vote"),
    ):  # fmt: skip
        assert error_text(aggregate, corpus, "weighted-vote", skills=skills) == message
    half = aggregate(corpus, "weighted-vote", skills={"ann": 0.5})["q"]
    assert half.distribution_.tolist() == [[0.5, 0.5]]  # bob counts as the mean
