"""Panels of annotators with a chosen make-up, and populations: what they would answer, from the
predicted answers of each annotator."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dissensus.agreement import group_annotators
from dissensus.annotations.annotations import most_frequent
from dissensus.corpus import Corpus
from dissensus.errors import DataError, listed
from dissensus.names import Names
from dissensus.prediction import Prediction
from dissensus.scales import Interval, MultiLabel, Nominal, Scale

PANELS = 1000
ENDS = (0.05, 0.95)  # of the interval of verdicts


@dataclass(frozen=True, eq=False)
class Verdicts:
    """The verdicts of panels: the most frequent answer (nominal) or the median of their members.

    Verdicts that tie in a panel count in equal parts.
    """

    scale: Scale
    value: np.ndarray  # (n_items,) the usual verdict
    shares: np.ndarray  # (n_items, n_columns) of the panels, for each verdict
    low: np.ndarray  # (n_items,) 90 % of the verdicts are from here (not nominal)
    high: np.ndarray  # to here

    def columns(self) -> dict[str, Any]:
        """As columns of a table: jury, jury_low and jury_high (not nominal), jury.VALUE."""
        named = {"jury": self.value}
        if not isinstance(self.scale, Nominal):
            named |= {"jury_low": self.low, "jury_high": self.high}
        shares = zip(getattr(self.scale, "values", ()), self.shares.T, strict=False)
        return {name: self.scale.column(of) for name, of in named.items()} | {
            f"jury.{value}": share for value, share in shares
        }

    def changed(self, other: Verdicts) -> np.ndarray:
        """The items with another usual verdict, beyond the chance of the draws, (n_items,)."""
        apart = np.abs(self.shares - other.shares).sum(axis=1) / 2
        return (self.value != other.value) & (apart > 2 * np.sqrt(0.5 / PANELS))


def seats_of(text: str) -> tuple[str, dict[str, int]]:
    """The attribute of a jury, and the seats of each group.

    Example:
        >>> seats_of("gender=f:6,gender=m:6")
        ('gender', {'f': 6, 'm': 6})
    """
    seats, attributes = {}, set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*(.+?)\s*=\s*(.+?)\s*:\s*(0*[1-9]\d*)\s*", part)
        if not match:
            raise DataError(f"a jury is written as gender=f:6,gender=m:6, found {text!r}")
        attributes.add(match[1])
        seats[match[2]] = int(match[3])
    if len(attributes) > 1:
        raise DataError(
            f"the seats of a jury are by one attribute, found {listed(sorted(attributes))}"
        )
    return attributes.pop(), seats


def groups_of(corpus: Corpus, attribute: str, annotators: Names) -> dict[str, np.ndarray]:
    """The annotators (codes into `annotators`) of each group by an attribute."""
    groups = group_annotators(corpus, attribute)
    code = np.append(groups.code, -1)[corpus.annotators.find(annotators)]  # (n_annotators,)
    return {name: np.flatnonzero(code == at) for at, name in enumerate(groups.names)}


def jury(
    prediction: Prediction, pools: Sequence[np.ndarray], seats: Sequence[int], seed: int = 0
) -> Verdicts:
    """The verdicts of 1,000 panels, whose members are drawn from pools, each at most once, and
    answer as predicted for them, at random.

    Args:
        prediction: of all annotators of the pools for all items.
        pools: codes of annotators, with the number of seats that are theirs.
    """
    draw, scale = np.random.default_rng(seed), prediction.scale
    shares = _by_item(prediction).cumsum(axis=2)
    members = np.hstack(
        [
            pool[draw.random((PANELS, len(pool))).argsort(axis=1)[:, :n]]
            for pool, n in zip(pools, seats, strict=True)
        ]
    )  # (n_panels, n_seats)
    first, last = (members.shape[1] - 1) // 2, members.shape[1] // 2
    verdicts, medians = [], []
    for below in shares:  # (n_annotators, n_columns)
        answer = (below[members] < draw.random(members.shape)[..., None]).sum(axis=2)
        answer = np.minimum(answer, scale.n_columns - 1)
        if isinstance(scale, Nominal):
            best = most_frequent((answer[..., None] == np.arange(scale.n_columns)).sum(axis=1))
            verdicts.append((best / best.sum(axis=1, keepdims=True)).mean(axis=0))
            continue
        if isinstance(scale, Interval):
            bins = (scale.high - scale.low) / scale.n_bins
            rating = np.sort(scale.low + (answer + draw.random(answer.shape)) * bins, axis=1)
            median = (rating[:, first] + rating[:, last]) / 2
            medians.append(np.quantile(median, [0.5, *ENDS]))
            verdicts.append(scale.one_hot(median).mean(axis=0))
        else:
            middle = np.sort(answer, axis=1)[:, [first, last]]
            verdicts.append(np.bincount(middle.ravel(), minlength=scale.n_columns) / middle.size)
    of_panels = np.array(verdicts)
    if isinstance(scale, Interval):
        value, low, high = np.array(medians).T
        return Verdicts(scale, value, of_panels, low, high)
    low, high = ((of_panels.cumsum(axis=1) < end - 1e-9).sum(axis=1) for end in ENDS)
    return Verdicts(scale, scale.consensus(of_panels), of_panels, low, high)


def reweighted(
    prediction: Prediction, groups: Mapping[str, np.ndarray], shares: Mapping[str, float]
) -> Prediction:
    """The prediction for a population: each group of annotators has its share of an item's
    distribution, in equal parts for its annotators."""
    if missing := [name for name in shares if not len(groups.get(name, ()))]:
        there = listed([name for name, codes in groups.items() if len(codes)], 20)
        raise DataError(f"no annotator of the model is in {listed(missing)}; there are {there}")
    weight = np.zeros(max(int(codes.max(initial=-1)) for codes in groups.values()) + 1)
    for name, share in shares.items():
        weight[groups[name]] = share / len(groups[name]) / sum(shares.values())
    used = _by_item(prediction)
    mean = np.einsum("a,iav->iv", weight, used[:, : len(weight)])
    consensus = prediction.scale.consensus(mean).astype(prediction.scale.dtype)
    return replace(prediction, distribution=mean, consensus=consensus)


def _by_item(prediction: Prediction) -> np.ndarray:
    """The predicted shares of each annotator, (n_items, n_annotators, n_columns)."""
    pairs = prediction.by_annotator
    if pairs is None or pairs.distribution is None:
        raise DataError("no distributions of annotators were predicted")
    if isinstance(prediction.scale, MultiLabel):
        raise DataError("a jury has no verdict on multi-label answers")
    size = len(prediction.items), len(pairs.annotators), prediction.scale.n_columns
    shares = np.zeros(size)
    shares[pairs.item, pairs.annotator] = pairs.distribution
    return shares / shares.sum(axis=2, keepdims=True).clip(1e-12)
