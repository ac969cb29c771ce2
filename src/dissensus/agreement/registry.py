"""Every measure of agreement by name, and every breakdown by item, annotator, pair or value."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from dissensus.agreement import chance_corrected, pair_measures, per_part, ratings
from dissensus.agreement.estimates import Estimate, Summable, Weights
from dissensus.annotations import Annotations
from dissensus.errors import DataError, did_you_mean, listed


class Reason(NamedTuple):
    """Why a measure is undefined, and whether it is so of some answers."""

    text: str
    holds: Callable[[Annotations], Any]


@dataclass(frozen=True)
class Measure:
    """A measure of agreement, the scales it is for, and what it means in a line."""

    prepare: Callable[..., Estimate]  # of annotations, to leave out one item after another
    scales: tuple[str, ...]  # kinds of scales
    description: str
    reasons: tuple[Reason, ...]  # why it is nan; the first that holds
    needs_ids: bool = False  # whether annotators must be known
    brief: bool = False  # whether it is among the few of `at_a_glance`
    bounds: tuple[float, float] = (-1.0, 1.0)  # of its confidence interval
    takes_weights: bool = False  # whether prepare has the argument `weights`
    leaves_out: bool = True  # whether prepare can leave out one item after another
    pair_counts: Callable[..., Summable] | None = None  # of a mean over pairs, as sums over items

    def function(self, annotations: Annotations, **options: Any) -> float:
        """The measure; nan where undefined."""
        return self.prepare(annotations, **options).value()

    def value(self, annotations: Annotations) -> float:
        """The measure; nan also where it is not for these answers."""
        return self.function(annotations) if why_unfit(self, annotations) is None else math.nan

    def weighted(self, weights: Weights) -> Measure:
        """The measure with these weights between levels."""
        parts = {name: getattr(self, name) for name in ("prepare", "pair_counts")}
        with_weights: dict[str, Any] = {
            name: partial(part, weights=weights) for name, part in parts.items() if part
        }
        return replace(self, **with_weights)

    def why_nan(self, annotations: Annotations) -> str:
        """Why the measure is nan of these answers."""
        holding = (reason.text for reason in self.reasons if reason.holds(annotations))
        return why_unfit(self, annotations) or next(holding, "the formula divides by zero")


@dataclass(frozen=True)
class Breakdown:
    """A measure that has one value per item, per annotator or per pair of annotators."""

    function: Callable[[Annotations], np.ndarray]
    scales: tuple[str, ...]
    description: str
    needs_ids: bool = False
    higher_is_agreement: bool = True  # else what is far from 0 is worth a look


# ---- reasons ----


def _nobody_together(annotations: Annotations) -> bool:
    """Whether no two annotators answered one item; as `_no_pairs` where there are no repeats."""
    annotator = annotations.annotator_codes("finding common items")
    low = np.full(annotations.n_items, annotations.n_annotators)
    high = np.full(annotations.n_items, -1)
    np.minimum.at(low, annotations.item, annotator)
    np.maximum.at(high, annotations.item, annotator)
    return not (low < high).any()


def _no_pairs(annotations: Annotations) -> bool:
    return not (annotations.voters() >= 2).any()


def _one_answer_each(annotations: Annotations) -> bool:
    return not (annotations.per_item() >= 2).any()


def _all_equal(annotations: Annotations) -> bool:
    return bool(annotations.n_rows and (annotations.answer == annotations.answer[0]).all())


NOBODY_TOGETHER = Reason("no two annotators answered the same item", _nobody_together)
ALL_EQUAL = Reason("all answers are the same", _all_equal)
NO_ANSWERS = Reason("there are no answers", lambda a: not a.n_rows)
ONE_VALUE = Reason("the scale has one value only", lambda a: a.scale.n_columns < 2)
ONE_ITEM = Reason("only one item has answers", lambda a: np.count_nonzero(a.per_item()) < 2)
ONE_ANNOTATOR = Reason(
    "only one annotator has answers", lambda a: np.count_nonzero(a.per_annotator()) < 2
)
PAIRED_EQUAL = Reason(
    "all answers to items with two or more are the same",
    lambda a: _all_equal(a.take(a.voters()[a.item] >= 2)),
)
NO_PAIR_VARIES = Reason(
    "every two annotators gave one and the same answer to all items they share", lambda a: True
)
NO_VALUE_VARIES = Reason(
    "for every value, every two annotators chose alike on all items they share", lambda a: True
)
NO_PAIR_CORRELATES = Reason(
    "no two annotators share two items that they rate differently", lambda a: True
)
NOT_CROSSED = Reason("not every annotator rated every item once", lambda a: not ratings.crossed(a))
NOT_ONCE = Reason(
    f"{NOT_CROSSED.text}; read one with --repeats first, last or mean",
    lambda a: a.repeated is not None,
)
SAME_MEANS = Reason("all items have the same mean rating", ratings.equal_means)
OTHER_NUMBERS = Reason(
    "items have different numbers of ratings", lambda a: not ratings.same_number(a)
)
_PAIRED = (
    NO_ANSWERS,
    Reason(NOBODY_TOGETHER.text, lambda a: _no_pairs(a) and not _one_answer_each(a)),
    Reason("no item has two answers", _one_answer_each),
)
_TOGETHER = (NO_ANSWERS, NOBODY_TOGETHER)


# ---- measures ----

_CHOICE = ("nominal", "ordinal")
_VALUES = (*_CHOICE, "multi-label")
_NUMBER = ("ordinal", "interval")
_SETS = ("multi-label",)
_VARIES = (*_TOGETHER, NO_PAIR_VARIES)


def _beyond_chance(function: Any, description: str, reason: Reason) -> Measure:
    return Measure(function.prepare, _CHOICE, description, (*_PAIRED, reason), takes_weights=True)


def _of_levels(measure: Measure, weights: Literal["linear", "quadratic"]) -> Measure:
    description = f"the same with {weights} weights: near misses count less"
    weighted = measure.weighted(weights)
    return replace(weighted, scales=("ordinal",), description=description, takes_weights=False)


def _correlation(name: str, kind: pair_measures.Correlation) -> Measure:
    prepare = partial(pair_measures.prepare_correlation, kind=kind)
    reasons = (*_TOGETHER, NO_PAIR_CORRELATES)
    return Measure(prepare, _NUMBER, f"{name}, mean over pairs", reasons, needs_ids=True)


def _icc(form: ratings.Form, description: str) -> Measure:
    one_way = {"icc1": (), "icc1k": (OTHER_NUMBERS,)}
    reasons = one_way.get(form, (NOT_ONCE, NOT_CROSSED, ONE_ANNOTATOR))
    return Measure(
        partial(ratings.icc.prepare, form=form),
        _NUMBER,
        description,
        (*_PAIRED, ONE_ITEM, *reasons, ALL_EQUAL, SAME_MEANS),
        needs_ids=form not in one_way,
        bounds=(-math.inf if form.endswith("k") else -1.0, 1.0),
    )


_GWET = _beyond_chance(
    chance_corrected.gwet_ac, "beyond chance, stable where one value is rare", ONE_VALUE
)
_COHEN = Measure(
    pair_measures.prepare_mean_kappa,
    _CHOICE,
    "of two annotators beyond chance, mean over pairs",
    _VARIES,
    needs_ids=True,
    pair_counts=pair_measures.prepare_pair_counts,
    takes_weights=True,
)

MEASURES: dict[str, Measure] = {
    "percent": Measure(
        chance_corrected.percent_agreement.prepare,
        _VALUES,
        "share of pairs of answers about an item that are equal, mean over items",
        _PAIRED,
        brief=True,
        bounds=(0.0, 1.0),
    ),
    "krippendorff-alpha": Measure(
        chance_corrected.krippendorff_alpha.prepare,
        (*_CHOICE, "interval", "multi-label"),
        "agreement beyond chance; 1 is perfect, 0 is chance",
        (*_PAIRED, PAIRED_EQUAL),
        brief=True,
        takes_weights=True,
    ),
    "fleiss-kappa": _beyond_chance(
        chance_corrected.fleiss_kappa,
        "beyond chance, if all annotators draw from the same shares of values",
        ALL_EQUAL,
    ),
    "conger-kappa": Measure(
        chance_corrected.conger_kappa.prepare,
        _CHOICE,
        "beyond chance, if each annotator draws from their own shares of values",
        (*_PAIRED, ONE_ANNOTATOR, ALL_EQUAL),
        needs_ids=True,
        takes_weights=True,
    ),
    "randolph-kappa": _beyond_chance(
        chance_corrected.randolph_kappa,
        "beyond chance, if chance picks every value of the scale alike",
        ONE_VALUE,
    ),
    "gwet-ac1": _GWET,
    "gwet-ac2": _of_levels(_GWET, "quadratic"),
    "cohen-kappa": _COHEN,
    "cohen-kappa-linear": _of_levels(_COHEN, "linear"),
    "cohen-kappa-quadratic": _of_levels(_COHEN, "quadratic"),
    "scott-pi": replace(
        _COHEN,
        prepare=partial(pair_measures.prepare_mean_kappa, pooled=True),
        description="of two annotators beyond chance, their answers pooled, mean over pairs",
        pair_counts=partial(pair_measures.prepare_pair_counts, pooled=True),
    ),
    "kappa-per-value": Measure(
        pair_measures.mean_kappa_per_value.prepare,
        _SETS,
        "Cohen's kappa of each value being chosen, mean over pairs and values",
        (*_TOGETHER, NO_VALUE_VARIES),
        needs_ids=True,
    ),
    "mean-difference": Measure(
        ratings.mean_difference.prepare,
        ("interval",),
        "how far apart two ratings of an item are, mean over items, in own units",
        _PAIRED,
        brief=True,
        bounds=(0.0, math.inf),
    ),
    "correlation": _correlation("Pearson's r of two annotators", "pearson"),
    "spearman": replace(
        _correlation("Spearman's rho of two annotators", "spearman"), leaves_out=False
    ),
    "concordance": _correlation(
        "Lin's concordance of two annotators, variances divided by n", "concordance"
    ),
    "icc1": _icc("icc1", "share of the variance between items; each rated by others"),
    "icc2": _icc("icc2", "the same annotators rate all items; leniency is disagreement"),
    "icc3": _icc("icc3", "the same annotators rate all items; leniency does not count"),
    "icc1k": _icc("icc1k", "as icc1, of the mean rating of an item"),
    "icc2k": _icc("icc2k", "as icc2, of the mean rating of an item"),
    "icc3k": _icc("icc3k", "as icc3, of the mean rating of an item"),
    "cronbach-alpha": _icc("icc3k", "consistency of the sum of all ratings; equals icc3k"),
}

PER_ITEM: dict[str, Breakdown] = {
    "entropy": Breakdown(
        per_part.item_entropy, _VALUES, "of the answers, in nats", higher_is_agreement=False
    ),
    "variance": Breakdown(
        per_part.item_variance, _NUMBER, "of the ratings or levels", higher_is_agreement=False
    ),
    "majority-share": Breakdown(per_part.majority_share, _VALUES, "of the most frequent answer"),
}

PER_ANNOTATOR: dict[str, Breakdown] = {
    "agreement-with-rest": Breakdown(
        per_part.agreement_with_rest, _VALUES, "share of the others' equal answers", True
    ),
    "agreement-with-consensus": Breakdown(
        per_part.agreement_with_consensus, _VALUES, "share of one's answers", True
    ),
    "correlation-with-rest": Breakdown(
        per_part.correlation_with_rest, _NUMBER, "with the mean of the others' ratings", True
    ),
    "leniency": Breakdown(
        per_part.leniency, _NUMBER, "how much higher one rates than the others", True, False
    ),
}

PER_PAIR: dict[str, Breakdown] = {
    "cohen-kappa": Breakdown(pair_measures.kappa_matrix, _CHOICE, "beyond chance", True),
    "cohen-kappa-linear": Breakdown(
        partial(pair_measures.kappa_matrix, weights="linear"),
        ("ordinal",),
        "near misses count less",
        True,
    ),
    "cohen-kappa-quadratic": Breakdown(
        partial(pair_measures.kappa_matrix, weights="quadratic"),
        ("ordinal",),
        "near misses count less",
        True,
    ),
    "cohen-kappa-masi": Breakdown(
        pair_measures.masi_kappa_matrix, _SETS, "sets that overlap agree in part", True
    ),
    "scott-pi": Breakdown(pair_measures.pi_matrix, _CHOICE, "beyond chance, answers pooled", True),
    "correlation": Breakdown(pair_measures.correlation_matrix, _NUMBER, "Pearson's r", True),
    "spearman": Breakdown(pair_measures.spearman_matrix, _NUMBER, "Spearman's rho", True),
    "concordance": Breakdown(pair_measures.concordance_matrix, _NUMBER, "Lin's", True),
}

PER_VALUE: dict[str, Breakdown] = {
    "positive-agreement": Breakdown(
        per_part.positive_agreement, _VALUES, "if one gives it, how often another does"
    ),
    "negative-agreement": Breakdown(
        per_part.negative_agreement,
        _VALUES,
        "if one does not give it, how often another does not either",
    ),
    "krippendorff-alpha": Breakdown(
        per_part.alpha_of_values, _VALUES, "of giving it or not, beyond chance"
    ),
}

BREAKDOWNS: dict[str, dict[str, Breakdown]] = {
    "item": PER_ITEM,
    "annotator": PER_ANNOTATOR,
    "pair": PER_PAIR,
    "value": PER_VALUE,
}


def entries_of(names: Sequence[str] | None, weights: Weights) -> dict[str, Measure]:
    """The measures by name, with the weights if they are given."""
    if weights is None:
        return {name: MEASURES[name] for name in names or MEASURES}
    unfit = [name for name in names or () if not MEASURES[name].takes_weights]
    able = [name for name, measure in MEASURES.items() if measure.takes_weights]
    if unfit:
        raise DataError(f"{unfit[0]} takes no weights; these do: {listed(able)}")
    return {name: MEASURES[name].weighted(weights) for name in names or able}


def compares_pairs(measure: Measure) -> bool:
    """Whether it is a mean over pairs of annotators: slow if there are very many annotators."""
    return NOBODY_TOGETHER in measure.reasons


def why_unfit(measure: Measure | Breakdown, annotations: Annotations) -> str | None:
    """None, or why a measure is not for these answers."""
    kind = annotations.scale.kind
    if kind not in measure.scales:
        return f"it is for {' and '.join(measure.scales)} answers, not {kind}"
    if measure.needs_ids and annotations.annotator is None:
        return "it needs known annotators; these answers are anonymous"
    return None


def check_measures(names: Iterable[str], by: str | None = None) -> None:
    """Refuse names that are no measure or, if `by` is given, no measure by it."""
    entries: Mapping[str, object] = MEASURES if by is None else BREAKDOWNS[by]
    unknown = [name for name in names if name not in entries]
    if unknown:
        where = "" if by is None else f" by {by}"
        guess = did_you_mean(unknown[0], entries)
        raise DataError(
            f"no measure {listed(unknown)}{where}{guess}; there are {listed(entries, 40)}"
        )


def measure_named(name: str) -> Measure:
    """The entry of `MEASURES`."""
    if name not in MEASURES:
        raise DataError(
            f"no measure {name!r}{did_you_mean(name, MEASURES)}; there are {listed(MEASURES, 30)}"
        )
    return MEASURES[name]


def at_a_glance(annotations: Annotations) -> dict[str, float]:
    """The few measures to look at first, by name; nan where undefined.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> values = at_a_glance(Annotations.from_rows(rows))
        >>> {name: round(value, 3) for name, value in values.items()}
        {'percent': 0.667, 'krippendorff-alpha': 0.444}
    """
    kind = annotations.scale.kind
    return {
        name: measure.function(annotations)
        for name, measure in MEASURES.items()
        if measure.brief and kind in measure.scales
    }
