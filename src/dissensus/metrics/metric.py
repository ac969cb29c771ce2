"""Metric: how a score is computed, from which parts, for which scales, and how to read it.

A formula scores items (`OverItems`), answers of annotators (`OverAnswers`), annotators
(`OverAnnotators`) or everything at once (`Whole`). Whatever else is needed of a metric follows
from it: the score of each item, the score of each annotator, bounds, and which test applies.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.metrics.statistics import Sums, divided, jackknifed
from dissensus.names import Names
from dissensus.prediction import ByAnnotator, Prediction
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal, Scale
from dissensus.within import cached_within

Result = TypeVar("Result")
_CACHE: ContextVar[dict[tuple[Any, ...], tuple[Any, ...]] | None] = ContextVar("kept", default=None)


class Compared(NamedTuple):
    """How many items and answers a score is computed from."""

    items: int  # predicted items that have answers
    pairs: int  # answers whose annotator was predicted too


def require(prediction: Prediction, metric: str, *scales: str) -> None:
    """Refuse a metric that is not for the prediction's scale."""
    if prediction.scale.kind not in scales:
        kinds = " and ".join(", ".join(scales).rsplit(", ", 1))
        raise DataError(f"{metric} is for {kinds} answers, not for {prediction.scale.kind} ones")


def matching_once() -> AbstractContextManager[None]:
    """Within this block predictions and answers are matched once for all metrics."""
    return cached_within(_CACHE)


def _cached(
    function: Callable[[Prediction, Annotations], Result],
) -> Callable[[Prediction, Annotations], Result]:
    """Cache the result within `matching_once`; it must not be changed in place."""

    @wraps(function)
    def cached(prediction: Prediction, annotations: Annotations) -> Result:
        kept = _CACHE.get()
        if kept is None:
            return function(prediction, annotations)
        key = (function.__name__, id(prediction), id(annotations))
        if key not in kept:  # both stay alive with the result, so that their ids stay unique
            kept[key] = (function(prediction, annotations), prediction, annotations)
        return kept[key][0]

    return cached


def compared(prediction: Prediction, annotations: Annotations) -> Compared:
    """How many items, and answers of predicted annotators, there are to compare."""
    items = len(common_items(prediction.items, annotations)[0])
    if prediction.by_annotator is None or annotations.annotator is None:
        return Compared(items, 0)
    return Compared(items, len(common_pairs(prediction, annotations)[0]))


def common_items(predicted: Names, annotations: Annotations) -> tuple[np.ndarray, np.ndarray]:
    """The predicted items that have answers: codes into `predicted` and into the annotations."""
    if predicted == annotations.items:
        codes = np.arange(len(predicted))
    else:
        codes = annotations.items.find(predicted)
    answered = np.append(annotations.per_item() > 0, False)  # the last is for code -1: no such item
    predicted_codes = np.flatnonzero(answered[codes])
    return predicted_codes, codes[predicted_codes]


@_cached
def common_pairs(prediction: Prediction, annotations: Annotations) -> tuple[np.ndarray, np.ndarray]:
    """The answers whose annotator was predicted on their item: rows of the annotations, and their
    rows in `by_annotator`. Repeated answers have the same row."""
    by_annotator = predicted_annotators(prediction)
    codes = annotations.annotator_codes("a score per annotator")
    item = prediction.items.find(annotations.items)[annotations.item]
    annotator = by_annotator.annotators.find(annotations.annotators)[codes]
    width = max(len(by_annotator.annotators), 1)
    wanted = np.where((item >= 0) & (annotator >= 0), item * width + annotator, -1)
    keys = by_annotator.item.astype(np.int64) * width + by_annotator.annotator
    return rows_with_keys(keys, wanted)


