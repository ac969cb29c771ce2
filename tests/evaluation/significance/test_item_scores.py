"""What items contribute to a metric: together they are the metric, on every scale."""

from __future__ import annotations

import numpy as np
import pytest

from dissensus.evaluation.significance.method_difference import parts_of, statistic
from dissensus.metrics import METRICS, item_scores
from dissensus.metrics.metric import OverItems
from tests.metrics.crowds import SCALES, people, predicted

NOT_MADE_OF_ITEMS = {
    "ECE", "DIC, all pairs",
    *(name for name in METRICS if name.endswith("worst decile")),
}  # fmt: skip
EVERY = [(name, kind) for name, metric in METRICS.items() for kind in metric.scales]


@pytest.mark.parametrize(("name", "kind"), EVERY)
def test_items_together_are_the_metric(name: str, kind: str) -> None:
    size = 600 if name.startswith("DIC") else 60  # of which two annotators share 30
    prediction, annotations = predicted(SCALES[kind], size=size), people(SCALES[kind], size=size)
    result = item_scores(prediction, annotations, [name])
    assert METRICS[name].tested == (name not in NOT_MADE_OF_ITEMS)
    if name in NOT_MADE_OF_ITEMS:
        assert result == {}
        return
    assert tuple(result) == ((name,) if kind == "multi-label" else parts_of(name))
    n = len(next(iter(result.values()))[0])
    assert all(len(items) == len(scores) == n for items, scores in result.values())
    assert all(set(items) <= set(prediction.items) for items, _ in result.values())
    built = statistic(name, {part: scores[None] for part, (_, scores) in result.items()})
    assert built is not None
    expected = METRICS[name](prediction, annotations)
    assert built(np.ones((1, n)))[0, 0] == pytest.approx(expected, abs=1e-12)


INFLUENCES = [
    (name, kind)
    for name, kind in EVERY
    if METRICS[name].tested
    and not isinstance(METRICS[name].formula, OverItems)
    and (METRICS[name].statistic is None or kind == "multi-label")
]


@pytest.mark.parametrize(("name", "kind"), INFLUENCES)
def test_contributions_are_the_influence_of_an_item(name: str, kind: str) -> None:
    """To leave an item out moves the score by what its contribution says, up to 1 / n^2."""
    size = 600 if name.startswith("DIC") else 200  # of which two annotators share 30
    prediction, annotations = predicted(SCALES[kind], size=size), people(SCALES[kind], size=size)
    metric = METRICS[name]
    items, contributions = metric.item_scores(prediction, annotations)[name]
    n, whole = len(items), metric(prediction, annotations)
    moved = []
    for item in list(items)[:40]:
        code = annotations.items.find([item])[0]
        without = annotations.take(annotations.item != code)
        moved.append((n - 1) * (whole - metric(prediction, without)))
    spread = np.std(contributions[:40])
    assert spread > 0.05
    np.testing.assert_allclose(moved, contributions[:40] - whole, atol=0.3 * spread)
    assert np.corrcoef(moved, contributions[:40])[0, 1] > 0.99
