"""Every measure of agreement by name, and every breakdown by item, annotator or pair."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from dissensus.agreement import reasons
from dissensus.agreement.conger import conger_kappa, prepare_conger_kappa
from dissensus.agreement.correlation import (
    concordance_matrix,
    correlation_matrix,
    mean_concordance,
    mean_correlation,
    prepare_mean_concordance,
    prepare_mean_correlation,
)
from dissensus.agreement.cronbach import cronbach_alpha, prepare_cronbach_alpha
from dissensus.agreement.difference import mean_difference, prepare_mean_difference
from dissensus.agreement.fleiss import fleiss_kappa, prepare_fleiss_kappa
from dissensus.agreement.formulas import (
    cohen_formula,
    conger_formula,
    fleiss_formula,
    gwet_formula,
    icc_formula,
    krippendorff_formula,
    percent_formula,
    randolph_formula,
)
from dissensus.agreement.gwet import gwet_ac, prepare_gwet_ac
from dissensus.agreement.icc import Form, icc, prepare_icc, prepare_icc1_of_block
from dissensus.agreement.kappa import kappa_matrix, mean_kappa, prepare_mean_kappa
from dissensus.agreement.krippendorff import (
    krippendorff_alpha,
    prepare_alpha_of_block,
    prepare_krippendorff_alpha,
)
from dissensus.agreement.measure import Breakdown, Measure
from dissensus.agreement.multiple_select import (
    kappa_of_any,
    masi_kappa_matrix,
    mean_kappa_per_value,
    prepare_kappa_of_any,
    prepare_mean_kappa_per_value,
)
from dissensus.agreement.pair_counts import prepare_kappa_of_block
from dissensus.agreement.per_annotator import (
    agreement_with_consensus,
    agreement_with_rest,
    correlation_with_rest,
    leniency,
)
from dissensus.agreement.per_item import item_entropy, item_variance, majority_share
from dissensus.agreement.per_value import (
    alpha_of_values,
    negative_agreement,
    positive_agreement,
)
from dissensus.agreement.percent import percent_agreement, prepare_percent_agreement
from dissensus.agreement.randolph import prepare_randolph_kappa, randolph_kappa
from dissensus.agreement.rank_correlation import (
    kendall_matrix,
    mean_kendall,
    mean_spearman,
    prepare_mean_kendall,
    prepare_mean_spearman,
    spearman_matrix,
)
from dissensus.agreement.scott import mean_pi, pi_matrix, prepare_mean_pi
from dissensus.agreement.weights import Weights
from dissensus.annotations import Annotations
from dissensus.errors import DataError, did_you_mean, listed

_CHOICE = ("nominal", "ordinal")
_NUMBER = ("ordinal", "interval")
_PAIRED = (reasons.no_answers, reasons.no_pairs)
_TOGETHER = (reasons.no_answers, reasons.nobody_together)


def _icc(form: Form, description: str) -> Measure:
    own = {"icc1": (), "icc1k": (reasons.not_same_number,)}
    two_way = (reasons.not_crossed, reasons.one_annotator)
    equal = (reasons.all_equal, reasons.same_means)
    return Measure(
        partial(icc, form=form),
        _NUMBER,
        description,
        partial(prepare_icc, form=form),
        (*_PAIRED, reasons.one_item, *own.get(form, two_way), *equal),
        needs_ids=form not in own,
        bounds=(-math.inf if form.endswith("k") else -1.0, 1.0),
        formula=partial(icc_formula, form=form),
    )


def _weighted_kappa(weights: Literal["linear", "quadratic"]) -> Measure:
    return Measure(
        partial(mean_kappa, weights=weights),
        ("ordinal",),
        f"the same with {weights} weights: near misses count less",
        partial(prepare_mean_kappa, weights=weights),
        (*_TOGETHER, reasons.no_pair_varies),
        needs_ids=True,
        formula=partial(cohen_formula, weights=weights),
        is_kappa=True,
        in_blocks=("ordinal",),
        prepare_block=partial(prepare_kappa_of_block, weights=weights),
        by_pairs=True,
    )


MEASURES: dict[str, Measure] = {
    "percent": Measure(
        percent_agreement,
        (*_CHOICE, "multi-label"),
        "share of pairs of answers about an item that are equal, mean over items",
        prepare_percent_agreement,
        _PAIRED,
        brief=True,
        bounds=(0.0, 1.0),
        formula=percent_formula,
        in_blocks=(*_CHOICE, "multi-label"),
    ),
    "krippendorff-alpha": Measure(
        krippendorff_alpha,
        (*_CHOICE, "interval", "multi-label"),
        "agreement beyond chance; 1 is perfect, 0 is chance",
        prepare_krippendorff_alpha,
        (*_PAIRED, reasons.all_paired_equal),
        brief=True,
        formula=krippendorff_formula,
        takes_weights=True,
        is_kappa=True,
        in_blocks=(*_CHOICE, "interval", "multi-label"),
        prepare_block=prepare_alpha_of_block,
        most_values=12,
    ),
    "fleiss-kappa": Measure(
        fleiss_kappa,
        _CHOICE,
        "beyond chance, if all annotators draw from the same shares of values",
        prepare_fleiss_kappa,
        (*_PAIRED, reasons.all_equal),
        formula=fleiss_formula,
        takes_weights=True,
        is_kappa=True,
        in_blocks=_CHOICE,
    ),
    "conger-kappa": Measure(
        conger_kappa,
        _CHOICE,
        "beyond chance, if each annotator draws from their own shares of values",
        prepare_conger_kappa,
        (*_PAIRED, reasons.one_annotator, reasons.all_equal),
        needs_ids=True,
        formula=conger_formula,
        takes_weights=True,
        is_kappa=True,
    ),
    "randolph-kappa": Measure(
        randolph_kappa,
        _CHOICE,
        "beyond chance, if chance picks every value of the scale alike",
        prepare_randolph_kappa,
        (*_PAIRED, reasons.one_value),
        formula=randolph_formula,
        takes_weights=True,
        is_kappa=True,
        in_blocks=_CHOICE,
    ),
    "gwet-ac1": Measure(
        gwet_ac,
        _CHOICE,
        "beyond chance, stable where one value is rare",
        prepare_gwet_ac,
        (*_PAIRED, reasons.one_value),
        formula=gwet_formula,
        takes_weights=True,
        is_kappa=True,
        in_blocks=_CHOICE,
    ),
    "gwet-ac2": Measure(
        partial(gwet_ac, weights="quadratic"),
        ("ordinal",),
        "the same with quadratic weights: near misses count less",
        partial(prepare_gwet_ac, weights="quadratic"),
        (*_PAIRED, reasons.one_value),
        formula=partial(gwet_formula, weights="quadratic"),
        is_kappa=True,
        in_blocks=("ordinal",),
    ),
    "cohen-kappa": Measure(
        mean_kappa,
        _CHOICE,
        "of two annotators beyond chance, mean over pairs",
        prepare_mean_kappa,
        (*_TOGETHER, reasons.no_pair_varies),
        needs_ids=True,
        formula=cohen_formula,
        takes_weights=True,
        is_kappa=True,
        in_blocks=_CHOICE,
        prepare_block=prepare_kappa_of_block,
        by_pairs=True,
    ),
    "cohen-kappa-linear": _weighted_kappa("linear"),
    "cohen-kappa-quadratic": _weighted_kappa("quadratic"),
    "scott-pi": Measure(
        mean_pi,
        _CHOICE,
        "of two annotators beyond chance, their answers pooled, mean over pairs",
        prepare_mean_pi,
        (*_TOGETHER, reasons.no_pair_varies),
        needs_ids=True,
        takes_weights=True,
        is_kappa=True,
        in_blocks=_CHOICE,
        prepare_block=partial(prepare_kappa_of_block, pooled=True),
        by_pairs=True,
    ),
    "kappa-per-value": Measure(
        mean_kappa_per_value,
        ("multi-label",),
        "Cohen's kappa of each value being chosen, mean over pairs and values",
        prepare_mean_kappa_per_value,
        (*_TOGETHER, reasons.no_value_varies),
        needs_ids=True,
        is_kappa=True,
    ),
    "kappa-any-value": Measure(
        kappa_of_any,
        ("multi-label",),
        "Cohen's kappa of anything being chosen at all, mean over pairs",
        prepare_kappa_of_any,
        (*_TOGETHER, reasons.no_pair_varies),
        needs_ids=True,
        is_kappa=True,
    ),
    "mean-difference": Measure(
        mean_difference,
        ("interval",),
        "how far apart two ratings of an item are, mean over items, in own units",
        prepare_mean_difference,
        _PAIRED,
        brief=True,
        bounds=(0.0, math.inf),
        in_blocks=("interval",),
    ),
    "correlation": Measure(
        mean_correlation,
        _NUMBER,
        "Pearson's r of two annotators, mean over pairs",
        prepare_mean_correlation,
        (*_TOGETHER, reasons.no_pair_correlates),
        needs_ids=True,
    ),
    "spearman": Measure(
        mean_spearman,
        _NUMBER,
        "Spearman's rho of two annotators, mean over pairs",
        prepare_mean_spearman,
        (*_TOGETHER, reasons.no_pair_correlates),
        needs_ids=True,
    ),
    "kendall": Measure(
        mean_kendall,
        _NUMBER,
        "Kendall's tau-b of two annotators, mean over pairs",
        prepare_mean_kendall,
        (*_TOGETHER, reasons.no_pair_correlates),
        needs_ids=True,
    ),
    "concordance": Measure(
        mean_concordance,
        _NUMBER,
        "Lin's concordance of two annotators, variances divided by n, mean over pairs",
        prepare_mean_concordance,
        (*_TOGETHER, reasons.no_pair_correlates),
        needs_ids=True,
    ),
    "icc1": replace(
        _icc("icc1", "share of the variance between items; each rated by others"),
        in_blocks=_NUMBER,
        prepare_block=prepare_icc1_of_block,
    ),
    "icc2": _icc("icc2", "the same annotators rate all items; leniency is disagreement"),
    "icc3": _icc("icc3", "the same annotators rate all items; leniency does not count"),
    "icc1k": _icc("icc1k", "as icc1, of the mean rating of an item"),
    "icc2k": _icc("icc2k", "as icc2, of the mean rating of an item"),
    "icc3k": _icc("icc3k", "as icc3, of the mean rating of an item"),
    "cronbach-alpha": replace(
        _icc("icc3k", "consistency of the sum of all ratings; equals icc3k"),
        function=cronbach_alpha,
        prepare=prepare_cronbach_alpha,
    ),
}

PER_ITEM: dict[str, Breakdown] = {
    "entropy": Breakdown(
        item_entropy,
        (*_CHOICE, "multi-label"),
        "of the answers, in nats",
        higher_is_agreement=False,
    ),
    "variance": Breakdown(
        item_variance, _NUMBER, "of the ratings or levels", higher_is_agreement=False
    ),
    "majority-share": Breakdown(
        majority_share, (*_CHOICE, "multi-label"), "of the most frequent answer"
    ),
}

PER_ANNOTATOR: dict[str, Breakdown] = {
    "agreement-with-rest": Breakdown(
        agreement_with_rest, (*_CHOICE, "multi-label"), "share of the others' equal answers", True
    ),
    "agreement-with-consensus": Breakdown(
        agreement_with_consensus, (*_CHOICE, "multi-label"), "share of one's answers", True
    ),
    "correlation-with-rest": Breakdown(
        correlation_with_rest, _NUMBER, "with the mean of the others' ratings", True
    ),
    "leniency": Breakdown(
        leniency, _NUMBER, "how much higher one rates than the others", True, False
    ),
}

PER_PAIR: dict[str, Breakdown] = {
    "cohen-kappa": Breakdown(kappa_matrix, _CHOICE, "beyond chance", True),
    "cohen-kappa-linear": Breakdown(
        partial(kappa_matrix, weights="linear"), ("ordinal",), "near misses count less", True
    ),
    "cohen-kappa-quadratic": Breakdown(
        partial(kappa_matrix, weights="quadratic"), ("ordinal",), "near misses count less", True
    ),
    "cohen-kappa-masi": Breakdown(
        masi_kappa_matrix, ("multi-label",), "sets that overlap agree in part", True
    ),
    "scott-pi": Breakdown(pi_matrix, _CHOICE, "beyond chance, answers pooled", True),
    "correlation": Breakdown(correlation_matrix, _NUMBER, "Pearson's r", True),
    "spearman": Breakdown(spearman_matrix, _NUMBER, "Spearman's rho", True),
    "kendall": Breakdown(kendall_matrix, _NUMBER, "Kendall's tau-b", True),
    "concordance": Breakdown(concordance_matrix, _NUMBER, "Lin's", True),
}

PER_VALUE: dict[str, Breakdown] = {
    "positive-agreement": Breakdown(
        positive_agreement, (*_CHOICE, "multi-label"), "if one gives it, how often another does"
    ),
    "negative-agreement": Breakdown(
        negative_agreement,
        (*_CHOICE, "multi-label"),
        "if one does not give it, how often another does not either",
    ),
    "krippendorff-alpha": Breakdown(
        alpha_of_values, (*_CHOICE, "multi-label"), "of giving it or not, beyond chance"
    ),
}

BREAKDOWNS: dict[str, dict[str, Breakdown]] = {
    "item": PER_ITEM,
    "annotator": PER_ANNOTATOR,
    "pair": PER_PAIR,
    "value": PER_VALUE,
}


def weighted(measure: Measure, weights: Weights) -> Measure:
    """A measure with these weights between levels."""
    parts: dict[str, Callable[..., Any] | None] = {
        "function": measure.function,
        "prepare": measure.prepare,
        "prepare_block": measure.prepare_block,
        "formula": measure.formula,
    }
    able = {name: part for name, part in parts.items() if part is not None}
    given: dict[str, Any] = {name: partial(part, weights=weights) for name, part in able.items()}
    return replace(measure, **given)


def entries_of(names: Sequence[str] | None, weights: Weights) -> dict[str, Measure]:
    """The measures by name, with the weights if they are given."""
    if weights is None:
        return {name: MEASURES[name] for name in names or MEASURES}
    unfit = [name for name in names or () if not MEASURES[name].takes_weights]
    able = [name for name, measure in MEASURES.items() if measure.takes_weights]
    if unfit:
        raise DataError(f"{unfit[0]} takes no weights; these do: {listed(able)}")
    return {name: weighted(MEASURES[name], weights) for name in names or able}


def compares_pairs(measure: Measure) -> bool:
    """Whether it is a mean over pairs of annotators: slow if there are very many annotators."""
    return reasons.nobody_together in measure.reasons


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