def rows_with_keys(keys: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows of `wanted` that are among the keys, and the row of each there; -1 is none."""
    if not len(keys):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    order = np.argsort(keys, kind="stable")
    place = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
    rows = np.flatnonzero((keys[order][place] == wanted) & (wanted >= 0))
    return rows, order[place[rows]]


def predicted_annotators(prediction: Prediction) -> ByAnnotator:
    """What was predicted for annotators; refused if nothing was."""
    if prediction.by_annotator is None:
        raise DataError(
            "a score per annotator needs predictions by annotator; these predictions have none"
        )
    return prediction.by_annotator


@_cached
def distributions(
    prediction: Prediction, annotations: Annotations
) -> tuple[np.ndarray, np.ndarray]:
    """Observed and predicted distributions of the common items, (n_common, n_columns) each."""
    predicted_codes, codes = common_items(prediction.items, annotations)
    observed = annotations.to(prediction.scale).distribution()
    return observed[codes], np.asarray(prediction.distribution[predicted_codes], dtype=float)


def shares(prediction: Prediction, annotations: Annotations) -> tuple[np.ndarray, np.ndarray]:
    """Observed and predicted distributions of the common items, each summing to 1.

    (n_common, n_columns); on a multi-label scale a pair for each value, not chosen and chosen,
    (n_common, n_values, 2), so that a mean over items is also one over values.
    """
    observed, predicted = distributions(prediction, annotations)
    if not isinstance(prediction.scale, MultiLabel):
        return observed, predicted
    return two_sided(observed), two_sided(predicted)


def two_sided(marginals: np.ndarray) -> np.ndarray:
    """Each share as a distribution over not chosen and chosen, with a last axis of 2."""
    return np.stack([1 - marginals, marginals], axis=-1)


@_cached
def labels(prediction: Prediction, annotations: Annotations) -> tuple[np.ndarray, np.ndarray]:
    """The observed and the predicted consensus of the common items, (n_common,) codes each.

    Of tied values the first is the consensus.
    """
    predicted_codes, codes = common_items(prediction.items, annotations)
    consensus = _readable(annotations, prediction.scale).consensus(ties="first")
    truth = np.zeros(annotations.n_items, dtype=np.int64)
    truth[consensus.item] = codes_on(prediction.scale, consensus)
    return truth[codes], np.asarray(prediction.consensus[predicted_codes]).astype(np.int64)


def ratings(prediction: Prediction, annotations: Annotations) -> tuple[np.ndarray, np.ndarray]:
    """The mean rating and the predicted one of the common items, (n_common,) each."""
    predicted_codes, codes = common_items(prediction.items, annotations)
    answers = annotations.to(prediction.scale)
    sums = np.bincount(answers.item, answers.votes * answers.answer, minlength=answers.n_items)
    return sums[codes] / answers.voters()[codes], np.asarray(
        prediction.consensus[predicted_codes], float
    )


def _readable(annotations: Annotations, scale: Scale) -> Annotations:
    """The answers on `scale`, or on their own where they have values that it does not have."""
    if isinstance(annotations.scale, Nominal | Ordinal) and isinstance(scale, Nominal | Ordinal):
        if not set(annotations.scale.values) <= set(scale.values):
            return annotations
    return annotations.to(scale)


def codes_on(scale: Scale, annotations: Annotations) -> np.ndarray:
    """Answers as codes of `scale`, (n_rows,); values it does not have come after its own.

    Gold labels may have values that a method cannot predict; these are never right.
    """
    own_scale = annotations.scale
    if own_scale == scale:
        return annotations.answer
    if not (isinstance(own_scale, Nominal | Ordinal) and isinstance(scale, Nominal | Ordinal)):
        return annotations.to(scale).answer
    values = [*scale.values, *(value for value in own_scale.values if value not in scale.values)]
    return np.array([values.index(value) for value in own_scale.values])[annotations.answer]


def mean(values: np.ndarray) -> float:
    """The mean, nan of nothing."""
    return float(values.mean()) if values.size else float("nan")


Needs = Literal["distributions", "consensus", "annotators", "annotator distributions", "members"]
OBSERVED, PREDICTED = "people's consensus", "predicted consensus"  # names in results folders
FEWEST = 10  # answers that an annotator must have to be among the worst


class ItemScores(NamedTuple):
    """What each item contributes: scores whose mean is the metric, the observed and the predicted
    consensus, or nothing."""

    items: Names
    parts: tuple[np.ndarray, ...] = ()  # (n_items,) each


class AnswerScores(NamedTuple):
    """Scores of single answers whose annotator was predicted on their item."""

    rows: np.ndarray  # (n_compared,) rows of the annotations
    score: np.ndarray  # (n_compared,)


@dataclass(frozen=True)
class OverItems:
    """The mean over the predicted items that have answers."""

    each: Callable[[Prediction, Annotations], np.ndarray]  # (n_common, ...), see `common_items`

    def score(self, prediction: Prediction, annotations: Annotations) -> float:
        return mean(self.each(prediction, annotations))

    def item_scores(self, prediction: Prediction, annotations: Annotations) -> ItemScores:
        """The mean of each item's scores; on a multi-label scale an item has one for each value."""
        each = self.each(prediction, annotations)
        of_item = each.reshape(len(each), -1).mean(axis=1) if each.size else np.zeros(0)
        return ItemScores(_names(prediction, annotations), (of_item,))


@dataclass(frozen=True)
class OverAnswers:
    """The mean over annotators, answers or items of a score for each answer."""

    each: Callable[[Prediction, Annotations], AnswerScores]
    over: Literal["annotators", "answers", "items"]

    def score(self, prediction: Prediction, annotations: Annotations) -> float:
        rows, scores = self.each(prediction, annotations)
        if self.over == "answers":
            return mean(scores)
        group, n = self._groups(annotations, rows)
        means = group_means(group, scores, n)
        return mean(means[~np.isnan(means)])

    def item_scores(self, prediction: Prediction, annotations: Annotations) -> ItemScores:
        """A score for each item; their mean is the metric.

        Of a mean over items, the mean of the item's answers. Otherwise the metric plus what the
        item's answers contribute to its deviation (its influence), so that a test over items
        counts that annotators and items have different numbers of answers.
        """
        rows, scores = self.each(prediction, annotations)
        item = annotations.item[rows]
        of_item = np.bincount(item, minlength=annotations.n_items)
        kept = np.flatnonzero(of_item)
        if self.over == "items":
            means = group_means(item, scores, annotations.n_items)[kept]
            return ItemScores(annotations.items.take(kept), (means,))
        group, n = self._groups(annotations, rows)
        answers = np.bincount(group, minlength=n)
        weight = len(kept) / (answers[group] * max(np.count_nonzero(answers), 1))
        moved = _deviations(group, scores, answers) * weight
        influence = np.bincount(item, moved, minlength=annotations.n_items)[kept]
        total = self.score(prediction, annotations)
        return ItemScores(annotations.items.take(kept), (total + influence,))

    def annotator_scores(self, prediction: Prediction, annotations: Annotations) -> np.ndarray:
        """The mean score of each annotator's answers, (n_annotators,); nan without any."""
        rows, scores = self.each(prediction, annotations)
        annotator = annotations.annotator_codes("a score per annotator")[rows]
        return group_means(annotator, scores, annotations.n_annotators)

    def _groups(self, annotations: Annotations, rows: np.ndarray) -> tuple[np.ndarray, int]:
        """What has equal weight: the group of each row, and the number of groups."""
        if self.over == "annotators":
            codes = annotations.annotator_codes("a score per annotator")
            return codes[rows], annotations.n_annotators
        if self.over == "items":
            return annotations.item[rows], annotations.n_items
        return np.zeros(len(rows), dtype=np.int64), 1


@dataclass(frozen=True)
class OverAnnotators:
    """A summary of annotators' scores that are not means over answers, or of the worst ones."""

    each: Callable[[Prediction, Annotations], np.ndarray]  # (n_annotators,), nan where undefined
    summary: Callable[[np.ndarray, np.ndarray], float]  # of scores and numbers of answers
    without: Callable[[Prediction, Annotations], AnswerScores] | None = None  # each answer

    @property
    def is_mean(self) -> bool:
        return self.summary in (plain_mean, weighted_mean)

    def score(self, prediction: Prediction, annotations: Annotations) -> float:
        rows, _ = common_pairs(prediction, annotations)
        annotator = annotations.annotator_codes("a score per annotator")[rows]
        answers = np.bincount(annotator, minlength=annotations.n_annotators)
        return self.summary(self.each(prediction, annotations), answers)

    def item_scores(self, prediction: Prediction, annotations: Annotations) -> ItemScores:
        """Of a mean over annotators, the mean plus the influence of each item, from the score that
        an annotator would have without the answer to it."""
        if self.without is None or not self.is_mean:
            return ItemScores(annotations.items)
        rows, less = self.without(prediction, annotations)
        annotator = annotations.annotator_codes("a score per annotator")[rows]
        n = np.bincount(annotator, minlength=annotations.n_annotators)
        scores = self.each(prediction, annotations)
        weight = np.where(np.isnan(scores), 0, n if self.summary is weighted_mean else 1)
        rest = np.where(np.isnan(less), 0, weight[annotator] - (self.summary is weighted_mean))
        gone = np.nan_to_num(scores * weight)[annotator] - np.nan_to_num(less * rest)
        item, kept = annotations.item[rows], np.unique(annotations.item[rows])
        above, below = (
            total - np.bincount(item, lost, minlength=annotations.n_items)[kept]
            for total, lost in (
                (np.nansum(scores * weight), gone),
                (weight.sum(), weight[annotator] - rest),
            )
        )
        without = divided(above, below)
        score = self.score(prediction, annotations)
        return ItemScores(annotations.items.take(kept), (jackknifed(score, without),))

    def annotator_scores(self, prediction: Prediction, annotations: Annotations) -> np.ndarray:
        return self.each(prediction, annotations)


@dataclass(frozen=True)
class Whole:
    """A function of all items that is not a mean over them.

    `statistic` computes it from the observed and predicted consensus of weighted items, so that it
    can be tested over items; not on a multi-label scale, whose items have several values. There,
    and without a statistic, `by_item` has the metric plus the influence of each item on it, if it
    is smooth enough to have one.
    """

    function: Callable[[Prediction, Annotations], float]
    statistic: Callable[[np.ndarray, np.ndarray], Sums] | None = None
    by_item: Callable[[Prediction, Annotations], ItemScores] | None = None
    raised: bool = False  # by noise: few items make it too high, for every method alike

    def score(self, prediction: Prediction, annotations: Annotations) -> float:
        return self.function(prediction, annotations)

    def item_scores(self, prediction: Prediction, annotations: Annotations) -> ItemScores:
        """The observed and the predicted consensus of each item, or what `by_item` returns."""
        if self.statistic is None or isinstance(prediction.scale, MultiLabel):
            nothing = ItemScores(annotations.items)
            return self.by_item(prediction, annotations) if self.by_item else nothing
        on_interval = isinstance(prediction.scale, Interval)
        both = (ratings if on_interval else labels)(prediction, annotations)
        return ItemScores(_names(prediction, annotations), both)


Formula = OverItems | OverAnswers | OverAnnotators | Whole


@dataclass(frozen=True)
class Metric:
    """A metric. Call it with a prediction and annotations to get the score.

    Example:
        >>> from dissensus.metrics import METRICS
        >>> METRICS["TVD"].higher_is_better, METRICS["TVD"].scales
        (False, ('nominal', 'ordinal', 'interval', 'multi-label'))
    """

    name: str
    formula: Formula
    scales: tuple[str, ...]  # kinds of scales; predictions on any other are refused
    needs: Needs  # what must have been predicted
    higher_is_better: bool
    definition: str  # a line, as docs/metrics.md shows it
    short: bool = False  # whether tables show it by default

    @property
    def soft(self) -> bool:
        """Whether it has `bounds`: it compares distributions of items."""
        return self.needs == "distributions"

    @property
    def gold(self) -> bool:
        """Whether it can also be computed against gold labels: it compares labels of items."""
        return self.needs == "consensus"

    @property
    def statistic(self) -> Callable[[np.ndarray, np.ndarray], Sums] | None:
        """The metric as a function of weighted items' consensus, if it is not a mean over items."""
        return self.formula.statistic if isinstance(self.formula, Whole) else None

    def __call__(self, prediction: Prediction, annotations: Annotations) -> float:
        """The score; nan where it is undefined, for example without a common item."""
        require(prediction, self.name, *self.scales)
        return self.formula.score(prediction, annotations)

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the item scores that `item_scores` returns."""
        return (self.name,) if self.statistic is None else (OBSERVED, PREDICTED)

    @property
    def has_interval(self) -> bool:
        """Whether an interval over items of the score by itself holds what more items would give;
        a difference of two methods may have one nevertheless."""
        return self.tested and not (isinstance(self.formula, Whole) and self.formula.raised)

    @property
    def tested(self) -> bool:
        """Whether it has `item_scores`, so that a difference can be tested over items."""
        if isinstance(self.formula, OverAnnotators):
            return self.formula.without is not None and self.formula.is_mean
        if isinstance(self.formula, Whole):
            return self.formula.statistic is not None or self.formula.by_item is not None
        return True

    def item_scores(
        self, prediction: Prediction, annotations: Annotations
    ) -> dict[str, tuple[Names, np.ndarray]]:
        """What each item contributes, by name; empty if a metric is not computed from items.

        Scores whose mean is the metric, or the two consensus values that `statistic` takes.
        """
        require(prediction, self.name, *self.scales)
        items, parts = self.formula.item_scores(prediction, annotations)
        names = (self.name,) if len(parts) == 1 else self.parts
        return {name: (items, part) for name, part in zip(names, parts, strict=False)}

    def annotator_scores(self, prediction: Prediction, annotations: Annotations) -> np.ndarray:
        """The score of each annotator, (n_annotators,); nan where none of the answers counts."""
        require(prediction, self.name, *self.scales)
        if not isinstance(self.formula, OverAnswers | OverAnnotators):
            raise DataError(f"{self.name} scores items; it has no score for each annotator")
        return self.formula.annotator_scores(prediction, annotations)

    def applies(self, prediction: Prediction, annotations: Annotations) -> bool:
        """Whether it is for this scale, and what it needs was predicted and is known."""
        if prediction.scale.kind not in self.scales:
            return False
        if self.needs in ("distributions", "consensus", "members"):
            return self.needs != "members" or prediction.members is not None
        pairs = prediction.by_annotator
        if pairs is None or annotations.annotator is None:
            return False
        return self.needs == "annotators" or pairs.distribution is not None

    def suits(self, annotations: Annotations) -> bool:
        """Whether it is for this scale, and for answers with or without known annotators."""
        of_items = self.needs in ("distributions", "consensus")
        known = of_items or (self.needs != "members" and annotations.annotator is not None)
        return annotations.scale.kind in self.scales and known


# ---- formulas from plain functions ----


def of_shares(function: Callable[..., np.ndarray], *, on_scale: bool = False) -> OverItems:
    """The mean over items of a function of observed and predicted distributions.

    Args:
        on_scale: whether the function also needs the scale.
    """

    def each(prediction: Prediction, annotations: Annotations) -> np.ndarray:
        scale = (prediction.scale,) if on_scale else ()
        return function(*shares(prediction, annotations), *scale)

    return OverItems(each)


def of_labels(function: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> OverItems:
    """The mean over items of a function of observed and predicted consensus."""
    return OverItems(lambda prediction, annotations: function(*labels(prediction, annotations)))


def of_sums(
    sums: Callable[[Prediction, Annotations], Sums],
    function: Callable[[Prediction, Annotations], float] | None = None,
    statistic: Callable[[np.ndarray, np.ndarray], Sums] | None = None,
) -> Whole:
    """A function of sums over the common items; each has the influence of the jackknife.

    Args:
        function: the score, where sums would lose digits.
    """

    def by_item(prediction: Prediction, annotations: Annotations) -> ItemScores:
        scores = sums(prediction, annotations).by_item()
        return ItemScores(_names(prediction, annotations), (scores,))

    score = function or (lambda prediction, annotations: sums(prediction, annotations).score)
    return Whole(score, statistic, by_item)


def _names(prediction: Prediction, annotations: Annotations) -> Names:
    """The predicted items that have answers."""
    return prediction.items.take(common_items(prediction.items, annotations)[0])


# ---- summaries of annotators ----


def weighted_mean(scores: np.ndarray, answers: np.ndarray) -> float:
    """The mean over annotators who have a score, weighted by their number of compared answers."""
    counted = ~np.isnan(scores)
    if not counted.any():
        return float("nan")
    return float(scores[counted] @ answers[counted] / answers[counted].sum())


def plain_mean(scores: np.ndarray, answers: np.ndarray) -> float:
    """The mean over annotators who have a score; each has equal weight."""
    return mean(scores[~np.isnan(scores)])


def worst_decile(
    scores: np.ndarray, answers: np.ndarray, *, higher_is_better: bool, at_least: int = FEWEST
) -> float:
    """The mean score of the tenth of the annotators with the worst scores.

    Only annotators with `at_least` compared answers (10) and a score are ranked, because the worst
    of those with few answers are merely unlucky. A tenth of n is rounded up, so that it is at least
    one annotator. nan if no annotator has that many answers.

    Example:
        >>> scores, answers = np.array([0.9, 0.2, 0.5]), np.array([40, 12, 3])
        >>> worst_decile(scores, answers, higher_is_better=True)
        0.2
    """
    ranked = (answers >= at_least) & ~np.isnan(scores)
    ordered = np.sort(scores[ranked])
    size = -(-len(ordered) // 10)
    return mean(ordered[:size] if higher_is_better else ordered[len(ordered) - size :])


def _deviations(group: np.ndarray, scores: np.ndarray, size: np.ndarray) -> np.ndarray:
    """How far each score is from the mean of its group; in each group they add up to 0.

    Scaled so that their squares add up to what they would around the true mean. A single score
    says nothing about its group: all such groups are taken together.
    """
    alone = size[group] == 1
    group = np.where(alone, len(size), group)
    n = np.bincount(group, minlength=len(size) + 1).astype(float)
    deviation = scores - group_means(group, scores, len(n))[group]
    return deviation * np.sqrt(n / np.maximum(n - 1, 1))[group]


def group_means(group: np.ndarray, values: np.ndarray, n: int) -> np.ndarray:
    """The mean of the values of each group, (n,); nan where a group has none."""
    size = np.bincount(group, minlength=n).astype(float)
    sums = np.bincount(group, values, minlength=n)
    return divided(sums, size)
