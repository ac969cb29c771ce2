"""Sets and intervals with a promised coverage: split conformal prediction from several answers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self, get_args

import numpy as np
import pyarrow as pa

from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.metrics.metric import common_items, common_pairs, two_sided
from dissensus.prediction import Prediction
from dissensus.scales import Interval, MultiLabel, Nominal, Ordinal, Scale, has_value

Of = Literal["answer", "annotator", "consensus", "distribution"]
CHOSEN = Nominal(("no", "yes"))  # whether a value is in a set
FEWEST = 10  # answers of an annotator whose coverage is shown
COVERED = {
    "answer": "one more annotator's answer",
    "annotator": "the annotator's own answer",
    "consensus": "the consensus",
    "distribution": "the shares of all values",
}


@dataclass(eq=False)
class Conformal:
    """Sets of values, or intervals of ratings, that contain what is observed with a promised
    probability.

    They are calibrated on items that the method did not learn from. The promise holds on average
    over items and answers drawn like those of the calibration, however good the predictions are; it
    is none for a single item, annotator or group. Nominal: the values whose predicted share is
    large enough. Ordinal: levels in a row. Interval: from one quantile of the predicted
    distribution to another, both moved by the same amount for all items.

    Every item counts the same, and so does every answer to it: what Monte-Carlo conformal
    prediction (Stutz et al. 2023) gives with infinitely many draws of answers, and what Lee,
    Barber and Willett (2023) prove to cover one more answer.

    Args:
        coverage: the promised probability.
        of: what is covered: "answer", one of another annotator; "annotator", that of each pair in
            `by_annotator`; "consensus"; or "distribution", the shares of all values at once, of as
            many answers as items of the calibration have.

    Example:
        >>> from dissensus import Names, Nominal
        >>> scale, items = Nominal(("no", "yes")), Names([f"t{n}" for n in range(20)])
        >>> prediction = Prediction(scale, items, np.tile([0.3, 0.7], (20, 1)), np.ones(20, int))
        >>> answers = Annotations.from_arrays(
        ...     items, None, ["yes"] * 18 + ["no"] * 2, scale=scale, items=items
        ... )
        >>> Conformal(0.8).fit(prediction, answers).sets(prediction)[0].tolist()
        [False, True]

    References: Vovk et al. (2005); Sadinle et al. (2019), for nominal sets; Romano et al. (2019),
    for intervals.
    """

    coverage: float = 0.9
    of: Of = "answer"
    margin_: float = field(init=False, repr=False)  # the largest score that is covered
    n_units_: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not 0 < self.coverage < 1:
            raise DataError(f"coverage must be between 0 and 1, found {self.coverage:g}")
        if self.of not in get_args(Of):
            raise DataError(f"of must be one of {', '.join(get_args(Of))}, not {self.of!r}")

    def fit(
        self, prediction: Prediction, answers: Annotations, units: np.ndarray | None = None
    ) -> Self:
        """Calibrate on the answers to items that the method did not learn from.

        Args:
            units: groups of items with, for example, the same content, (n_items,): each group
                counts the same, instead of each item.
        """
        scores, item, share = self.scores(prediction, answers, units)
        self.n_units_ = round(share.sum())
        if not self.n_units_:
            raise DataError("no answers to calibrate on: none is to an item that is predicted")
        order = np.argsort(scores, kind="stable")
        wanted = self.coverage * (self.n_units_ + 1) * (1 - 1e-12)
        at = int(np.searchsorted(np.cumsum(share[order]), wanted))
        self.margin_ = float(scores[order[at]]) if at < len(order) else math.inf
        return self

    def sets(self, prediction: Prediction) -> np.ndarray:
        """The set of each item, (n_items, n_values) booleans; of ratings the ends of the interval,
        (n_items, 2); of the distribution the ends of each share, (n_items, n_values, 2). With
        of="annotator", of each pair instead of each item."""
        shares, value = self._predicted(prediction)
        scale = prediction.scale
        if self.of == "distribution":
            return np.stack([shares - self.margin_, shares + self.margin_], axis=-1).clip(0, 1)
        if isinstance(scale, Interval):
            low, high = self._ends(scale, shares, value)
            ends = np.stack([low - self.margin_, high + self.margin_], axis=1)
            return np.sort(ends.clip(scale.low, scale.high), axis=1)
        return _likely(scale, shares, value) >= -self.margin_

    def columns(self, prediction: Prediction) -> dict[str, Any]:
        """The sets as columns of a table: annotator_set or consensus_set; of ratings _low and _high
        instead; of the distribution share.VALUE.low and share.VALUE.high."""
        sets, scale = self.sets(prediction), prediction.scale
        name = "consensus" if self.of == "consensus" else "annotator"
        if isinstance(scale, Interval):
            return {f"{name}_low": sets[:, 0], f"{name}_high": sets[:, 1]}
        values = np.array(getattr(scale, "values", ()), dtype=object)
        if sets.ndim == 2:
            lists = pa.array([values[row].tolist() for row in sets], pa.list_(pa.string()))
            return {f"{name}_set": lists}
        columns: dict[str, Any] = {}
        for value, ends in zip(values, sets.transpose(1, 2, 0), strict=True):
            columns |= {f"share.{value}.low": ends[0], f"share.{value}.high": ends[1]}
        return columns

    def size(self, prediction: Prediction) -> float:
        """How large the sets are, the mean over items: values in a set, the length of an interval,
        or how far a share may be from the predicted one."""
        sets = self.sets(prediction)
        if self.of == "distribution":
            return self.margin_
        sizes = sets.sum(axis=1) if sets.dtype == bool else sets[:, 1] - sets[:, 0]
        return float(sizes.mean()) if len(sizes) else math.nan

    def scores(
        self, prediction: Prediction, answers: Annotations, units: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """How far each answer to a predicted item is from what is predicted: the larger, the less
        likely. Also its item (a code into those of the answers), and its share of the answers to
        its unit, (n,) each. An answer is in its set if the score is `margin_` or less."""
        shares, value = self._predicted(prediction)
        scale, answers = prediction.scale, answers.to(prediction.scale)
        if self.of == "distribution":
            place, item = common_items(prediction.items, answers)
            away = np.abs(answers.distribution()[item] - shares[place]).max(axis=1)
            return away, item, _share(item, np.ones(len(item)), units)
        labels = answers.consensus() if self.of == "consensus" else answers
        if self.of == "annotator":
            kept, row = common_pairs(prediction, answers)
        else:
            row = prediction.items.find(labels.items)[labels.item]
            kept = np.flatnonzero(row >= 0)
            row = row[kept]
        item, answer = labels.item[kept], labels.answer[kept]
        if isinstance(scale, Interval):
            low, high = self._ends(scale, shares, value)
            scores = np.maximum(low[row] - answer, answer - high[row])
        else:
            scores = -_likely(scale, shares, value)[row, answer]
        return scores, item, _share(item, labels.votes[kept].astype(float), units)

    def _predicted(self, prediction: Prediction) -> tuple[np.ndarray, np.ndarray]:
        """The shares and the answer of each item or pair."""
        if isinstance(prediction.scale, MultiLabel):
            raise DataError("a coverage is promised for each value of a set; see `of_value`")
        if self.of == "distribution" and isinstance(prediction.scale, Interval):
            raise DataError("of='distribution' is for values; for ratings, use of='consensus'")
        if self.of != "annotator":
            return prediction.distribution, prediction.consensus
        pairs = prediction.by_annotator
        if pairs is None or pairs.distribution is None:
            raise DataError("no distributions of annotators were predicted; use of='answer'")
        return pairs.distribution, pairs.value

    def _ends(
        self, scale: Interval, shares: np.ndarray, value: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """What the margin is added to: two quantiles, or twice the mean if that is covered."""
        if self.of == "consensus":
            return value, value
        tail = (1 - self.coverage) / 2
        return quantile(scale, shares, tail), quantile(scale, shares, 1 - tail)


def of_value(one: Any, at: int) -> Any:
    """A prediction of sets, or answers, as "no" or "yes" to one value of their scale."""
    if isinstance(one, Annotations):
        return replace(one, scale=CHOSEN, answer=has_value(one.answer, at).astype(np.int32))
    pairs = one.by_annotator
    if pairs is not None and pairs.distribution is not None:
        chosen = has_value(pairs.value, at).astype(np.int32)
        pairs = replace(pairs, value=chosen, distribution=two_sided(pairs.distribution)[:, at])
    chosen = has_value(one.consensus, at).astype(np.int32)
    return Prediction(CHOSEN, one.items, two_sided(one.distribution)[:, at], chosen, pairs)


def coverage_notes(sets: Conformal, prediction: Prediction, answers: Annotations) -> list[str]:
    """How large sets are, and for "answer" how coverage differs between annotators, a line each.

    Args:
        prediction: of the items that were calibrated on.
    """
    scale, size = prediction.scale, sets.size(prediction)
    how_large = f"sets of {size:.2f} of {scale.n_columns} values on average"
    if isinstance(scale, Interval):
        how_large = f"intervals of {size:.3g} of {scale.high - scale.low:g} on average"
    elif sets.of == "distribution":
        how_large = f"within {size:.2f} of those predicted"
    if math.isinf(sets.margin_):
        how_large = f"everything, because {sets.n_units_} items are too few"
    lines = [f"{sets.coverage:.0%} coverage of {COVERED[sets.of]}: {how_large}"]
    if sets.of != "answer" or answers.annotator is None:
        return lines
    scores, item, _ = sets.scores(prediction, answers)
    code = answers.annotator[np.isin(answers.item, item)]
    n, inside = np.bincount(code), np.bincount(code, scores <= sets.margin_)
    often = n >= FEWEST
    if often.sum() > 1:
        of = inside[often] / n[often]
        lines.append(
            f"{of.min():.0%} to {of.max():.0%} of an annotator's answers are in the sets, of the "
            f"{len(of)} with {FEWEST} answers or more"
        )
    least = math.ceil(sets.coverage / (1 - sets.coverage) - 1e-9)
    if (n > 0).sum() < least:
        lines.append(
            f"nothing is promised for other annotators: {sets.coverage:.0%} needs at least {least} "
            f"of them, found {(n > 0).sum()}"
        )
    return lines


def _likely(scale: Scale, shares: np.ndarray, value: np.ndarray) -> np.ndarray:
    """The share of each value, (n, n_values), raised so that the predicted answer has the largest,
    and that the levels above any bound are in a row."""
    shares = shares.copy()
    shares[np.arange(len(shares)), value] = shares.max(axis=1)
    if not isinstance(scale, Ordinal):
        return shares
    from_below = np.maximum.accumulate(shares, axis=1)
    from_above = np.maximum.accumulate(shares[:, ::-1], axis=1)[:, ::-1]
    return np.minimum(from_below, from_above)


def quantile(scale: Interval, shares: np.ndarray, level: float) -> np.ndarray:
    """The rating with this much of the mass below it, (n,); mass is even within a bin.

    Example:
        >>> quantile(Interval(0, 10, n_bins=2), np.array([[0.5, 0.5], [1, 0]]), 0.25).tolist()
        [2.5, 1.25]
    """
    edges = np.linspace(scale.low, scale.high, scale.n_bins + 1)
    below = np.pad(shares.cumsum(axis=1), ((0, 0), (1, 0))) / shares.sum(axis=1, keepdims=True)
    return np.array([np.interp(level, row, edges) for row in below])


def _share(item: np.ndarray, weight: np.ndarray, units: np.ndarray | None) -> np.ndarray:
    """The weight of each row as a share of its unit's."""
    unit = np.unique(item if units is None else units[item], return_inverse=True)[1]
    return weight / np.bincount(unit, weight)[unit]
