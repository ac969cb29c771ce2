from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from dissensus.agreement import (
    kappa_of_any,
    kappa_per_value,
    masi_kappa_matrix,
    mean_kappa_per_value,
)
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.scales import MultiLabel
from tests.agreement.tables import Table, random_table

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
    for seed in range(30):
        table = random_table(np.random.default_rng(seed), SCALE, masks)
        expected = [over_pairs(table, (masks >> v) & 1) for v in range(3)]
        agreement = kappa_per_value(table.annotations)
        assert list(agreement) == ["joy", "fear", "anger"]
        np.testing.assert_allclose(list(agreement.values()), expected, atol=1e-12)
        defined = [value for value in expected if not np.isnan(value)]
        mean = np.mean(defined) if defined else np.nan
        assert mean_kappa_per_value(table.annotations) == pytest.approx(mean, nan_ok=True)
        anything = over_pairs(table, (masks > 0).astype(int))
        assert kappa_of_any(table.annotations) == pytest.approx(anything, nan_ok=True)


def test_a_value_that_nobody_chose_is_left_out() -> None:
    rows = [("t1", "ann", "joy"), ("t1", "bob", "joy"), ("t2", "ann", "fear"), ("t2", "bob", "joy")]
    table = Annotations.from_rows(rows, SCALE)
    agreement = kappa_per_value(table)
    assert np.isnan(agreement["anger"])
    assert mean_kappa_per_value(table) == pytest.approx((agreement["joy"] + agreement["fear"]) / 2)
    assert np.isnan(kappa_of_any(table))


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


def test_single_answers_are_refused() -> None:
    single = Annotations.from_rows([("t1", "ann", "joy")])
    for function in (mean_kappa_per_value, kappa_of_any, masi_kappa_matrix):
        with pytest.raises(DataError) as error:
            function(single)
        assert str(error.value) == "kappa per value needs multi-label answers, not nominal"
