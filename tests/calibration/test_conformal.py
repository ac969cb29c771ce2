"""Sets keep their promise: against the textbook quantile, and where the truth is known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dissensus import Annotations, Interval, MultiLabel, Names, Nominal, Ordinal, Prediction
from dissensus.calibration import Conformal, VoteCalibration, of_value
from dissensus.prediction import ByAnnotator
from dissensus.scales import Scale

SCALES: tuple[Scale, ...] = (
    Nominal(("a", "b", "c", "d")),
    Ordinal(("1", "2", "3", "4", "5")),
    Interval(0, 10),
)


def crowd(
    scale: Scale, n_items: int, draw: np.random.Generator, most: int = 6
) -> tuple[Prediction, Annotations, np.ndarray]:
    """Predictions that are wrong in part, answers drawn from the true shares, and these. Items with
    few answers have clearer ones."""
    names = Names([f"t{n}" for n in range(n_items)])
    size = draw.integers(1, most + 1, n_items)
    sharp = np.where(size < most / 2, 4.0, 1.0)[:, None]
    logits = draw.normal(size=(n_items, scale.n_columns)) * sharp
    true = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    wrong = np.exp(1.5 * logits + draw.normal(size=logits.shape))
    shares = wrong / wrong.sum(axis=1, keepdims=True)
    item = np.repeat(np.arange(n_items), size)
    below = (true.cumsum(axis=1)[item] < draw.random(len(item))[:, None]).sum(axis=1)
    answer: Any = below.astype(np.int32)
    if isinstance(scale, Interval):
        answer = (below + draw.random(len(item))) * 10 / scale.n_bins
    place = np.arange(len(item)) - np.repeat(np.cumsum(size) - size, size)
    annotators = Names([f"a{n}" for n in range(most)])
    answers = Annotations(item, place, answer, scale, names, annotators)
    return Prediction(scale, names, shares, scale.consensus(shares)), answers, true


@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: scale.kind)
@pytest.mark.parametrize("of", ["answer", "consensus", "distribution"])
def test_coverage_is_what_is_promised(scale: Scale, of: Any) -> None:
    """For items with different numbers of answers, which are easier if they are few."""
    if of == "distribution" and isinstance(scale, Interval):
        return
    draw = np.random.default_rng(0)
    for coverage in (0.8, 0.9):
        found = []
        for _ in range(60):
            sets = Conformal(coverage, of).fit(*crowd(scale, 99, draw)[:2])
            score, _, share = sets.scores(*crowd(scale, 400, draw)[:2])
            found.append(share @ (score <= sets.margin_) / share.sum())
        error = np.std(found) / math.sqrt(len(found))
        assert coverage - 3 * error < np.mean(found) < coverage + 0.012 + 3 * error


def test_one_answer_for_each_item_gives_the_quantile_of_the_textbook() -> None:
    prediction, answers, _ = crowd(SCALES[0], 37, np.random.default_rng(1), most=1)
    scores = np.sort(1 - prediction.distribution[answers.item, answers.answer])
    for coverage in (0.5, 0.8, 0.9, 0.99):
        sets, rank = Conformal(coverage).fit(prediction, answers), math.ceil(coverage * 38)
        expected = scores[rank - 1] - 1 if rank <= 37 else math.inf
        assert sets.margin_ == pytest.approx(expected)


def test_the_set_of_levels_is_the_smallest_run_with_the_likely_ones() -> None:
    """By trying all runs of levels."""
    prediction, answers, _ = crowd(SCALES[1], 200, np.random.default_rng(2))
    sets = Conformal(0.7).fit(prediction, answers)
    for chosen, shares, median in zip(
        sets.sets(prediction), prediction.distribution, prediction.consensus, strict=True
    ):
        needed = np.flatnonzero(shares >= min(-sets.margin_, shares.max()))
        wanted = {median, shares.argmax(), *needed}
        runs = [range(a, b + 1) for a in range(5) for b in range(a, 5)]
        smallest = min((run for run in runs if wanted <= set(run)), key=len)
        if len(needed) > 1 or -sets.margin_ <= shares.max():
            assert np.flatnonzero(chosen).tolist() == list(smallest)


@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: scale.kind)
def test_an_answer_is_in_its_set_where_its_score_says_so(scale: Scale) -> None:
    prediction, answers, _ = crowd(scale, 80, np.random.default_rng(3))
    sets = Conformal(0.6).fit(prediction, answers)
    score, item, _ = sets.scores(prediction, answers)
    each = sets.sets(prediction)[item]
    if isinstance(scale, Interval):
        inside = (each[:, 0] <= answers.answer) & (answers.answer <= each[:, 1])
    else:
        inside = each[np.arange(len(item)), answers.answer]
        assert (sets.sets(prediction)[np.arange(80), prediction.consensus]).mean() > 0.9
    np.testing.assert_array_equal(inside, score <= sets.margin_)


def test_each_annotator_has_sets_of_their_own() -> None:
    prediction, answers, true = crowd(SCALES[0], 60, np.random.default_rng(4))
    order = np.random.default_rng(5).permutation(answers.n_rows)
    item, annotator = answers.item[order], answers.annotator_codes("a test")[order]
    shares = np.where(annotator[:, None] < 3, np.eye(4)[answers.answer[order]] * 0.9 + 0.025, 0.25)
    pairs = ByAnnotator(item, annotator, answers.annotators, shares.argmax(axis=1), shares)
    known = Prediction(SCALES[0], prediction.items, true, true.argmax(axis=1), pairs)
    sets = Conformal(0.8, "annotator").fit(known, answers)
    found = sets.sets(known).sum(axis=1)
    assert found[annotator < 3].max() == 1 and found[annotator >= 3].min() == 4


def test_each_value_of_a_set_is_covered() -> None:
    scale, draw = MultiLabel(("joy", "fear")), np.random.default_rng(9)

    def crowd_of_sets() -> tuple[Prediction, Annotations]:
        true, names = draw.beta(0.6, 0.9, (600, 2)), Names.range(600)
        shares = (true + draw.uniform(-0.2, 0.2, true.shape)).clip(0, 1)
        item = np.repeat(np.arange(600), 3)
        answer = scale.pack(draw.random((1800, 2)) < true[item])
        answers = Annotations.from_arrays(item, None, answer, scale, items=names)
        return Prediction(scale, names, shares, scale.consensus(shares)), answers

    calibration, others = crowd_of_sets(), crowd_of_sets()
    for at in range(2):
        prediction, answers = (of_value(one, at) for one in calibration)
        np.testing.assert_array_equal(
            prediction.distribution[:, 1], calibration[0].distribution[:, at]
        )
        sets = Conformal(0.8).fit(prediction, answers)
        prediction, answers = (of_value(one, at) for one in others)
        rows = sets.sets(prediction)[answers.item, answers.answer]
        assert rows.mean() == pytest.approx(0.8, abs=0.04)


def test_units_count_the_same_and_too_few_cover_everything() -> None:
    prediction, answers, _ = crowd(SCALES[0], 40, np.random.default_rng(6))
    assert Conformal(0.8).fit(prediction, answers, np.arange(40) // 10).n_units_ == 4
    assert Conformal(0.8).fit(prediction, answers, np.arange(40) // 10).margin_ < math.inf
    few = Conformal(0.9).fit(prediction, answers, np.arange(40) // 10)
    assert few.margin_ == math.inf and few.sets(prediction).all()


def test_calibrated_shares_come_back_to_the_truth() -> None:
    """Shares that are twice too certain, and too often d."""
    _, answers, true = crowd(SCALES[0], 3000, np.random.default_rng(7), most=12)
    wrong = true**2 * [1, 1, 1, 3]
    wrong /= wrong.sum(axis=1, keepdims=True)
    prediction = Prediction(SCALES[0], answers.items, wrong, wrong.argmax(axis=1))
    calibration = VoteCalibration(penalty=0).fit(prediction, answers)
    found = calibration.calibrated(prediction).distribution
    assert np.abs(found - true).sum(axis=1).mean() / 2 < 0.02
    assert np.abs(wrong - true).sum(axis=1).mean() / 2 > 0.1
