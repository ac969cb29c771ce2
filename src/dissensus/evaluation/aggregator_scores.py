"""Every aggregator on the answers to one question, against gold labels where there are some."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dissensus.aggregation import AGGREGATORS, Aggregator
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.evaluation.comparison_table import ALPHA, higher_is_better
from dissensus.evaluation.prediction_scores import evaluate
from dissensus.evaluation.resampling import drawing_once
from dissensus.evaluation.significance.difference import Difference, corrected
from dissensus.evaluation.significance.method_difference import metric_over_items
from dissensus.metrics import GOLD, METRICS, gold_item_scores
from dissensus.names import Names
from dissensus.prediction import Prediction, Predictions
from dissensus.scales import Interval, MultiLabel

RESAMPLES = 2000


@dataclass(frozen=True, eq=False)
class AggregatorScores:
    """One aggregator: its scores, or the reason why it does not apply."""

    name: str
    prediction: Prediction | None = None
    scores: dict[str, float] = field(default_factory=dict)  # by metric, such as "accuracy (gold)"
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)  # 95 %, over items
    same: float = math.nan  # share of items as by the first one; of ratings, the mean distance
    tied: int | None = None  # items with several equally likely answers; None for ratings
    best: bool = False
    against_best: Difference | None = None  # this one minus the best, on the first metric
    reason: str = ""

    @property
    def as_good(self) -> bool:
        """Whether it is the best, or does not differ from it after Holm's correction."""
        return self.best or (
            self.against_best is not None and not self.against_best.adjusted < ALPHA
        )


def aggregator_scores(
    corpus: Corpus, question: str, aggregators: Sequence[str] | None = None, *, seed: int = 0
) -> list[AggregatorScores]:
    """Fit every aggregator to a question; the best one by gold labels comes first.

    The others are compared with it by a test over items, with Holm's correction. Without gold
    labels, they are in the order of `AGGREGATORS`. Those that do not apply come last.

    Example:
        >>> from dissensus.annotations import Annotations
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t1", "cleo", "no")]
        >>> corpus = Corpus.build("mine", ["t1"], {"rude": Annotations.from_rows(rows)})
        >>> [row.name for row in aggregator_scores(corpus, "rude", ["majority", "mean"])]
        ['majority', 'mean']
    """
    corpus.check_questions([question])
    fitted: dict[str, Aggregator] = {}
    refused = []
    without_skills = [name for name, one in AGGREGATORS.items() if not one.takes_skills]
    for name in aggregators or without_skills:
        try:
            fitted[name] = AGGREGATORS[name]().fit(corpus[question])
        except DataError as error:
            refused.append(AggregatorScores(name, reason=str(error)))
    if not fitted:
        raise DataError(refused[0].reason)
    first = next(iter(fitted.values())).prediction_
    rows = [
        AggregatorScores(
            name,
            one.prediction_,
            same=_same_answers(one.prediction_, first),
            tied=_tied(one.prediction_),
        )
        for name, one in fitted.items()
    ]
    gold = corpus.gold.get(question)
    if gold is not None and np.isin(gold.item, corpus[question].item).any():
        with drawing_once():
            rows = _against_best(_scored(rows, corpus, question, seed), corpus, gold, seed)
    return [*rows, *refused]


def _scored(
    rows: list[AggregatorScores], corpus: Corpus, question: str, seed: int
) -> list[AggregatorScores]:
    """The rows with their scores against gold labels."""
    kind = corpus[question].scale.kind
    metrics = [m.name + GOLD for m in METRICS.values() if m.gold and m.short and kind in m.scales]
    metrics.sort(key=lambda name: name != f"accuracy{GOLD}")  # the first decides
    whole = replace(corpus, splits={})
    scored = []
    for row in rows:
        assert row.prediction is not None
        predictions = Predictions({question: row.prediction}, row.name, corpus.name)
        [result] = evaluate(
            predictions, whole, [question], metrics, intervals=True, seed=seed
        ).results
        scores = {name: result.scores[name] for name in metrics if name in result.scores}
        scored.append(replace(row, scores=scores, intervals=result.intervals))
    return scored


def _against_best(
    rows: list[AggregatorScores], corpus: Corpus, gold: Annotations, seed: int
) -> list[AggregatorScores]:
    """The rows from the best to the worst, each with its difference from the best."""
    metric = next(iter(rows[0].scores))
    sign = -1 if higher_is_better(metric) else 1
    best, *others = sorted(rows, key=lambda row: sign * row.scores[metric])
    units = corpus.units()

    def scored(row: AggregatorScores) -> tuple[Names, dict[str, np.ndarray]]:
        """The items, and what each of them contributes to the metric."""
        assert row.prediction is not None
        parts = gold_item_scores(row.prediction, gold, [metric])
        items = next(iter(parts.values()))[0]
        return items, {part: each[None] for part, (_, each) in parts.items()}

    def difference(row: AggregatorScores) -> Difference:
        (items, mine), (_, theirs) = scored(row), scored(best)
        drawing: dict[str, Any] = {"groups": units[corpus.items.codes(items)], "seed": seed}
        return metric_over_items(metric, mine, theirs, resamples=RESAMPLES, **drawing)

    differences = corrected([difference(row) for row in others])
    pairs = zip(others, differences, strict=True)
    return [replace(best, best=True), *(replace(row, against_best=d) for row, d in pairs)]


def _same_answers(prediction: Prediction, first: Prediction) -> float:
    place = first.items.find(prediction.items)
    shared = place >= 0
    mine, theirs = prediction.consensus[shared], first.consensus[place[shared]]
    ratings = isinstance(prediction.scale, Interval)
    return float(np.mean(np.abs(mine - theirs) if ratings else mine == theirs))


def _tied(prediction: Prediction) -> int | None:
    """The number of items with several equally likely answers."""
    if isinstance(prediction.scale, Interval) or prediction.distribution.shape[1] < 2:
        return None
    if isinstance(prediction.scale, MultiLabel):
        return int((np.abs(prediction.distribution - 0.5) < 1e-9).any(axis=1).sum())
    second, first = np.sort(prediction.distribution, axis=1)[:, -2:].T
    return int((first - second < 1e-9).sum())
