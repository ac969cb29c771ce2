"""Every metric, in the order in which tables show them. A new metric is a function and an entry."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from dissensus.annotations import Annotations
from dissensus.metrics import annotators, consensus, soft, statistics
from dissensus.metrics.dic import dic_by_item, dic_of, normalised_dic_by_item
from dissensus.metrics.metric import (
    AnswerScores,
    Formula,
    Metric,
    Needs,
    OverAnnotators,
    OverAnswers,
    OverItems,
    Whole,
    of_labels,
    of_shares,
    of_sums,
    plain_mean,
    weighted_mean,
    worst_decile,
)
from dissensus.prediction import Prediction

LABELS = ("nominal", "ordinal")
CHOICES = ("nominal", "ordinal", "multi-label")
RATINGS = ("interval",)
DISTANCES = ("ordinal", "interval")
EVERY_SCALE = ("nominal", "ordinal", "interval", "multi-label")

WORST = "mean of the worst tenth (rounded up) of the annotators with 10 answers or more"
WAYS: dict[object, str] = {  # to summarise scores of annotators
    plain_mean: "mean over annotators",
    weighted_mean: "mean over annotators, weighted by their answers",
}


def _soft(
    name: str,
    formula: Formula | Callable[..., np.ndarray],
    definition: str,
    scales: tuple[str, ...] = CHOICES,
    *,
    higher: bool = False,
    short: bool = False,
) -> Metric:
    """A metric of distributions, or the mean over items of a function of them."""
    if not isinstance(formula, Formula):
        formula = of_shares(formula)
    return Metric(name, formula, scales, "distributions", higher, definition, short)


def _label(name: str, formula: Formula, definition: str, *, short: bool = False) -> Metric:
    """A metric of the consensus, higher where more of it is right."""
    return Metric(name, formula, CHOICES, "consensus", True, definition, short)


def _f1(
    function: consensus.F1,
    statistic: Callable[[np.ndarray, np.ndarray], statistics.Sums] | None = None,
) -> Whole:
    """A function of the counts of values."""
    sums = partial(consensus.f1_sums, function=function)
    return of_sums(sums, partial(consensus.f1_score, function=function), statistic)


def _of_answers(
    name: str,
    each: Callable[[Prediction, Annotations], AnswerScores],
    scales: tuple[str, ...],
    higher: bool,
    definition: str,
    *,
    needs: Needs = "annotators",
    short: bool = False,
) -> list[Metric]:
    """A score per answer: mean over annotators, mean over answers, and the worst annotators."""
    over_annotators = OverAnswers(each, "annotators")
    worst = partial(worst_decile, higher_is_better=higher)
    ways: list[tuple[str, Formula, str]] = [
        ("", over_annotators, "mean over annotators"),
        (", weighted", OverAnswers(each, "answers"), "mean over answers"),
        (", worst decile", OverAnnotators(over_annotators.annotator_scores, worst), WORST),
    ]
    return [
        Metric(
            name + way, formula, scales, needs, higher, f"{definition}; {how}", short and not way
        )
        for way, formula, how in ways
    ]


def _of_annotators(
    ways: dict[str, Callable[[np.ndarray, np.ndarray], float]],
    each: Callable[[Prediction, Annotations], np.ndarray],
    scales: tuple[str, ...],
    definition: str,
    without: Callable[[Prediction, Annotations], AnswerScores] | None = None,
) -> list[Metric]:
    """A score per annotator, higher where better, summarised in several ways."""
    return [
        Metric(
            name,
            OverAnnotators(each, summary, without),
            scales,
            "annotators",
            True,
            f"{definition}; {WAYS.get(summary, WORST)}",
        )
        for name, summary in ways.items()
    ]


_worst = partial(worst_decile, higher_is_better=True)
_ALL = [
    _soft(
        "cross-entropy", soft.cross_entropy, "-sum p ln q; q below 1e-12 counts as that", short=True
    ),
    Metric(
        "CCC",
        Whole(consensus.ccc, statistics.concordance),
        RATINGS,
        "consensus",
        True,
        "Lin's concordance of consensus and mean rating, unbiased variances",
        short=True,
    ),
    _soft(
        "Wasserstein",
        of_shares(soft.wasserstein, on_scale=True),
        "sum of differences of the cumulated p and q, in levels, or in units of [-1, 1]",
        DISTANCES,
        short=True,
    ),
    _label(
        "macro-F1",
        _f1(consensus.macro_f1, statistics.macro_f1),
        "F1 of the consensus, mean over the values that occur",
        short=True,
    ),
    _label(
        "accuracy",
        of_labels(consensus.correct),
        "share of items whose consensus was predicted: of levels the median; of tied values the "
        "first",
        short=True,
    ),
    Metric(
        "MAE",
        OverItems(consensus.distance),
        DISTANCES,
        "consensus",
        False,
        "mean distance of the predicted from the observed consensus: of medians, in levels; of "
        "mean ratings",
        short=True,
    ),
    _label(
        "micro-F1",
        _f1(consensus.micro_f1),
        "F1 of all items together: of single values the accuracy; against gold the hard score of "
        "LeWiDi 2023",
    ),
    _label(
        "weighted F1",
        _f1(consensus.weighted_f1),
        "F1 of the consensus, values weighted by how often they are observed",
    ),
    _soft("KL", soft.kl, "sum p ln(p / q)"),
    _soft(
        "JSD",
        soft.jsd,
        "half of KL(p, m) + KL(q, m), m the average of p and q, in nats",
        EVERY_SCALE,
    ),
    _soft("TVD", soft.tvd, "half of sum |p - q|", EVERY_SCALE),
    _soft("Manhattan", soft.manhattan, "sum |p - q|", EVERY_SCALE),
    _soft("soft accuracy", soft.intersection, "sum min(p, q)", higher=True),
    _soft("Chebyshev", soft.chebyshev, "max |p - q|"),
    _soft("Clark", soft.clark, "root of sum ((p - q) / (p + q))^2"),
    _soft("Canberra", soft.canberra, "sum |p - q| / (p + q)"),
    _soft("cosine", soft.cosine, "of the angle between p and q", higher=True),
    _soft("intersection", soft.intersection, "sum min(p, q)", higher=True),
    _soft(
        "entropy correlation",
        of_sums(soft.entropy_correlation_sums, soft.entropy_correlation),
        "Pearson's, of the entropies of p and q over items",
        LABELS,
        higher=True,
    ),
    _soft(
        "ECE",
        Whole(soft.expected_calibration_error),
        "gap between the mass on the most probable value and the share of annotators who gave it, "
        "15 equal bins of [0, 1]",
    ),
    Metric(
        "cross-entropy of members",
        OverItems(soft.members_cross_entropy),
        CHOICES,
        "members",
        False,
        "of the votes of an ensemble's members, one half added to each value",
    ),
    _soft(
        "LeWiDi 2023 cross-entropy",
        soft.lewidi2023_cross_entropy,
        "-sum p ln(clip(q, 1e-12, 1 - 1e-12) + 1e-9)",
    ),
    _soft(
        "LeWiDi 2025 soft",
        of_shares(soft.lewidi2025_soft, on_scale=True),
        "Manhattan; ordinal: Wasserstein in levels",
    ),
    Metric(
        "LeWiDi 2025 perspectivist",
        OverAnswers(annotators.lewidi2025_error, "items"),
        CHOICES,
        "annotators",
        False,
        "share of wrong answers (of sets: values) of an item; ordinal: distance over the number of "
        "levels",
    ),
    *_of_answers(
        "annotator accuracy",
        annotators.hit,
        LABELS,
        True,
        "share of an annotator's answers that equal the predicted ones: the most probable levels",
        short=True,
    ),
    Metric(
        "annotator median accuracy",
        OverAnswers(annotators.median_hit, "annotators"),
        ("ordinal",),
        "annotators",
        True,
        "share of an annotator's answers that equal the predicted median; mean over annotators",
        short=True,
    ),
    Metric(
        "annotator CCC",
        Whole(annotators.annotator_ccc, by_item=annotators.annotator_ccc_by_item),
        RATINGS,
        "annotators",
        True,
        "Lin's concordance over all single ratings, unbiased variances",
        short=True,
    ),
    Metric(
        "annotator error",
        OverAnswers(annotators.distance, "answers"),
        DISTANCES,
        "annotators",
        False,
        "distance to single answers, mean over answers",
        short=True,
    ),
    *_of_annotators(
        {
            "annotator macro-F1": plain_mean,
            "annotator macro-F1, weighted": weighted_mean,
            "annotator macro-F1, worst decile": _worst,
        },
        partial(annotators.f1_by_annotator, weighted=False),
        LABELS,
        "F1 of an annotator's answers, mean over values",
        partial(annotators.f1_without, weighted=False),
    ),
    *_of_annotators(
        {"annotator weighted F1": plain_mean},
        partial(annotators.f1_by_annotator, weighted=True),
        LABELS,
        "F1 of an annotator's answers, values weighted by how often the annotator gave them",
        partial(annotators.f1_without, weighted=True),
    ),
    *_of_answers(
        "annotator cross-entropy",
        annotators.surprise,
        CHOICES,
        False,
        "-ln q of an annotator's own distribution",
        needs="annotator distributions",
    ),
    *_of_answers(
        "annotator distance",
        annotators.distance,
        DISTANCES,
        False,
        "distance to an annotator's answers",
    ),
    *_of_annotators(
        {"annotator CCC, mean": plain_mean, "annotator CCC, worst decile": _worst},
        annotators.ccc_by_annotator,
        RATINGS,
        "Lin's concordance of an annotator's ratings, unbiased variances",
        annotators.ccc_without,
    ),
    Metric(
        "DIC",
        Whole(lambda p, a: dic_of(p, a).value, by_item=dic_by_item, raised=True),
        LABELS,
        "annotators",
        False,
        "Frobenius norm of the difference of the observed and the predicted kappas",
    ),
    Metric(
        "DIC, normalised",
        Whole(lambda p, a: dic_of(p, a).normalised, by_item=normalised_dic_by_item, raised=True),
        LABELS,
        "annotators",
        False,
        "the same over the root of the number of entries compared",
    ),
    Metric(
        "DIC, all pairs",
        Whole(lambda p, a: dic_of(p, a, at_least=1).value, raised=True),
        LABELS,
        "annotators",
        False,
        "DIC with every two annotators that have a common item, as in Zhang et al. (2025)",
    ),
]

METRICS: dict[str, Metric] = {  # first those that tables show by default
    metric.name: metric for metric in sorted(_ALL, key=lambda metric: not metric.short)
}


def register(metric: Metric) -> None:
    """Compute a further metric in this program, wherever metrics are named or shown."""
    METRICS[metric.name] = metric
