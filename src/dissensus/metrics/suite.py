"""Every metric by name, in the order in which tables show them."""

from __future__ import annotations

from functools import partial

from dissensus.metrics.annotators import (
    Each,
    accuracy_by_annotator,
    annotator_accuracy,
    annotator_ccc,
    annotator_error,
    annotator_mean,
    ccc_by_annotator,
    cross_entropy_by_annotator,
    distance_by_annotator,
    error_rate_by_annotator,
    macro_f1_by_annotator,
    weighted_mean,
    worst_decile,
)
from dissensus.metrics.calibration import (
    distribution_calibration_error,
    expected_calibration_error,
)
from dissensus.metrics.continuous import ccc
from dissensus.metrics.dic import dic, normalised_dic
from dissensus.metrics.distances import (
    canberra,
    chebyshev,
    clark,
    cosine,
    intersection,
    manhattan,
    soft_accuracy,
    soft_micro_f1,
    tvd,
    wasserstein,
)
from dissensus.metrics.hard import SETS_TOO, accuracy, macro_f1, micro_f1, weighted_f1
from dissensus.metrics.lewidi import (
    lewidi2023_cross_entropy,
    lewidi2025_perspectivist,
    lewidi2025_soft,
)
from dissensus.metrics.metric import Function, Metric, Needs
from dissensus.metrics.soft import (
    CHOICES,
    EVERY_SCALE,
    cross_entropy,
    jsd,
    jsd_base_2,
    kl,
    po_jsd,
    reverse_kl,
)
from dissensus.metrics.uncertainty import entropy_correlation, entropy_similarity
from dissensus.metrics.votes import members_cross_entropy

LABELS = ("nominal", "ordinal")
RATINGS = ("interval",)
DISTANCES = ("ordinal", "interval")
GENG = ("Chebyshev", "Clark", "Canberra", "KL", "cosine", "intersection")  # Geng's six


def _label(function: Function, meaning: str, *, short: bool = False) -> Metric:
    return Metric(function, SETS_TOO, "items", True, meaning, gold=True, short=short)


def _near(
    function: Function, meaning: str, scales: tuple[str, ...] = CHOICES, *, short: bool = False
) -> Metric:
    """A soft metric that is low where the prediction is the people's distribution."""
    return Metric(function, scales, "items", False, meaning, short=short, soft=True)


def _alike(function: Function, meaning: str, scales: tuple[str, ...] = CHOICES) -> Metric:
    """A soft metric that is high where the prediction is the people's distribution."""
    return Metric(function, scales, "items", True, meaning, soft=True)


def _each(
    name: str, each: Each, scales: tuple[str, ...], higher: bool, needs: Needs = "annotators"
) -> dict[str, Metric]:
    """A score per annotator, summed up in three ways."""
    worst = partial(worst_decile, each, higher_is_better=higher)
    ways: dict[str, tuple[Function, str]] = {
        "": (partial(annotator_mean, each), "per person, mean over people"),
        ", weighted": (partial(weighted_mean, each), "per person, mean over answers"),
        ", worst decile": (worst, "mean of the worst tenth of people with 10 answers or more"),
    }
    return {
        f"annotator {name}{way}": Metric(function, scales, needs, higher, f"{name} {meaning}")
        for way, (function, meaning) in ways.items()
    }


LEADING: dict[str, Metric] = {  # what tables show unasked
    "cross-entropy": _near(cross_entropy, "surprise at people's answers, in nats", short=True),
    "CCC": Metric(
        ccc, RATINGS, "items", True, "concordance with the mean rating", gold=True, short=True
    ),
    "Wasserstein": _near(
        wasserstein,
        "distance to people's distribution, in levels, or in units of [-1, 1] for ratings",
        DISTANCES,
        short=True,
    ),
    "macro-F1": _label(macro_f1, "F1 of the consensus, mean over values", short=True),
    "accuracy": _label(accuracy, "share of items with the people's consensus", short=True),
    "annotator accuracy": Metric(
        annotator_accuracy,
        LABELS,
        "annotators",
        True,
        "share of a person's answers that was predicted, mean over people",
        short=True,
    ),
    "annotator CCC": Metric(
        annotator_ccc, RATINGS, "annotators", True, "concordance with single ratings", short=True
    ),
    "annotator error": Metric(
        annotator_error,
        DISTANCES,
        "annotators",
        False,
        "mean distance to single answers, in own units or levels",
        short=True,
    ),
}

