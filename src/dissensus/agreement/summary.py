"""How much the annotators of a corpus agree: every measure that applies, with its interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from typing import Any, Literal

from dissensus.agreement.benchmarks import benchmark_word, check_benchmark
from dissensus.agreement.block_agreement import BlockAgreement
from dissensus.agreement.confidence import (
    NONE,
    ConfidenceInterval,
    interval_over_annotators,
    interval_over_items,
)
from dissensus.agreement.formulas import UNKNOWN
from dissensus.agreement.measure import Measure
from dissensus.agreement.registry import (
    MEASURES,
    check_measures,
    entries_of,
    measure_named,
    why_unfit,
)
from dissensus.agreement.results import Agreement, MeasureResult, QuestionAgreement, about
from dissensus.agreement.weights import Weights
from dissensus.annotations import AnnotationBlocks, Annotations
from dissensus.cluster import connect
from dissensus.conversion import corpus_of
from dissensus.corpus import StoredCorpus
from dissensus.errors import DataError

Over = Literal["items", "raters"]
INTERVALS: dict[str, Callable[..., ConfidenceInterval]] = {
    "items": interval_over_items,
    "raters": interval_over_annotators,
}


def summarise(
    corpus: Any,
    questions: Sequence[str] | None = None,
    measures: Sequence[str] | None = None,
    intervals: bool | Over = False,
    formulas: bool = False,
    weights: Weights = None,
    benchmark: str | None = None,
    cluster: str | None = None,
) -> Agreement:
    """How much the annotators of a corpus agree, question by question.

    Args:
        corpus: a corpus, or a pandas, polars or Arrow table that `dissensus.read` can read.
        questions: which ones; all if left out.
        measures: names of `MEASURES`; all that apply if left out.
        intervals: whether to compute the confidence `interval` of each measure, over items unless
            it is "raters": then over items and annotators.
        formulas: whether to compute the standard error, interval and p of each measure that has
            a formula for them.
        weights: between levels, such as "linear"; then the measures are those that take weights.
        benchmark: whose words for values of kappa to add, a name of `BENCHMARKS`.
        cluster: address of a Dask scheduler whose workers count a part of the items each, for
            the measures that are sums over items: percent, alpha, the kappas of Fleiss and
            Randolph, AC1, AC2, mean-difference and icc1.

    Example:
        >>> from dissensus import Corpus
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> corpus = Corpus.build("mine", ["t1", "t2", "t3"], {"q": Annotations.from_rows(rows)})
        >>> [(r.measure, round(r.value, 3)) for r in summarise(corpus)[0].measures[:2]]
        [('percent', 0.667), ('krippendorff-alpha', 0.444)]
    """
    corpus = corpus if isinstance(corpus, StoredCorpus) else corpus_of(corpus)
    questions = list(corpus.questions) if questions is None else questions
    corpus.check_questions(questions)
    check_measures(measures or ())
    if benchmark is not None:
        check_benchmark(benchmark)
    entries = entries_of(measures, weights)
    over = "items" if intervals is True else intervals or None
    if over is not None:
        check_over(over)
    if cluster is not None or isinstance(corpus, StoredCorpus):
        if over == "raters":
            raise DataError(
                "an interval over raters needs all answers in one process; "
                "without raters (--interval), it is over items"
            )
        if formulas:
            raise DataError("formulas need all answers in one process; leave them out (--formulas)")
        with ExitStack() as stack:
            client = stack.enter_context(closing(connect(cluster))) if cluster else None
            counting = [
                BlockAgreement(name, corpus[name], measures, weights, client) for name in questions
            ]
            return Agreement(one.summarise(over is not None, benchmark) for one in counting)
    return Agreement(
        _question(corpus[name], name, entries, measures is None, over, formulas, benchmark)
        for name in questions
    )


def _question(
    annotations: Annotations,
    question: str,
    entries: dict[str, Measure],
    only_fitting: bool,
    over: str | None,
    formulas: bool,
    benchmark: str | None,
) -> QuestionAgreement:
    results = [
        _result(annotations, name, measure, over, formulas, benchmark)
        for name, measure in entries.items()
        if not only_fitting or why_unfit(measure, annotations) is None
    ]
    return QuestionAgreement(**about(annotations, question), measures=results)


def _result(
    annotations: Annotations,
    name: str,
    measure: Measure,
    over: str | None,
    formulas: bool,
    benchmark: str | None,
) -> MeasureResult:
    unfit = why_unfit(measure, annotations)
    value = math.nan if unfit else measure.function(annotations)
    word = None if benchmark is None else ""
    if math.isnan(value):
        ends = None if over is None else NONE
        formula = UNKNOWN if formulas else None
        return MeasureResult(name, value, ends, _why_nan(measure, annotations), formula, word)
    if benchmark is not None and measure.is_kappa:
        word = benchmark_word(value, benchmark)
    ends = None if over is None else INTERVALS[over](measure, annotations)
    formula = None
    if formulas:
        formula = UNKNOWN if measure.formula is None else measure.formula(annotations)
    return MeasureResult(name, value, ends, None, formula, word)


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


def at_a_glance_in_blocks(blocks: AnnotationBlocks) -> dict[str, float]:
    """The same of answers in blocks, without those that need all answers in memory."""
    measures = MEASURES.items()
    names = [name for name, one in measures if one.brief and not one.why_not_in_blocks(blocks)]
    return BlockAgreement("", blocks, names).values() if names and len(blocks) else {}


def measured(annotations: Annotations) -> dict[str, float]:
    """Every measure that is for this scale and, if answers are anonymous, needs no annotators.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> list(measured(Annotations.from_rows(rows)))[:3]
        ['percent', 'krippendorff-alpha', 'fleiss-kappa']
    """
    return {
        name: measure.function(annotations)
        for name, measure in MEASURES.items()
        if why_unfit(measure, annotations) is None
    }


def why_undefined(name: str, annotations: Annotations) -> str | None:
    """Why a measure of `MEASURES` is nan for these answers; None where it has a value.

    Example:
        >>> why_undefined("krippendorff-alpha", Annotations.from_rows([("t1", "ann", "yes")]))
        'no item has two answers'
    """
    measure = measure_named(name)
    if why_unfit(measure, annotations) is None and not math.isnan(measure.function(annotations)):
        return None
    return _why_nan(measure, annotations)


def _why_nan(measure: Measure, annotations: Annotations) -> str:
    unfit = why_unfit(measure, annotations)
    if unfit is not None:
        return unfit
    reasons = (reason(annotations) for reason in measure.reasons)
    known = (reason for reason in reasons if reason is not None)
    return next(known, "the formula divides by zero")


def interval(
    measure: str | Callable[[Annotations], float],
    annotations: Annotations,
    level: float = 0.95,
    over: Over = "items",
) -> ConfidenceInterval:
    """A confidence interval of a measure.

    Over items, it says how much the measure would vary with as many other items of the same kind,
    answered by the same annotators: a jackknife or, where few items decide (all agree, a value is
    rare), a score interval. Over raters, items and annotators are others: a jackknife over
    annotators is added. nan where the measure is undefined, fewer than two items have two answers,
    or, over raters, there are fewer than three annotators. How often 95 % intervals hold the value
    that a huge table has is simulated in `benchmarks/audit/case_intervals.py`.

    Args:
        measure: a name of `MEASURES`, or any function of annotations, which is called without
            each item and slower.
        over: "items", or "raters" to generalise to other annotators too, who must be known.

    Example:
        >>> rows = [(f"t{i}", name, "yes" if i % 3 else "no")
        ...         for i in range(30) for name in ("ann", "bob")]
        >>> rows += [("t30", "ann", "yes"), ("t30", "bob", "no")]
        >>> low, high = interval("percent", Annotations.from_rows(rows))
        >>> round(low, 3), round(high, 3)
        (0.827, 0.995)
    """
    check_over(over)
    if not isinstance(measure, str):
        return INTERVALS[over](measure, annotations, level)
    unfit = why_unfit(measure_named(measure), annotations)
    if unfit is not None:
        raise DataError(f"{measure}: {unfit}")
    return INTERVALS[over](measure_named(measure), annotations, level)


def check_over(over: str) -> None:
    """Refuse what an interval cannot be over."""
    if over not in INTERVALS:
        raise DataError(f"an interval is over items or raters, found {over}")
