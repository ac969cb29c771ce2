"""Floors that need no fitted method, and the metrics of a comparison."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.evaluation.protocols import Fold
from dissensus.metrics import METRICS, bounds, dic_floor, metric_name

DIC = ("DIC", "DIC, normalised")
Floors = dict[str, dict[str, dict[str, float]]]  # question -> metric -> floor -> score


def metrics_for(
    corpus: Corpus, questions: Sequence[str], folds: Sequence[Fold], requested: Sequence[str] | None
) -> tuple[str, ...]:
    """The metrics to compute: the requested ones, else those that tables show and normalised DIC.

    A metric that applies to none of the questions is refused.
    """
    known = {question: corpus[question] for question in questions}
    if requested:
        named = [metric_name(name) for name in requested]
        unused = [name for name in named if not any(METRICS[name].suits(a) for a in known.values())]
        if unused:
            kinds = ", ".join(sorted({a.scale.kind for a in known.values()}))
            raise DataError(f"{corpus.name}: {unused[0]!r} does not apply to these {kinds} answers")
        return tuple(name for name in METRICS if name in named)
    first = folds[0].parts(corpus)[1]
    dic = any(_has_dic(first[question]) for question in questions)
    return tuple(
        name
        for name, metric in METRICS.items()
        if (metric.short and any(METRICS[name].suits(a) for a in known.values()))
        or (dic and name == "DIC, normalised")
    )


def with_gold(corpus: Corpus, questions: Sequence[str], metrics: Sequence[str]) -> tuple[str, ...]:
    """The metrics, followed by those that are also computed against gold labels."""
    kinds = {corpus.gold[question].scale.kind for question in questions if question in corpus.gold}
    gold = [m for m in metrics if METRICS[m].gold and kinds & set(METRICS[m].scales)]
    return (*metrics, *(f"{name} (gold)" for name in gold))


def floors(
    corpus: Corpus, questions: Sequence[str], metrics: Sequence[str], folds: Sequence[Fold]
) -> Floors:
    """The scores of a perfect prediction on all test items, and the DIC that noise alone gives."""
    by_question: Floors = {}
    for question in questions:
        annotations = corpus[question]
        tested = np.unique(np.concatenate([fold.test for fold in folds]))
        soft = [name for name in metrics if METRICS[name].soft]
        perfect = bounds(soft, annotations, annotations.items.take(tested)) if soft else {}
        by_metric = {
            name: {"perfect prediction": bound.perfect}
            for name, bound in perfect.items()
            if not math.isnan(bound.perfect)
        }
        if any(name in metrics for name in DIC) and _allows_dic(annotations):
            by_metric |= _noise(corpus, question, metrics, folds)
        by_question[question] = by_metric
    return by_question


def _noise(
    corpus: Corpus, question: str, metrics: Sequence[str], folds: Sequence[Fold]
) -> dict[str, dict[str, float]]:
    """The noise floor of DIC: the mean over folds, as for DIC itself."""
    each = [dic_floor(fold.parts(corpus)[1][question]) for fold in folds]
    means = np.mean([[dic.value, dic.normalised] for dic in each], axis=0)
    return {
        name: {"noise floor": float(mean)}
        for name, mean in zip(DIC, means, strict=True)
        if name in metrics and not math.isnan(mean)
    }


def _has_dic(annotations: Annotations) -> bool:
    return _allows_dic(annotations) and dic_floor(annotations, n_splits=1).pairs > 0


def _allows_dic(annotations: Annotations) -> bool:
    return annotations.annotator is not None and annotations.scale.kind in ("nominal", "ordinal")
