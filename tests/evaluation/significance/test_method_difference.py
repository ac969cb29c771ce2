"""Two methods of one Results: the test that fits the runs at hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dissensus.evaluation.fit import Fit
from dissensus.evaluation.protocols import repeated
from dissensus.evaluation.resampling import macro_f1
from dissensus.evaluation.results import Results
from dissensus.evaluation.significance.method_difference import compared
from dissensus.evaluation.significance.paired_tests import (
    over_both,
    over_items,
    statistic_over_both,
)
from dissensus.metrics.metric import OBSERVED, PREDICTED
from tests.evaluation.comparisons import comparison, corpus, fit


def scores(results: Results, metric: str, method: str) -> np.ndarray:
    return results.runs("hate", metric, method).scores


def test_several_seeds_are_compared_over_seeds_and_items() -> None:
    built = comparison()
    difference = compared(built, "hate", "accuracy", "soft_label", "single")
    sides = (scores(built, "accuracy", method) for method in ("soft_label", "single"))
    assert difference == over_both(*sides)


def test_a_method_with_one_seed_meets_every_run_of_the_other() -> None:
    built = comparison()
    prior, single = (scores(built, "accuracy", method) for method in ("prior", "single"))
    there = compared(built, "hate", "accuracy", "single", "prior")
    assert there == over_both(single, np.repeat(prior, 3, axis=0))
    back = compared(built, "hate", "accuracy", "prior", "single")
    assert (back.effect, back.p) == pytest.approx((-there.effect, there.p))


def test_one_seed_is_compared_over_items() -> None:
    built = comparison(n_seeds=1)
    sides = [scores(built, "cross-entropy", method) for method in ("soft_label", "single")]
    difference = compared(
        built, "hate", "cross-entropy", "soft_label", "single", resamples=500, seed=3
    )
    assert difference == over_items(sides[0], sides[1], resamples=500, seed=3)


def test_macro_f1_is_computed_anew_on_drawn_items() -> None:
    built = comparison()
    people = scores(built, OBSERVED, "single")[0]
    sides = [macro_f1(people, scores(built, PREDICTED, m)) for m in ("soft_label", "single")]
    difference = compared(built, "hate", "macro-F1", "soft_label", "single", resamples=300)
    assert difference == statistic_over_both(sides[0], sides[1], resamples=300)


@pytest.mark.parametrize("n_seeds", [1, 3])
def test_without_scores_of_items_there_is_no_p_from_seeds_or_folds(n_seeds: int) -> None:
    built = comparison(n_seeds=n_seeds)
    built = replace(built, fits=tuple(replace(f, items=None) for f in built.fits))
    means = [
        np.mean([f.score("hate", "DIC") for f in built.of(m)]) for m in ("soft_label", "single")
    ]
    saved_before = compared(built, "hate", "DIC", "soft_label", "single")
    assert saved_before.effect == pytest.approx(means[0] - means[1])
    assert np.isnan([saved_before.p, saved_before.low]).all() and saved_before.n_runs == n_seeds
    assert saved_before.reason == "not tested: no scores of single items are saved"
    by_nature = replace(built, fits=tuple(with_ece(fit) for fit in built.fits))
    assert compared(by_nature, "hate", "ECE", "soft_label", "single").reason == (
        "not tested: it has no score for each item, and other seeds alone do not show what other "
        "items would"
    )


def with_ece(fit: Fit) -> Fit:
    return replace(fit, scores={"hate": {"ECE": fit.score("hate", "DIC")}})


def test_repetitions_are_runs() -> None:
    crowd = corpus()
    folds = repeated(crowd, 2, 3)
    fits = [fit(crowd, method, 0, fold) for method in ("prior", "single") for fold in folds]
    about = replace(comparison().about, methods=("prior", "single"))
    built = Results.assemble(about, folds, fits)
    difference = compared(built, "hate", "accuracy", "single", "prior")
    assert (difference.n_runs, difference.n_items, difference.test) == (3, 120, "seeds and items")
    assert compared(built, "hate", "DIC", "single", "prior").n_runs == 3


def test_a_run_with_a_fit_that_ended_badly_is_left_out_and_said() -> None:
    broken, whole = comparison(broken=True), comparison(n_seeds=2)
    difference = compared(broken, "hate", "accuracy", "soft_label", "single")
    assert difference.notes == ("1 of 3 runs left out: a fit failed or diverged",)
    assert difference.p == compared(whole, "hate", "accuracy", "soft_label", "single").p
    f1 = compared(broken, "hate", "macro-F1", "soft_label", "single", resamples=100)
    assert f1.notes == ("1 of 3 runs left out: a fit failed or diverged",) and f1.n_runs == 2
    dic = compared(
        replace(broken, fits=tuple(replace(f, items=None) for f in broken.fits)),
        *("hate", "DIC", "soft_label", "single"),
    )
    assert dic.notes == ("1 of 3 runs left out: one method has no score",)


def test_items_of_one_group_are_drawn_together() -> None:
    built = comparison()
    groups = {f"t{k}": f"g{k // 2}" for k in range(100)}  # the last 20 stand alone
    difference = compared(replace(built, groups=groups), "hate", "accuracy", "single", "prior")
    assert (difference.n_items, difference.n_groups) == (120, 70)
