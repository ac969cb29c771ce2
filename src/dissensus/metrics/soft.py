"""Soft metrics: how far is a predicted distribution from the distribution of the answers?

Each function scores items: `observed` and `predicted` are distributions over values,
(n_items, ..., n_values), whose last axis sums to 1; the result lacks that axis. On a multi-label
scale every value is a distribution of its own (not chosen, chosen), on an axis in between. On an
interval scale answers are counted in the bins of the prediction's grid.
"""

from __future__ import annotations

import numpy as np

from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.metrics.metric import common_items, distributions, shares
from dissensus.metrics.statistics import Sums, correlation, divided
from dissensus.prediction import Prediction
from dissensus.scales import Interval, MultiLabel, Ordinal, Scale, has_value

SMALLEST = 1e-12  # smaller probabilities are replaced by it, so that logarithms are finite
BINS = 15  # of the calibration error
ADDED = 0.5  # votes for every value of an ensemble
EVEN = 1e-12  # entropies and masses that differ by less count as the same


def cross_entropy(observed: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """-sum p ln q, in nats; q below 1e-12 counts as 1e-12.

    0 only where annotators are unanimous and the prediction is certain.

    Example:
        >>> cross_entropy(np.array([0.5, 0.5]), np.array([0.5, 0.5])).round(4)
        np.float64(0.6931)
    """
    surprise = observed * np.log(np.maximum(predicted, SMALLEST))
    return 0.0 - surprise.sum(axis=-1)  # 0.0 and not -0.0


def kl(observed: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """sum p ln(p / q), in nats: the cross-entropy minus that of a perfect prediction.

    A value with p = 0 adds nothing; q below 1e-12 counts as 1e-12.

    Example:
        >>> kl(np.array([0.5, 0.5]), np.array([0.9, 0.1])).round(4)
        np.float64(0.5108)
    """
    above = np.where(observed > 0, observed, 1)
    below = np.where(observed > 0, np.maximum(predicted, SMALLEST), 1)
    return (observed * np.log(above / below)).sum(axis=-1)


def jsd(observed: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """The Jensen-Shannon divergence, in nats: 0 to ln 2.

    The mean of the divergences (`kl`) of both distributions from their average.

    Example:
        >>> jsd(np.array([0.5, 0.5]), np.array([1.0, 0.0])).round(4)
        np.float64(0.2158)

    Reference: Lin (1991), doi:10.1109/18.61115.
    """
    middle = (observed + predicted) / 2
    return np.maximum((kl(observed, middle) + kl(predicted, middle)) / 2, 0)  # rounding


def manhattan(observed: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """sum |p - q|, 0 to 2."""
    return np.abs(observed - predicted).sum(axis=-1)


def tvd(observed: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Total variation distance: half of sum |p - q|, 0 to 1.

    The share of annotators who would have to answer differently for the prediction to be right.
    Also called DistCE, a calibration error item by item (Baan et al., 2022).

    Example:
        >>> tvd(np.array([0.5, 0.5]), np.array([0.8, 0.2])).round(4)
        np.float64(0.3)
    """
    return manhattan(observed, predicted) / 2


def intersection(observed: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """sum min(p, q), which is 1 - `tvd`; also called soft accuracy.

    Reference: Geng (2016), doi:10.1109/TKDE.2016.2545658; Kurniawan et al. (2025),
    arXiv:2502.01891.
    """
    return np.minimum(observed, predicted).sum(axis=-1)


def chebyshev(observed: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """max |p - q|, 0 to 1.

    Reference: Geng (2016), doi:10.1109/TKDE.2016.2545658; also for the next three.
    """
    return np.abs(observed - predicted).max(axis=-1, initial=0)


def clark(observed: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """The root of sum ((p - q) / (p + q))^2; a value where both are 0 adds 0.

    0 to the root of the number of values. Each value that no annotator gave but that has
    some mass adds 1, however small that mass is.
    """
    return np.sqrt((_relative(observed, predicted) ** 2).sum(axis=-1))


def canberra(observed: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """sum |p - q| / (p + q); a value where both are 0 adds 0. See `clark`."""
    return _relative(observed, predicted).sum(axis=-1)


def _relative(observed: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    total = observed + predicted
    return np.abs(observed - predicted) / np.where(total > 0, total, 1)


def cosine(observed: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """The cosine of the angle between p and q; 1 where they are equal."""
    lengths = np.sqrt((observed**2).sum(axis=-1) * (predicted**2).sum(axis=-1))
    return (observed * predicted).sum(axis=-1) / lengths


def wasserstein(observed: np.ndarray, predicted: np.ndarray, scale: Scale) -> np.ndarray:
    """The mass times the distance that turns one distribution into the other.

    Ordinal: levels are one step apart, whatever they are called. Interval: the ends of the scale
    are -1 and 1, and answers in one bin are not distinguished.

    Example:
        >>> levels = Ordinal(("1", "2", "3"))
        >>> wasserstein(np.array([[0, 0, 1.0]]), np.array([[0.5, 0.5, 0]]), levels).tolist()
        [1.5]
    """
    step = 2 / scale.n_bins if isinstance(scale, Interval) else 1.0
    return np.abs(np.cumsum(observed - predicted, axis=-1))[..., :-1].sum(axis=-1) * step


def lewidi2023_cross_entropy(observed: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """The soft score of LeWiDi 2023: -sum p ln(clip(q, 1e-12, 1 - 1e-12) + 1e-9).

    Close to `cross_entropy`, but an excluded value costs 20.7 nats instead of 27.6, so that
    one-hot predictions score better.

    Reference: Leonardelli et al. (2023), doi:10.18653/v1/2023.semeval-1.314.
    """
    logs = np.log(np.clip(predicted, 1e-12, 1 - 1e-12) + 1e-9)
    return 0.0 - (observed * logs).sum(axis=-1)


def lewidi2025_soft(observed: np.ndarray, predicted: np.ndarray, scale: Scale) -> np.ndarray:
    """The soft score of LeWiDi 2025: `wasserstein` on an ordinal scale, else `manhattan`."""
    if isinstance(scale, Ordinal):
        return wasserstein(observed, predicted, scale)
    return manhattan(observed, predicted)


# ---- calibration ----


def expected_calibration_error(
    prediction: Prediction, annotations: Annotations, n_bins: int = BINS
) -> float:
    """The gap between the confidence of a method and the share of annotators who agree, 0 to 1.

    Each item counts once: its most probable value (of tied values the first), the mass on it, and
    the share of annotators who gave it. Items are binned by that mass into `n_bins` equal bins of
    [0, 1] (15; an edge belongs to the bin above). The gap between mean mass and mean share of a bin
    is weighted by the number of its items. The outcome is the answers, not one true label, so that
    the observed distribution itself scores 0. On a multi-label scale each value of each item
    counts, as chosen or not. nan where no predicted item has answers.

    Example:
        >>> answers = Annotations.from_rows([("t1", "ann", "yes"), ("t1", "bob", "no")])
        >>> bold = Prediction(answers.scale, answers.items, np.array([[0.1, 0.9]]), np.array([1]))
        >>> round(expected_calibration_error(bold, answers), 4)
        0.4

    Reference: Guo et al. (2017), arXiv:1706.04599, with answers as outcomes.
    """
    observed, predicted = shares(prediction, annotations)
    width = observed.shape[-1]
    observed, predicted = observed.reshape(-1, width), predicted.reshape(-1, width)
    if not observed.size:
        return float("nan")
    best = predicted.argmax(axis=1)[:, None]
    sure = np.take_along_axis(predicted, best, axis=1)[:, 0]
    share = np.take_along_axis(observed, best, axis=1)[:, 0]
    bins = np.clip(np.floor(sure * n_bins + 1e-9), 0, n_bins - 1).astype(np.int64)
    gaps = np.abs(np.bincount(bins, sure - share))
    return float(gaps.sum() / len(sure))


# ---- votes of an ensemble's members ----


def smoothed_votes(counts: np.ndarray) -> np.ndarray:
    """Shares of votes with one half added to every value, over the last axis.

    Even if all members agree, other answers are possible: without the half, a value that no member
    chose would cost 27.6 nats for each annotator who gave it.

    Example:
        >>> smoothed_votes(np.array([[5, 0], [3, 2]])).round(3).tolist()
        [[0.917, 0.083], [0.583, 0.417]]

    Reference: Krichevsky & Trofimov (1981), doi:10.1109/TIT.1981.1056331.
    """
    added = np.asarray(counts, dtype=float) + ADDED
    return added / added.sum(axis=-1, keepdims=True)


def member_votes(prediction: Prediction) -> np.ndarray:
    """How many members give which answer, (n_items, n_columns); of sets how many do not choose
    and choose each value, (n_items, n_values, 2)."""
    members = prediction.members
    if members is None:
        raise DataError("the votes of members need an ensemble; these predictions have no members")
    n_members, n_items = members.shape
    if isinstance(prediction.scale, MultiLabel):
        bits = range(len(prediction.scale))
        chosen = np.stack([has_value(members, bit).sum(axis=0) for bit in bits], axis=1)
        return np.stack([n_members - chosen, chosen], axis=-1)
    width = prediction.scale.n_columns
    cell = np.arange(n_items) * width + members.astype(np.int64)
    return np.bincount(cell.ravel(), minlength=n_items * width).reshape(n_items, width)


def members_cross_entropy(prediction: Prediction, annotations: Annotations) -> np.ndarray:
    """The cross-entropy of each item's smoothed votes of members, (n_common, ...), in nats."""
    observed, _ = shares(prediction, annotations)
    predicted, _ = common_items(prediction.items, annotations)
    return cross_entropy(observed, smoothed_votes(member_votes(prediction)[predicted]))


# ---- uncertainty ----


def entropy_correlation(prediction: Prediction, annotations: Annotations) -> float:
    """Pearson's correlation over items of the observed and the predicted entropy.

    1 where the prediction is least certain exactly where annotators disagree most, whatever it
    predicts. nan where undefined: fewer than two predicted items have answers, or either side has
    the same entropy everywhere.

    Reference: Uma et al. (2021), doi:10.1613/jair.1.12752.
    """
    observed, predicted = _entropies(prediction, annotations)
    if len(observed) < 2 or np.ptp(observed) < EVEN or np.ptp(predicted) < EVEN:
        return float("nan")
    return float(cosine(observed - observed.mean(), predicted - predicted.mean()))


def entropy_correlation_sums(prediction: Prediction, annotations: Annotations) -> Sums:
    """`entropy_correlation` as a function of sums over items."""
    return correlation(*_entropies(prediction, annotations))


def entropy(distribution: np.ndarray) -> np.ndarray:
    """The entropy of each row in nats, (n,): 0 sure, ln(n_values) even; nan where it holds nan."""
    logs = np.log(np.where(distribution > 0, distribution, 1))
    return np.abs((distribution * logs).sum(axis=1))  # not -0.0


def normalised_entropy(distribution: np.ndarray) -> np.ndarray:
    """The entropy of each row as a share of the highest possible, (n,): 0 sure, 1 even.

    nan where there is only one value.

    Example:
        >>> normalised_entropy(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
        [1.0, 0.0]
    """
    if distribution.shape[1] < 2:
        return np.full(len(distribution), np.nan)
    return entropy(distribution) / np.log(distribution.shape[1])


def excess_kurtosis(distribution: np.ndarray) -> np.ndarray:
    """How peaked each soft label is, (n,): the kurtosis of its masses minus 3 (Fisher's).

    With population moments over the values. Highest where all mass is on one value; with two
    values always -2, so that it tells nothing. nan where all values have the same mass.

    Args:
        distribution: mass over values, (n, n_values).

    Example:
        >>> round(float(excess_kurtosis(np.eye(12)[:1])[0]), 4)
        7.0909

    Reference: Fornaciari et al. (2021), doi:10.18653/v1/2021.naacl-main.204, Table 3.
    """
    apart = distribution - distribution.mean(axis=1, keepdims=True)
    variance = (apart**2).mean(axis=1)
    peaked = np.abs(apart).max(axis=1, initial=0) > EVEN
    return divided((apart**4).mean(axis=1), np.where(peaked, variance**2, 0.0)) - 3


def _entropies(prediction: Prediction, annotations: Annotations) -> tuple[np.ndarray, np.ndarray]:
    observed, predicted = distributions(prediction, annotations)
    return normalised_entropy(observed), normalised_entropy(predicted)
