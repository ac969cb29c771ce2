from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from dissensus.agreement import MEASURES, kendall_matrix, spearman_matrix
from dissensus.annotations import Annotations
from dissensus.scales import Interval, Ordinal
from tests.agreement.tables import random_table

ANSWERS = np.array([0, 1, 1.5, 4, 9, 10])


@pytest.mark.parametrize(
    ("matrix", "reference"), [(spearman_matrix, spearmanr), (kendall_matrix, kendalltau)]
)
@pytest.mark.filterwarnings("ignore:An input array is constant")
def test_equals_scipy(matrix, reference) -> None:  # type: ignore[no-untyped-def]
    for seed in range(40):
        table = random_table(np.random.default_rng(seed), Interval(0, 10), ANSWERS)
        values = matrix(table.annotations)
        for k, m in combinations(range(len(values)), 2):
            common = ~np.isnan(table.wide[[k, m]]).any(axis=0)
            a, b = table.wide[k, common], table.wide[m, common]
            expected = reference(a, b).statistic if len(a) > 1 else np.nan
            np.testing.assert_allclose(values[k, m], expected, atol=1e-12)


@pytest.mark.parametrize("name", ["spearman", "kendall"])
def test_without_each_item_also_with_repeats(name: str) -> None:
    measure = MEASURES[name]
    for seed in range(20):
        generator = np.random.default_rng(seed)
        gaps = random_table(generator, Interval(0, 10), ANSWERS).annotations
        drawn = generator.integers(1, 6, (3, 25))
        rows = [(f"t{item}", f"a{annotator % 4}", str(level)) for item, annotator, level in drawn.T]
        levels = Ordinal(("1", "2", "3", "4", "5"))
        for table in (gaps, Annotations.from_rows(rows, levels, repeats="keep")):
            expected = [measure.function(table.take(table.item != i)) for i in range(table.n_items)]
            np.testing.assert_allclose(measure.prepare(table).without_each(), expected, atol=1e-9)
