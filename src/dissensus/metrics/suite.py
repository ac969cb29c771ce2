"""Every metric, in the order in which tables show them. A new metric is a function and an entry."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from dissensus.annotations import Annotations
from dissensus.metrics import annotators, hard, soft, statistics, uncertainty, votes
from dissensus.metrics.calibration import expected_calibration_error
from dissensus.metrics.continuous import ccc
from dissensus.metrics.dic import (
    dic,
    dic_by_item,
    dic_of_all_pairs,
    normalised_dic,
    normalised_dic_by_item,
)
from dissensus.metrics.metric import (
    AnswerScores,
    ByScale,
    Formula,
    Metric,
    Needs,
    OverAnnotators,
    OverAnswers,
    OverItems,
    Whole,
    by_common_item,
    of_labels,
    of_shares,
    of_shares_on_scale,
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
GENG_METRICS = ("Chebyshev", "Clark", "Canberra", "KL", "cosine", "intersection")  # Geng's six

WORST = "mean of the worst tenth (rounded up) of the annotators with 10 answers or more"


def _near(
    name: str,
    formula: Formula,
    definition: str,
    scales: tuple[str, ...] = CHOICES,
    *,
    short: bool = False,
) -> Metric:
    """A soft metric that is low where the predicted distribution is the observed one."""
    return Metric(name, formula, scales, "distributions", False, definition, short)


def _alike(
    name: str, formula: Formula, definition: str, scales: tuple[str, ...] = CHOICES
) -> Metric:
    """A soft metric that is high where the predicted distribution is the observed one."""
    return Metric(name, formula, scales, "distributions", True, definition)


def _label(name: str, formula: Formula, definition: str, *, short: bool = False) -> Metric:
    """A metric of the consensus, higher where more of it is right."""
    return Metric(name, formula, CHOICES, "consensus", True, definition, short)


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
        ("", over_annotators, f"{definition}; mean over annotators"),
        (", weighted", OverAnswers(each, "answers"), f"{definition}; mean over answers"),
        (
            ", worst decile",
            OverAnnotators(over_annotators.annotator_scores, worst),
            f"{definition}; {WORST}",
        ),
    ]
    return [
        Metric(name + way, formula, scales, needs, higher, text, short and not way)
        for way, formula, text in ways
    ]


def _of_annotators(
    ways: dict[str, Callable[[np.ndarray, np.ndarray], float]],
    each: Callable[[Prediction, Annotations], np.ndarray],
    scales: tuple[str, ...],
    definition: str,
    without: Callable[[Prediction, Annotations], AnswerScores] | None = None,
) -> list[Metric]:
    """A score per annotator, higher where better, summarised in several ways."""
    known: dict[object, str] = {
        plain_mean: "mean over annotators",
        weighted_mean: "mean over annotators, weighted by their answers",
    }
    return [
        Metric(
            name,
            OverAnnotators(each, summary, without),
            scales,
            "annotators",
            True,
            f"{definition}; {known.get(summary, WORST)}",
        )
        for name, summary in ways.items()
    ]


_worst = partial(worst_decile, higher_is_better=True)
_ACCURACY = _of_answers(
    "annotator accuracy",
    annotators.hit,
    LABELS,
    True,
    "share of an annotator's answers that equal the predicted ones",
    short=True,
)
_SHOWN = [  # what tables show by default, and what they lead with
    _near(
        "cross-entropy",
        of_shares(soft.cross_entropy),
        "-sum p ln q; q below 1e-12 counts as that",
        short=True,
    ),
    Metric(
        "CCC",
        Whole(ccc, statistics.concordance),
        RATINGS,
        "consensus",
        True,
        "Lin's concordance of consensus and mean rating, unbiased variances",
        short=True,
    ),
    _near(
        "Wasserstein",
        of_shares_on_scale(soft.wasserstein),
        "sum of differences of the cumulated p and q, in levels, or in units of [-1, 1]",
        DISTANCES,
        short=True,
    ),
    _label(
        "macro-F1",
        Whole(hard.macro_f1, statistics.macro_f1, by_common_item(hard.macro_f1_sums)),
        "F1 of the consensus, mean over the values that occur",
        short=True,
    ),
    _label(
        "accuracy",
        of_labels(hard.correct),
        "share of items whose consensus was predicted; of tied values the first",
        short=True,
    ),
    _ACCURACY[0],
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
]
_FURTHER = [
    _label(
        "micro-F1",
        ByScale(
            of_labels(hard.correct),
            Whole(hard.micro_f1, by_item=by_common_item(hard.micro_f1_sums)),
        ),
        "F1 of all items together: of single values the accuracy; against gold the hard score of "
        "LeWiDi 2023",
    ),
    _label(
        "weighted F1",
        Whole(hard.weighted_f1, by_item=by_common_item(hard.weighted_f1_sums)),
        "F1 of the consensus, values weighted by how often they are observed",
    ),
    _near("KL", of_shares(soft.kl), "sum p ln(p / q)"),
    _near(
        "KL, reversed",
        of_shares(soft.reverse_kl),
        "sum q ln(q / p); p below 1e-12 counts as that",
    ),
    _near(
        "JSD",
        of_shares(soft.jsd),
        "half of KL(p, m) + KL(q, m), m the average of p and q, in nats",
        EVERY_SCALE,
    ),
    _near("JSD, base 2", of_shares(soft.jsd_base_2), "the same in bits", EVERY_SCALE),
    _alike("PO-JSD", of_shares(soft.po_jsd), "1 - JSD in bits", EVERY_SCALE),
    _near("TVD", of_shares(soft.tvd), "half of sum |p - q|", EVERY_SCALE),
    _near("Manhattan", of_shares(soft.manhattan), "sum |p - q|", EVERY_SCALE),
    _alike("soft accuracy", of_shares(soft.intersection), "sum min(p, q)"),
    _alike(
        "soft micro-F1",
        Whole(soft.soft_micro_f1, by_item=by_common_item(soft.soft_micro_f1_sums)),
        "2 sum min(p, q) / sum (p + q), sums over all items; of sets over what is chosen",
    ),
    _near("Chebyshev", of_shares(soft.chebyshev), "max |p - q|"),
    _near("Clark", of_shares(soft.clark), "root of sum ((p - q) / (p + q))^2"),
    _near("Canberra", of_shares(soft.canberra), "sum |p - q| / (p + q)"),
    _alike("cosine", of_shares(soft.cosine), "of the angle between p and q"),
    _alike("intersection", of_shares(soft.intersection), "sum min(p, q)"),
    _alike(
        "entropy correlation",
        Whole(
            uncertainty.entropy_correlation,
            by_item=by_common_item(uncertainty.entropy_correlation_sums),
        ),
        "Pearson's, of the entropies of p and q over items",
        LABELS,
    ),
    _alike(
        "entropy similarity",
        Whole(
            uncertainty.entropy_similarity,
            by_item=by_common_item(uncertainty.entropy_similarity_sums),
        ),
        "cosine of the entropies of p and q over items",
        LABELS,
    ),
    _near(
        "ECE",
        Whole(expected_calibration_error),
        "gap between the mass on the most probable value and the share of annotators who gave it, "
        "15 equal bins of [0, 1]",
    ),
    _near("DistCE", of_shares(soft.tvd), "half of sum |p - q|"),
    Metric(
        "cross-entropy of members",
        OverItems(votes.members_cross_entropy),
        CHOICES,
        "members",
        False,
        "of the votes of an ensemble's members, one half added to each value",
    ),
    _near(
        "LeWiDi 2023 cross-entropy",
        of_shares(soft.lewidi2023_cross_entropy),
        "-sum p ln(clip(q, 1e-12, 1 - 1e-12) + 1e-9)",
    ),
    _near(
        "LeWiDi 2025 soft",
        of_shares_on_scale(soft.lewidi2025_soft),
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
    *_ACCURACY[1:],
    *_of_answers(
        "annotator error rate",
        annotators.miss,
        LABELS,
        False,
        "share of an annotator's answers that was missed",
    ),
    *_of_annotators(
        {
            "annotator macro-F1": plain_mean,
            "annotator macro-F1, weighted": weighted_mean,
            "annotator macro-F1, worst decile": _worst,
        },
        annotators.macro_f1_by_annotator,
        LABELS,
        "F1 of an annotator's answers, mean over values",
        partial(annotators.f1_without, weighted=False),
    ),
    *_of_annotators(
        {"annotator weighted F1": plain_mean},
        annotators.weighted_f1_by_annotator,
        LABELS,
        "F1 of an annotator's answers, values weighted by how often the annotator gave them",
        partial(annotators.f1_without, weighted=True),
    ),
    *_of_annotators(
        {"annotator accuracy, missing as right": plain_mean},
        annotators.accuracy_missing_as_right,
        LABELS,
        "share of items on which an annotator's answer was predicted or is missing, as printed for "
        "AMER by Zhang et al. (2025)",
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
        Whole(dic, by_item=dic_by_item, raised=True),
        LABELS,
        "annotators",
        False,
        "Frobenius norm of the difference of the observed and the predicted kappas",
    ),
    Metric(
        "DIC, normalised",
        Whole(normalised_dic, by_item=normalised_dic_by_item, raised=True),
        LABELS,
        "annotators",
        False,
        "the same over the root of the number of entries compared",
    ),
    Metric(
        "DIC, all pairs",
        Whole(dic_of_all_pairs, raised=True),
        LABELS,
        "annotators",
        False,
        "DIC with every two annotators that have a common item, as in Zhang et al. (2025)",
    ),
]

METRICS: dict[str, Metric] = {metric.name: metric for metric in (*_SHOWN, *_FURTHER)}