FURTHER: dict[str, Metric] = {
    "micro-F1": _label(micro_f1, "F1 of all items together, which is the accuracy"),
    "weighted F1": _label(weighted_f1, "F1 of the consensus, values weighed by how common"),
    "KL": _near(kl, "cross-entropy above that of a perfect prediction"),
    "KL, reversed": _near(reverse_kl, "mass put where people do not answer, in nats"),
    "JSD": _near(jsd, "Jensen-Shannon divergence, 0 to ln 2", EVERY_SCALE),
    "JSD, base 2": _near(jsd_base_2, "Jensen-Shannon divergence, 0 to 1", EVERY_SCALE),
    "PO-JSD": _alike(po_jsd, "1 minus JSD, base 2", EVERY_SCALE),
    "TVD": _near(tvd, "total variation, half the Manhattan distance", EVERY_SCALE),
    "Manhattan": _near(manhattan, "sum of differences of shares, 0 to 2", EVERY_SCALE),
    "soft accuracy": _alike(soft_accuracy, "common mass, 1 minus TVD"),
    "soft micro-F1": _alike(soft_micro_f1, "common mass over all mass"),
    "Chebyshev": _near(chebyshev, "largest difference of shares"),
    "Clark": _near(clark, "root of squared relative differences"),
    "Canberra": _near(canberra, "sum of relative differences"),
    "cosine": _alike(cosine, "cosine of the two distributions"),
    "intersection": _alike(intersection, "common mass, as soft accuracy"),
    "entropy correlation": _alike(
        entropy_correlation, "does it doubt where people disagree? Pearson's", LABELS
    ),
    "entropy similarity": _alike(
        entropy_similarity, "does it doubt where people disagree? cosine", LABELS
    ),
    "ECE": _near(expected_calibration_error, "mass on its answer against people's share, 15 bins"),
    "DistCE": _near(distribution_calibration_error, "calibration item by item, the TVD"),
    "cross-entropy of members": Metric(
        members_cross_entropy,
        CHOICES,
        "members",
        False,
        "of the votes of members, smoothed by one half a value",
    ),
    "LeWiDi 2023 cross-entropy": _near(lewidi2023_cross_entropy, "the shared task's, clipped"),
    "LeWiDi 2025 soft": _near(lewidi2025_soft, "Manhattan, or Wasserstein in levels"),
    "LeWiDi 2025 perspectivist": Metric(
        lewidi2025_perspectivist,
        CHOICES,
        "annotators",
        False,
        "error rate, or distance over the number of levels",
    ),
    **_each("accuracy", accuracy_by_annotator, LABELS, True),
    **_each("error rate", error_rate_by_annotator, LABELS, False),
    **_each("macro-F1", macro_f1_by_annotator, LABELS, True),
    **_each("cross-entropy", cross_entropy_by_annotator, CHOICES, False, "annotator distributions"),
    **_each("distance", distance_by_annotator, DISTANCES, False),
    "annotator CCC, mean": Metric(
        partial(annotator_mean, ccc_by_annotator),
        RATINGS,
        "annotators",
        True,
        "concordance with a person's ratings, mean over people",
    ),
    "annotator CCC, worst decile": Metric(
        partial(worst_decile, ccc_by_annotator, higher_is_better=True),
        RATINGS,
        "annotators",
        True,
        "CCC mean of the worst tenth of people with 10 answers or more",
    ),
    "DIC": Metric(
        dic, LABELS, "annotators", False, "difference of the people's and predicted kappas"
    ),
    "DIC, normalised": Metric(
        normalised_dic, LABELS, "annotators", False, "typical error of the kappa of two people"
    ),
}

METRICS: dict[str, Metric] = LEADING | {n: m for n, m in FURTHER.items() if n not in LEADING}
