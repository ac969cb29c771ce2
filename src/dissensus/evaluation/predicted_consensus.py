"""Whose predicted answers make up an item's distribution: of its annotators, or of all."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.metrics.metric import common_pairs, group_means
from dissensus.prediction import ByAnnotator, Prediction
from dissensus.scales import Interval

HINT = "predict with --annotators all"


class BothConsensus(NamedTuple):
    """The prediction that is compared with answers, and the one that is compared with gold."""

    of_answers: Prediction
    of_gold: Prediction


def predicted_consensus(
    prediction: Prediction, answers: Annotations, consensus: Literal["own", "all"] | None
) -> tuple[BothConsensus, list[str]]:
    """The prediction with the consensus of the items' own annotators, or of all that were
    predicted; and notes.

    By default the prediction as it is, and that of all for gold labels. An item's distribution is
    replaced only if it is the mean of some of its annotators', which a model of the truth is not.
    """
    pairs = prediction.by_annotator
    if pairs is None or pairs.distribution is None or answers.annotator is None:
        return BothConsensus(prediction, prediction), []
    own = np.zeros(len(pairs), dtype=bool)
    own[common_pairs(prediction, answers)[1]] = True
    more, every_pair = not own.all(), np.ones(len(pairs), dtype=bool)
    same = np.allclose(pairs.distribution, prediction.distribution[pairs.item], atol=1e-5)
    means = (_mean_of(prediction, pairs, kept).distribution for kept in (own, every_pair))
    if same or not any(np.allclose(m, prediction.distribution, atol=1e-5) for m in means):
        # a method that does not know annotators, a model of the truth, or a weighted mean
        return BothConsensus(prediction, prediction), []
    if consensus == "own":
        mine = _mean_of(prediction, pairs, own)
        return BothConsensus(mine, mine), []
    if more:
        every = _mean_of(prediction, pairs, every_pair)
        return BothConsensus(every if consensus == "all" else prediction, every), []
    if consensus == "all" and own.any():
        raise DataError(f"only the annotators of each item were predicted; {HINT}")
    note = f"against gold labels, the consensus is of each item's own annotators; for all, {HINT}"
    return BothConsensus(prediction, prediction), [note] if own.any() else []


def _mean_of(prediction: Prediction, pairs: ByAnnotator, kept: np.ndarray) -> Prediction:
    """The prediction with the mean of these rows; items without one stay as they are."""
    assert pairs.distribution is not None
    item, n = pairs.item[kept], len(prediction.items)
    columns = [group_means(item, column, n) for column in pairs.distribution[kept].T]
    mean = np.stack(columns, axis=1)
    known = ~np.isnan(mean[:, 0])
    mean[~known] = prediction.distribution[~known]
    if isinstance(prediction.scale, Interval):
        agreed = group_means(item, pairs.value[kept].astype(float), n)
    else:
        agreed = prediction.scale.consensus(mean)
    agreed = np.where(known, agreed, prediction.consensus)
    return replace(
        prediction, distribution=mean, consensus=agreed.astype(prediction.consensus.dtype)
    )
