"""How good is a prediction, compared with the answers? `(Prediction, Annotations) -> float`.

Items and annotators are matched by name; what was not predicted or not answered does not count.
A metric is a function and an entry of `METRICS`, in the order in which tables show them.
"""

from __future__ import annotations

from dissensus.metrics import soft
from dissensus.metrics.annotators import ccc_by_annotator
from dissensus.metrics.attention import (
    Alignment,
    MapSimilarity,
    PairMarks,
    PartHits,
    annotator_similarity,
    aopc,
    attention_auroc,
    attention_by_part,
    chance_f1,
    heaviest,
    map_blocks,
    map_similarity,
    overlap_f1,
    pair_marks,
    paired_similarity,
    part_hits,
    similarity_alignment,
)
from dissensus.metrics.consensus import concordance
from dissensus.metrics.densities import (
    DENSITY_METRICS,
    DensityMetric,
    constant_density,
    divided_names,
)
from dissensus.metrics.dic import Dic, dic_floor, dic_of
from dissensus.metrics.metric import Compared, Metric, compared, worst_decile
from dissensus.metrics.scoring import (
    GOLD,
    Bounds,
    annotator_scores,
    bounds,
    gold_item_scores,
    gold_scores,
    item_scores,
    metric_name,
    score,
    scores,
)
from dissensus.metrics.soft import entropy, excess_kurtosis, normalised_entropy, smoothed_votes
from dissensus.metrics.suite import METRICS

__all__ = [
    "Alignment",
    "MapSimilarity",
    "PairMarks",
    "PartHits",
    "annotator_similarity",
    "aopc",
    "attention_by_part",
    "map_blocks",
    "map_similarity",
    "pair_marks",
    "paired_similarity",
    "part_hits",
    "similarity_alignment",
    "DENSITY_METRICS",
    "GOLD",
    "METRICS",
    "Bounds",
    "Compared",
    "DensityMetric",
    "Dic",
    "Metric",
    "annotator_scores",
    "attention_auroc",
    "bounds",
    "chance_f1",
    "compared",
    "concordance",
    "constant_density",
    "dic_floor",
    "dic_of",
    "divided_names",
    "excess_kurtosis",
    "gold_item_scores",
    "gold_scores",
    "heaviest",
    "item_scores",
    "metric_name",
    "normalised_entropy",
    "overlap_f1",
    "score",
    "scores",
    "smoothed_votes",
    "worst_decile",
    "ccc_by_annotator",
    "entropy",
    "soft",
]
