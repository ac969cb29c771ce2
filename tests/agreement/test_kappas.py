"""Kappas of pairs of annotators, against scikit-learn and nltk."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from dissensus.agreement import (
    cohen_kappa,
    common_items,
    kappa_matrix,
    kappa_per_value,
    masi_kappa_matrix,
    mean_kappa,
    mean_kappa_per_value,
    pi_matrix,
)
from dissensus.agreement.estimates import unequal
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.names import Names
from dissensus.scales import MultiLabel, Nominal, Ordinal
from tests.agreement.tables import Table, abstractors, random_table
from tests.error_texts import error_text

LEVELS = Ordinal(("1", "2", "3", "4"))


@pytest.fixture(autouse=True, params=[0, 1 << 18], ids=["kernels", "dense"])
def ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test by compiled kernels, and by the plain product that small tables are given to."""
    monkeypatch.setattr("dissensus.agreement.pair_measures.DENSE", request.param)


def reference(table: Table, weights: Any, n_annotators: int) -> np.ndarray:
    """What scikit-learn says of each pair; nan where it has nothing to say."""
    matrix = np.eye(n_annotators)
    for k, m in combinations(range(n_annotators), 2):
        common = ~np.isnan(table.wide[[k, m]]).any(axis=0)
        a, b = table.wide[k, common], table.wide[m, common]
        constant = len(np.unique([a, b])) < 2
        value = np.nan
        if not constant:
            value = cohen_kappa_score(a, b, labels=np.arange(4.0), weights=weights)
        matrix[k, m] = matrix[m, k] = value
    return matrix


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_equals_scikit_learn_on_random_tables(weights: Any) -> None:
    generator = np.random.default_rng(0)
    undefined = 0
    for _ in range(40):
        table = random_table(generator, LEVELS, np.arange(4))
        n = table.annotations.n_annotators
        expected = reference(table, weights, n)
        undefined += int(np.isnan(expected).sum())
        found = kappa_matrix(table.annotations, weights)
        np.testing.assert_allclose(found, expected, atol=1e-12)
        pairs = expected[np.triu_indices(n, 1)]
        defined = pairs[~np.isnan(pairs)]
        mean = defined.mean() if defined.size else np.nan
        assert mean_kappa(table.annotations, weights) == pytest.approx(mean, nan_ok=True)
    assert undefined


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
@pytest.mark.parametrize("share", [1.0, 0.7, 0.02], ids=["full", "gaps", "sparse"])
def test_equals_scikit_learn_however_many_answered(share: float, weights: Any) -> None:
    """Where most answered most items, 64 items are counted at once; the values are the same."""
    generator = np.random.default_rng(1)
    truth = generator.integers(0, 4, 300)
    wide = np.where(generator.random((12, 300)) < 0.6, truth, generator.integers(0, 4, (12, 300)))
    there = generator.random(wide.shape) < share
    annotator, item = np.nonzero(there)
    annotations = Annotations.from_arrays(
        item, annotator, wide[there], LEVELS, annotators=Names.range(12)
    )
    table = Table(np.where(there, wide, np.nan), annotations)
    np.testing.assert_allclose(
        kappa_matrix(annotations, weights), reference(table, weights, 12), atol=1e-12
    )
    common = (there[:, None] & there[None]).sum(axis=2)
    np.testing.assert_array_equal(common_items(annotations), common)


def test_repeats_are_answers_like_any_others() -> None:
    rows = [("t1", "ann", "a"), ("t1", "ann", "b"), ("t1", "bob", "a"), ("t2", "ann", "b")]
    rows += [("t2", "bob", "b"), ("t2", "bob", "b")]
    repeated = Annotations.from_rows(rows, repeats="keep")
    ann, bob = ["a", "b", "b", "b"], ["a", "a", "b", "b"]  # every answer beside every answer
    assert cohen_kappa(repeated, "ann", "bob") == pytest.approx(cohen_kappa_score(ann, bob))


def test_own_distances_between_values() -> None:
    steps = np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    table = random_table(np.random.default_rng(3), LEVELS, np.arange(4)).annotations
    np.testing.assert_allclose(kappa_matrix(table, 7 * steps), kappa_matrix(table, "linear"))
    nominal = Annotations.from_arrays(
        table.item, table.annotator, table.answer, Nominal(LEVELS.values)
    )
    np.testing.assert_allclose(kappa_matrix(nominal, steps**2), kappa_matrix(table, "quadratic"))


