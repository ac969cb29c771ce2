"""Soft metrics: how far is a predicted distribution from the distribution of the answers?

Each function scores items: `observed` and `predicted` are distributions over values,
(n_items, ..., n_values), whose last axis sums to 1; the result lacks that axis. On a multi-label
scale every value is a distribution of its own (not chosen, chosen), on an axis in between. On an
interval scale answers are counted in the bins of the prediction's grid.
"""

from __future__ import annotations

import numpy as np

from dissensus.annotations import Annotations
from dissensus.metrics.matching import distributions
from dissensus.metrics.statistics import Sums, ratio
from dissensus.prediction import Prediction
from dissensus.scales import Interval, Ordinal, Scale

SMALLEST = 1e-12  # smaller probabilities are replaced by it, so that logarithms are finite


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


def reverse_kl(observed: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """sum q ln(q / p), in nats; p below 1e-12 counts as 1e-12.

    Each hundredth of mass on a value that no annotator gave costs about 0.28, so that few answers
    per item make it large for any method.
    """
    return kl(predicted, observed)


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


def jsd_base_2(observed: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """As `jsd`, in bits: 0 to 1."""
    return jsd(observed, predicted) / np.log(2)


def po_jsd(observed: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """1 - `jsd_base_2`: 1 where the two distributions are equal.

    Reference: Kurniawan et al. (2025), arXiv:2502.01891.
    """
    return 1 - jsd_base_2(observed, predicted)


def manhattan(observed: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """sum |p - q|, 0 to 2."""
    return np.abs(observed - predicted).sum(axis=-1)


def tvd(observed: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Total variation distance: half of sum |p - q|, 0 to 1.

    The share of annotators who would have to answer differently for the prediction to be right.
    By the name DistCE it is a calibration error, item by item.

    Example:
        >>> tvd(np.array([0.5, 0.5]), np.array([0.8, 0.2])).round(4)
        np.float64(0.3)

    Reference: Baan et al. (2022), doi:10.18653/v1/2022.emnlp-main.124, for DistCE.
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


def soft_micro_f1(prediction: Prediction, annotations: Annotations) -> float:
    """2 sum min(p, q) / sum (p + q) over all items and values.

    Equal to soft accuracy where one value is chosen. On a multi-label scale p and q are the shares
    that chose each value, so that values that are never chosen do not count; nan if nothing is
    chosen at all, or no predicted item has answers.

    Reference: Kurniawan et al. (2025), arXiv:2502.01891.
    """
    observed, predicted = distributions(prediction, annotations)
    total = float((observed + predicted).sum())
    return float(2 * np.minimum(observed, predicted).sum() / total) if total else float("nan")


def soft_micro_f1_sums(prediction: Prediction, annotations: Annotations) -> Sums:
    """The same as a function of sums over items."""
    observed, predicted = distributions(prediction, annotations)
    common = 2 * np.minimum(observed, predicted).sum(axis=1)
    return ratio(common, (observed + predicted).sum(axis=1))
