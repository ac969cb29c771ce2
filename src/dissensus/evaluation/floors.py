"""Floors that need no fitted method, and the metrics of a comparison."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.evaluation.protocols import Fold
from dissensus.metrics import GOLD, METRICS, bounds, dic_floor, metric_name

DIC = ("DIC", "DIC, normalised")
Floors = dict[str, dict[str, dict[str, float]]]  # question -> metric -> floor -> score


def metrics_for(
    corpus: Corpus, questions: Sequence[str], folds: Sequence[Fold], requested: Sequence[str] | None
) -> tuple[str, ...]:
    """The metrics to compute: the requested ones, else those that tables show and normalised DIC.

    If no test item has an answer, only metrics against gold labels are computed. A metric that
    applies to none of the questions is refused.
    """
    test = tested_items(corpus, folds)
    answers = {question: test[question] for question in questions}
    answered = any(each.n_rows for each in answers.values())
    if requested:
        named = [metric_name(name) for name in requested]
        for name in named:
            _check_applies(name, corpus.name, answers, test.gold)
        every = [*METRICS, *(name + GOLD for name in METRICS)]
        return tuple(name for name in every if name in named)
    gold = with_gold(test, questions, [m.name for m in METRICS.values() if m.short])
    if not answered:
        return tuple(name for name in gold if name.endswith(GOLD))
    first = folds[0].parts(corpus)[1]
    able = [first[question] for question in questions if _allows_dic(first[question])]
    dic = any(dic_floor(each, n_splits=1).pairs > 0 for each in able)
    return tuple(
        name
        for name, metric in METRICS.items()
        if (metric.short and any(METRICS[name].suits(a) for a in answers.values()))
        or (dic and name == "DIC, normalised")
    )


def _check_applies(
    name: str, corpus: str, answers: Mapping[str, Annotations], gold: Mapping[str, Annotations]
) -> None:
    """Refuse a metric that no question allows, with the reason."""
    metric = METRICS[name.removesuffix(GOLD)]
    if name.endswith(GOLD):
        labels = [gold[question] for question in answers if question in gold]
        if not any(each.n_rows for each in labels):
            raise DataError(f"{corpus}: {name!r} needs gold labels, but no test item has one")
        if not any(each.scale.kind in metric.scales for each in labels):
            kinds = ", ".join(sorted({each.scale.kind for each in labels}))
            raise DataError(f"{corpus}: {name!r} does not apply to these {kinds} gold labels")
        return
    if not any(metric.suits(each) for each in answers.values()):
        kinds = ", ".join(sorted({each.scale.kind for each in answers.values()}))
        raise DataError(f"{corpus}: {name!r} does not apply to these {kinds} answers")
    if not any(each.n_rows for each in answers.values()):
        instead = f"; use {name + GOLD!r}" if metric.gold and gold else ""
        raise DataError(f"{corpus}: {name!r} needs answers, but no test item has one{instead}")


def with_gold(corpus: Corpus, questions: Sequence[str], metrics: Sequence[str]) -> tuple[str, ...]:
    """The metrics, followed by those that are also computed against gold labels."""
    labels = [corpus.gold[question] for question in questions if question in corpus.gold]
    kinds = {each.scale.kind for each in labels if each.n_rows}
    plain = [METRICS[name] for name in metrics if name in METRICS]
    gold = [metric.name + GOLD for metric in plain if metric.gold and kinds & {*metric.scales}]
    return tuple(dict.fromkeys([*metrics, *gold]))


def tested_items(corpus: Corpus, folds: Sequence[Fold]) -> Corpus:
    """The items that are in a test part."""
    tested = np.zeros(corpus.n_items, dtype=bool)
    for fold in folds:
        tested[fold.test] = True
    return corpus.select(items=tested)


def floors(
    corpus: Corpus, questions: Sequence[str], metrics: Sequence[str], folds: Sequence[Fold]
) -> Floors:
    """The scores of a perfect prediction on all test items, and the DIC that noise alone gives."""
    by_question: Floors = {}
    for question in questions:
        annotations = corpus[question]
        tested = np.unique(np.concatenate([fold.test for fold in folds]))
        soft = [name for name in metrics if name in METRICS and METRICS[name].soft]
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


def _allows_dic(annotations: Annotations) -> bool:
    return annotations.annotator is not None and annotations.scale.kind in ("nominal", "ordinal")