def test_published_pair() -> None:  # Gwet (2014), two abstractors and three kinds of pregnancies
    assert cohen_kappa(abstractors(), "one", "two") == pytest.approx(0.7964094, abs=5e-8)
    assert pi_matrix(abstractors())[0, 1] == pytest.approx(0.7962397, abs=5e-8)
    levels = abstractors(Ordinal(("ectopic", "AIU", "NIU")))
    assert pi_matrix(levels, "linear")[0, 1] == pytest.approx(0.843, abs=5e-4)
    assert pi_matrix(levels, "quadratic")[0, 1] == pytest.approx(0.892, abs=5e-4)


def test_pi_pools_the_answers_of_both() -> None:
    for seed in range(50):
        table = random_table(np.random.default_rng(seed), LEVELS, np.arange(4))
        found = pi_matrix(table.annotations)
        for k, m in combinations(range(len(found)), 2):
            common = ~np.isnan(table.wide[[k, m]]).any(axis=0)
            a, b = table.wide[k, common], table.wide[m, common]
            shares = np.bincount(np.r_[a, b].astype(int), minlength=4) / max(len(a) * 2, 1)
            chance = (shares**2).sum()
            expected = ((a == b).mean() - chance) / (1 - chance) if len(np.unique([a, b])) > 1 else np.nan  # fmt: skip # noqa: E501
            assert found[k, m] == pytest.approx(expected, nan_ok=True)


def test_fifty_thousand_annotators_have_a_mean_but_no_matrix() -> None:
    generator = np.random.default_rng(7)
    item = np.repeat(np.arange(20_000), 5)
    annotator = generator.integers(0, 50_000, len(item))
    crowd = Annotations.from_arrays(
        item,
        annotator,
        generator.integers(0, 4, len(item)),
        LEVELS,
        annotators=Names.range(50_000),
        repeats="first",
    )
    assert np.isfinite(mean_kappa(crowd))
    for function in (kappa_matrix, common_items):
        assert error_text(function, crowd) == (
            "a matrix over the pairs of 50,000 annotators takes 19 GiB, more than 4; "
            "select fewer annotators"
        )


SCALE = MultiLabel(("joy", "fear", "anger"))


def over_pairs(table: Table, on: np.ndarray) -> float:
    """scikit-learn's kappa of a yes or no, mean over pairs; `on` says it of each mask."""
    results = []
    for k, m in combinations(range(len(table.wide)), 2):
        common = ~np.isnan(table.wide[[k, m]]).any(axis=0)
        a, b = (on[table.wide[who, common].astype(int)] for who in (k, m))
        if len(np.unique([a, b])) == 2:
            results.append(cohen_kappa_score(a, b))
    return float(np.mean(results)) if results else float("nan")


def test_each_value_is_a_question_of_its_own() -> None:
    masks = np.arange(8)
    for seed in range(10):
        table = random_table(np.random.default_rng(seed), SCALE, masks)
        expected = [over_pairs(table, (masks >> v) & 1) for v in range(3)]
        agreement = kappa_per_value(table.annotations)
        assert list(agreement) == ["joy", "fear", "anger"]
        np.testing.assert_allclose(list(agreement.values()), expected, atol=1e-12)
        defined = [value for value in expected if not np.isnan(value)]
        mean = np.mean(defined) if defined else np.nan
        assert mean_kappa_per_value(table.annotations) == pytest.approx(mean, nan_ok=True)


def test_sets_as_in_nltk() -> None:
    from nltk.metrics.agreement import AnnotationTask
    from nltk.metrics.distance import masi_distance

    for seed in range(5):
        table = random_table(np.random.default_rng(seed), SCALE, np.arange(8)).annotations
        kappas = masi_kappa_matrix(table)
        rows = table.to_table().to_pylist()
        for k, m in combinations(range(table.n_annotators), 2):
            pair = [table.annotators[k], table.annotators[m]]
            items = [{r["item"] for r in rows if r["annotator"] == name} for name in pair]
            data = [
                (r["annotator"], r["item"], frozenset(r["answer"]))
                for r in rows
                if r["annotator"] in pair and r["item"] in items[0] & items[1]
            ]
            if {answer for _, _, answer in data} <= {frozenset()} or len(data) < 4:
                continue
            reference = AnnotationTask(
                data, distance=lambda a, b: 0.0 if a == b else masi_distance(a, b)
            )
            assert kappas[k, m] == pytest.approx(reference.weighted_kappa_pairwise(*pair))


def test_how_many_values_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISSENSUS_MAX_VALUES", "6")
    with pytest.raises(DataError, match="7 are more than 6; .* or set DISSENSUS_MAX_VALUES=7"):
        unequal(7)
    monkeypatch.setenv("DISSENSUS_MAX_VALUES", "7")
    assert unequal(7).sum() == 42
    monkeypatch.setenv("DISSENSUS_MAX_VALUES", "many")
    with pytest.raises(DataError, match="must be a whole number, found 'many'"):
        unequal(2)
