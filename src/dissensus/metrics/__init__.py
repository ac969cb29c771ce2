"""How good is a prediction, held against what people said? `(Prediction, Annotations) -> float`.

Items and annotators are matched by name; what was not predicted or not answered does not count.
A metric is a function and an entry of `METRICS`, in the order in which tables show them.
"""

from __future__ import annotations

from dissensus.metrics.annotators import (
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
from dissensus.metrics.continuous import ccc, concordance
from dissensus.metrics.dic import Dic, dic, dic_floor, dic_of, normalised_dic
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
from dissensus.metrics.hard import accuracy, macro_f1, micro_f1, weighted_f1
from dissensus.metrics.lewidi import (
    lewidi2023_cross_entropy,
    lewidi2025_perspectivist,
    lewidi2025_soft,
)
from dissensus.metrics.matching import Compared, compared
from dissensus.metrics.metric import Metric
from dissensus.metrics.rationales import (
    Marks,
    attention_auroc,
    chance_f1,
    heaviest,
    laid_out,
    marks,
    overlap_f1,
    overlap_iou,
    ranks,
)
from dissensus.metrics.scoring import Bounds, bounds, metric_name, scores
from dissensus.metrics.soft import (
    cross_entropy,
    floor,
    jsd,
    jsd_base_2,
    kl,
    po_jsd,
    reverse_kl,
)
from dissensus.metrics.suite import GENG, METRICS
from dissensus.metrics.uncertainty import (
    entropy_correlation,
    entropy_similarity,
    excess_kurtosis,
    normalised_entropy,
)
from dissensus.metrics.votes import members_cross_entropy, smoothed_votes

__all__ = [
    "GENG",
    "METRICS",
    "Bounds",
    "Compared",
    "Dic",
    "Marks",
    "Metric",
    "accuracy",
    "accuracy_by_annotator",
    "annotator_accuracy",
    "annotator_ccc",
    "annotator_error",
    "annotator_mean",
    "attention_auroc",
    "bounds",
    "canberra",
    "ccc",
    "ccc_by_annotator",
    "chance_f1",
    "chebyshev",
    "clark",
    "compared",
    "concordance",
    "cosine",
    "cross_entropy",
    "cross_entropy_by_annotator",
    "dic",
    "dic_floor",
    "dic_of",
    "distance_by_annotator",
    "distribution_calibration_error",
    "entropy_correlation",
    "entropy_similarity",
    "error_rate_by_annotator",
    "excess_kurtosis",
    "expected_calibration_error",
    "floor",
    "heaviest",
    "intersection",
    "jsd",
    "jsd_base_2",
    "kl",
    "laid_out",
    "lewidi2023_cross_entropy",
    "lewidi2025_perspectivist",
    "lewidi2025_soft",
    "macro_f1",
    "macro_f1_by_annotator",
    "manhattan",
    "marks",
    "members_cross_entropy",
    "metric_name",
    "micro_f1",
    "normalised_dic",
    "normalised_entropy",
    "overlap_f1",
    "overlap_iou",
    "po_jsd",
    "ranks",
    "reverse_kl",
    "scores",
    "smoothed_votes",
    "soft_accuracy",
    "soft_micro_f1",
    "tvd",
    "wasserstein",
    "weighted_f1",
    "weighted_mean",
    "worst_decile",
]
