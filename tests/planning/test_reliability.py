"""Against formulas of other packages, other measures of ours, and crowds with a known truth."""

from __future__ import annotations

import numpy as np
import pytest

from dissensus import Annotations, Interval, MultiLabel, Nominal, Ordinal
from dissensus.agreement import icc, interval, krippendorff_alpha, percent_agreement
from dissensus.names import Names
from dissensus.planning import plan

LEVELS = Ordinal(("1", "2", "3", "4", "5"))


def crowd(seed: int, n_items: int = 300, r: int = 5) -> tuple[Annotations, np.ndarray]:
    """Items whose second answer has a probability from Beta(0.4, 0.8), and this."""
    draw = np.random.default_rng(seed)
    share = draw.beta(0.4, 0.8, n_items)
    item = np.repeat(np.arange(n_items), r)
    answer = (draw.random(len(item)) < share[item]).astype(np.int32)
    scale, names = Nominal(("no", "yes")), Names.range(n_items)
    return Annotations.from_arrays(item, None, answer, scale, items=names), share


def ratings(seed: int, scale: Ordinal | Interval) -> Annotations:
    draw = np.random.default_rng(seed)
    item = np.repeat(np.arange(150), 4)
    rating = (3 + draw.normal(0, 1, 150)[item] + draw.normal(0, 1, 600)).clip(1, 5)
    answer = rating if isinstance(scale, Interval) else np.rint(rating - 1).astype(np.int32)
    return Annotations.from_arrays(item, np.tile(np.arange(4), 150), answer, scale)


def binomial_stable(share: np.ndarray, r: int) -> float:
    """How often the majority of r answers (odd) is that of very many, by the binomial."""
    from scipy.stats import binom

    return float(np.mean(binom.sf(r // 2, r, np.maximum(share, 1 - share))))


def test_one_answer_is_repeated_as_often_as_annotators_agree() -> None:
    answers, _ = crowd(0)
    first = plan(answers).rows[0]
    agreement = percent_agreement(answers)
    assert first.observed == pytest.approx(agreement, abs=0.02)
    assert first.repeated[0] == pytest.approx(agreement, abs=0.02)


@pytest.mark.parametrize("r", [1, 3, 5, 15])
def test_intervals_hold_the_true_share_of_stable_labels(r: int) -> None:
    """95 % ones, in ten crowds: all but two of them at least."""
    truth = binomial_stable(np.random.default_rng(1).beta(0.4, 0.8, 100_000), r)
    found = [next(row for row in plan(crowd(s)[0]).rows if row.answers == r) for s in range(10)]
    assert sum(row.stable[1] <= truth <= row.stable[2] for row in found) >= 8
    assert np.mean([row.stable[0] for row in found]) == pytest.approx(truth, abs=0.02)


@pytest.mark.parametrize("scale", [LEVELS, Interval(1, 5)], ids=["ordinal", "interval"])
def test_reliability_of_means_is_an_intraclass_correlation(scale: Ordinal | Interval) -> None:
    answers = ratings(0, scale)
    rows = {row.answers: row for row in plan(answers).rows}
    assert rows[1].reliability[0] == pytest.approx(icc(answers, "icc1"), abs=0.01)
    assert rows[4].reliability[0] == pytest.approx(icc(answers, "icc1k"), abs=0.01)
    assert all(
        row.reliability[1] < row.reliability[0] < row.reliability[2] for row in rows.values()
    )


@pytest.mark.parametrize(
    "scale", [LEVELS, Interval(1, 5), None], ids=["ordinal", "interval", "nominal"]
)
def test_alpha_is_as_certain_as_its_jackknife_says(scale: Ordinal | Interval | None) -> None:
    answers, r = (crowd(3)[0], 5) if scale is None else (ratings(3, scale), 4)
    low, high = interval("krippendorff-alpha", answers)
    row = next(row for row in plan(answers).rows if row.answers == r)
    assert row.alpha_within == pytest.approx((high - low) / 2, rel=0.12)


def test_targets_say_what_is_needed_and_that_something_is_out_of_reach() -> None:
    answers, share = crowd(4)
    found = plan(answers, {"stable": 0.9, "alpha": 0.05}, "rude")
    stable, alpha = found.sentences()
    least = int(stable.split(": ")[1].split()[0])
    assert binomial_stable(share, least + 1 - least % 2) == pytest.approx(0.9, abs=0.03)
    n_items, each = int(alpha.split(": ")[1].split()[0]), int(alpha.split(" with ")[1].split()[0])
    alphas = [krippendorff_alpha(crowd(seed, n_items, each)[0]) for seed in range(40)]
    assert 1.96 * np.std(alphas) == pytest.approx(0.05, rel=0.3)
    assert "not reached: 50 answers per item give 0.9" in str(plan(answers, {"stable": 0.999}))


def test_names_of_annotators_order_of_rows_and_counts_do_not_matter() -> None:
    answers, _ = crowd(5, 60)
    shuffled = answers.take(np.random.default_rng(0).permutation(answers.n_rows))
    assert plan(shuffled).rows[3].stable == plan(answers).rows[3].stable
    pairs, count = np.unique(
        np.stack([answers.item, answers.answer], axis=1), axis=0, return_counts=True
    )
    item, answer = pairs.T
    votes = Annotations.from_arrays(
        item, None, answer.astype(np.int32), answers.scale, items=answers.items, count=count
    )
    assert plan(votes).rows[3].stable == plan(answers).rows[3].stable


@pytest.mark.parametrize("kind", ["one value", "many values", "sets"])
def test_unusual_answers(kind: str) -> None:
    """All the same: nothing is undefined but alpha. Rare values count as one. Sets by value."""
    item, answer = np.repeat(np.arange(40), 3), np.tile(np.arange(40), 3)
    scale = {
        "one value": Nominal(("no", "yes")),
        "many values": Nominal(tuple(map(str, range(40)))),
        "sets": MultiLabel(tuple("abcdef")),
    }[kind]
    given = np.zeros(120, np.int32) if kind == "one value" else answer.astype(scale.dtype)
    rows = plan(Annotations.from_arrays(item, None, given, scale)).rows
    assert 0 <= rows[2].stable[1] <= rows[2].stable[0] <= rows[2].stable[2] <= 1
    assert np.isnan(rows[2].alpha_within) == (kind != "many values")
    assert (rows[2].stable[0] > 0.97) == (kind == "one value")
