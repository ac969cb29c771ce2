"""How much the annotators of a corpus agree: every measure that applies, with its interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from dissensus.agreement.estimates import Weights, or_none
from dissensus.agreement.intervals import (
    NONE,
    ConfidenceInterval,
    interval_over_annotators,
    interval_over_items,
)
from dissensus.agreement.pair_measures import common_items
from dissensus.agreement.per_part import answers_per_value, confusion
from dissensus.agreement.registry import (
    BREAKDOWNS,
    MEASURES,
    Breakdown,
    Measure,
    check_measures,
    entries_of,
    measure_named,
    why_unfit,
)
from dissensus.annotations import Annotations
from dissensus.conversion import annotations_of, corpus_of
from dissensus.corpus import Corpus
from dissensus.errors import DataError, counted, listed
from dissensus.names import Names
from dissensus.tables import html_table, to_frame

Over = Literal["items", "raters"]
INTERVALS: dict[str, Callable[..., ConfidenceInterval]] = {
    "items": interval_over_items,
    "raters": interval_over_annotators,
}
NAMES = {  # as papers write them; others as in `MEASURES`
    "percent": "observed agreement",
    "krippendorff-alpha": "Krippendorff's alpha",
    "fleiss-kappa": "Fleiss' kappa",
    "conger-kappa": "Conger's kappa",
    "randolph-kappa": "Randolph's kappa",
    "gwet-ac1": "Gwet's AC1",
    "gwet-ac2": "Gwet's AC2",
    "cohen-kappa": "mean pairwise Cohen's kappa",
    "scott-pi": "mean pairwise Scott's pi",
    "spearman": "mean pairwise Spearman's rho",
    "cronbach-alpha": "Cronbach's alpha",
}


@dataclass(frozen=True)
class MeasureResult:
    """A measure of one question; `undefined` says why the value is nan, where it is."""

    measure: str
    value: float
    interval: ConfidenceInterval | None  # None: not computed
    undefined: str | None

    def to_dict(self) -> dict[str, Any]:
        """As JSON; what is undefined is null."""
        ends = {} if self.interval is None else self.interval._asdict()
        fields = {"measure": self.measure, "value": self.value, **ends}
        return or_none(fields | {"undefined": self.undefined})


@dataclass(frozen=True)
class QuestionAgreement:
    """How much annotators agree on one question."""

    question: str
    scale: str
    answers: int
    items: int  # with answers
    measures: list[MeasureResult]

    def to_dict(self) -> dict[str, Any]:
        """As JSON; what is undefined is null."""
        return {**vars(self), "measures": [result.to_dict() for result in self.measures]}


class Agreement(list[QuestionAgreement]):
    """How much annotators agree, question by question; a table in a notebook."""

    def to_table(self) -> pa.Table:
        """An Arrow table with a row per question and measure."""
        rows = [{"question": q.question, **r.to_dict()} for q in self for r in q.measures]
        names = list(rows[0]) if rows else ["question", "measure", "value", "undefined"]
        return pa.table({name: [row[name] for row in rows] for name in names})

    def to_pandas(self) -> Any:
        """A pandas DataFrame with a row per question and measure."""
        return to_frame(self.to_table())

    def _repr_html_(self) -> str:
        """All measures, for notebooks."""
        table = self.to_table()
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        return html_table(table.column_names, rows)


def about(annotations: Annotations, question: str) -> dict[str, Any]:
    """The question, its scale, and the number of answers and of items that have any."""
    return {
        "question": question,
        "scale": annotations.scale.kind,
        "answers": annotations.n_answers,
        "items": int(np.count_nonzero(annotations.small_voters)),
    }


# ---- all measures ----


def summarise(
    corpus: Any,
    questions: Sequence[str] | None = None,
    measures: Sequence[str] | None = None,
    intervals: bool | Over = False,
    weights: Weights = None,
) -> Agreement:
    """How much the annotators of a corpus agree, question by question.

    Args:
        corpus: a corpus, or a pandas, polars or Arrow table that `dissensus.read` can read.
        questions: which ones; all if left out.
        measures: names of `MEASURES`; all that apply if left out.
        intervals: whether to compute the confidence `interval` of each measure, over items unless
            it is "raters": then over items and annotators.
        weights: between levels, such as "linear"; then the measures are those that take weights.

    Example:
        >>> from dissensus import Corpus
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no"), ("t3", "ann", "yes"), ("t3", "bob", "no")]
        >>> corpus = Corpus.build("mine", ["t1", "t2", "t3"], {"q": Annotations.from_rows(rows)})
        >>> [(r.measure, round(r.value, 3)) for r in summarise(corpus)[0].measures[:2]]
        [('percent', 0.667), ('krippendorff-alpha', 0.444)]
    """
    corpus = corpus_of(corpus)
    questions = list(corpus.questions) if questions is None else questions
    corpus.check_questions(questions)
    check_measures(measures or ())
    entries = entries_of(measures, weights)
    over = "items" if intervals is True else intervals or None
    if over is not None:
        check_over(over)
    return Agreement(
        QuestionAgreement(
            **about(corpus[name], name),
            measures=[
                _result(corpus[name], entry, measure, over)
                for entry, measure in entries.items()
                if measures is not None or why_unfit(measure, corpus[name]) is None
            ],
        )
        for name in questions
    )


def _result(
    annotations: Annotations, name: str, measure: Measure, over: str | None
) -> MeasureResult:
    value = measure.value(annotations)
    undefined = math.isnan(value)
    ends = None
    if over is not None:
        ends = NONE if undefined else INTERVALS[over](measure, annotations)
    why_nan = measure.why_nan(annotations) if undefined else None
    return MeasureResult(name, value, ends, why_nan)


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
    return measure.why_nan(annotations) if math.isnan(measure.value(annotations)) else None


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


# ---- sentences ----


def sentence(
    annotations: Annotations | Any, measure: str = "krippendorff-alpha", over: Over = "items"
) -> str:
    """A measure with its interval, the number of items, answers and annotators, for a paper.

    Args:
        annotations: or a corpus or table with one question, as `read` reads it.
        over: what the `interval` is over: items, or items and "raters".

    Example:
        >>> rows = [(f"t{i}", name, "yes" if i % 3 else "no")
        ...         for i in range(30) for name in ("ann", "bob")]
        >>> rows += [("t30", "ann", "yes"), ("t30", "bob", "no")]
        >>> sentence(Annotations.from_rows(rows))
        "Krippendorff's alpha = 0.93, 95 % CI [0.62, 0.99] over items, for these 2 annotators (31
        items, 62 answers)"
    """
    annotations = annotations_of(annotations)
    known = measure_named(measure)
    value = known.value(annotations)
    if math.isnan(value):
        return f"{NAMES.get(measure, measure)} is undefined: {known.why_nan(annotations)}"
    n_annotators = None
    if annotations.annotator is not None:
        n_annotators = int((annotations.per_annotator() > 0).sum())
    n_items = int((annotations.per_item() > 0).sum())
    ends = interval(measure, annotations, over=over)
    return written(measure, value, ends, n_items, annotations.n_answers, n_annotators, over)


def written(
    measure: str,
    value: float,
    ends: ConfidenceInterval,
    n_items: int,
    n_answers: int,
    n_annotators: int | None,
    over: Over = "items",
) -> str:
    """The sentence of a value and its interval.

    Args:
        n_annotators: None if annotators are unknown.
    """
    what, size = f"{NAMES.get(measure, measure)} = {value:.2f}", f"{n_items:,} items, "
    annotators = "" if n_annotators is None else counted(n_annotators, "annotator")
    answers = f"{n_answers:,} answers"
    by_whom = f"{answers} by {annotators}" if annotators else answers
    if math.isnan(ends.low):
        few = "too few annotators" if over == "raters" and (n_annotators or 0) < 3 else "too few"
        return f"{what} ({size}{by_whom}; {few} for an interval)"
    what += f", 95 % CI [{ends.low:.2f}, {ends.high:.2f}] over items"
    if over == "raters":
        return f"{what} and annotators ({size}{by_whom})"
    these = f", for these {annotators}" if annotators else ""
    return f"{what}{these} ({size}{answers})"


MOST_CELLS = 1_000_000  # of all confusion matrices together


@dataclass(frozen=True)
class QuestionBreakdown:
    """Agreement on one question by item, annotator, pair or value, the least agreement first."""

    question: str
    scale: str
    answers: int
    items: int  # with answers
    by: str
    total: int  # items, annotators, pairs or values; `rows` may hold fewer
    rows: list[dict[str, Any]]  # names, counts and measures; None where undefined

    def to_dict(self) -> dict[str, Any]:
        """As JSON, with the rows as "items", "annotators", "pairs" or "values"."""
        fields = {name: value for name, value in vars(self).items() if name not in ("by", "rows")}
        return {**fields, f"{self.by}s": self.rows}


class CorpusBreakdown(NamedTuple):
    """The questions that could be broken down, and why others could not, by name."""

    questions: list[QuestionBreakdown]
    left_out: dict[str, str]


def break_down(
    corpus: Corpus,
    by: str,
    questions: Sequence[str] | None = None,
    measures: Sequence[str] | None = None,
    most: int | None = None,
) -> CorpusBreakdown:
    """Agreement by item, annotator, pair of annotators or value.

    Args:
        by: "item", "annotator", "pair" or "value".
        questions: which ones; all if left out.
        measures: names of `PER_ITEM`, `PER_ANNOTATOR`, `PER_PAIR` or `PER_VALUE`; all that apply if
            left out.
        most: the most rows of each question; all if left out. All annotators with all measures
            have their confusion matrix against the consensus too.

    Example:
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no"), ("t2", "ann", "no"),
        ...         ("t2", "bob", "no")]
        >>> corpus = Corpus.build("mine", ["t1", "t2"], {"q": Annotations.from_rows(rows)})
        >>> break_down(corpus, "item", measures=["majority-share"]).questions[0].rows[0]
        {'item': 't1', 'answers': 2, 'majority-share': 0.5}
    """
    if by not in BREAKDOWNS:
        raise DataError(f"no breakdown by {by!r}; there are {listed(BREAKDOWNS)}")
    questions = list(corpus.questions) if questions is None else questions
    corpus.check_questions(questions)
    check_measures(measures or (), by)
    broken = CorpusBreakdown([], {})
    for name in questions:
        annotations = corpus[name]
        chosen = {n: e for n, e in BREAKDOWNS[by].items() if n in (measures or BREAKDOWNS[by])}
        unfit = {n: why_unfit(entry, annotations) for n, entry in chosen.items()}
        fitting = {n: chosen[n] for n, why in unfit.items() if why is None}
        if not fitting:
            kind = annotations.scale.kind
            for_scale = [n for n, entry in chosen.items() if kind in entry.scales]
            broken.left_out[name] = "; ".join(
                dict.fromkeys(unfit[n] or "" for n in for_scale or chosen)
            )
            continue
        rows, total = _rows(annotations, by, fitting, most)
        if by == "annotator" and measures is None and most is None:
            _add_confusions(annotations, rows)
        fields = about(annotations, name)
        broken.questions.append(QuestionBreakdown(**fields, by=by, total=total, rows=rows))
    return broken


def _rows(
    annotations: Annotations, by: str, entries: Mapping[str, Breakdown], most: int | None
) -> tuple[list[dict[str, Any]], int]:
    """The rows, the least agreement by the first measure first; and how many there are."""
    keys, places = _pairs(annotations) if by == "pair" else _singles(annotations, by)
    values = {name: entry.function(annotations)[places] for name, entry in entries.items()}
    if by == "item":  # one annotator is no agreement
        alone = annotations.voters()[places] < 2
        values = {name: np.where(alone, np.nan, value) for name, value in values.items()}
    name, first = next(iter(values.items()))
    key = first if entries[name].higher_is_agreement else -np.abs(first)
    order = np.argsort(np.round(key, 9), kind="stable")[:most]  # what is undefined last
    cells = {name: _cells(column, order) for name, column in keys.items()}
    cells |= {name: value[order].tolist() for name, value in values.items()}
    rows = [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
    return or_none(rows), len(places[0])


def _singles(annotations: Annotations, by: str) -> tuple[dict[str, Any], tuple[np.ndarray, ...]]:
    """The columns that name items or annotators with answers, or values, and where they stand."""
    if by == "value":
        answers = answers_per_value(annotations)
        places = np.arange(len(answers))
        values = Names(annotations.scale.values)  # type: ignore[attr-defined]
        return {by: (values, places), "answers": answers.astype(np.int64)}, (places,)
    size = annotations.per_item() if by == "item" else annotations.per_annotator()
    places = np.flatnonzero(size)
    names = annotations.items if by == "item" else annotations.annotators
    return {by: (names, places), "answers": size[places]}, (places,)


def _pairs(annotations: Annotations) -> tuple[dict[str, Any], tuple[np.ndarray, ...]]:
    """The columns that name annotators who share items, and where they stand in matrices."""
    common = common_items(annotations)
    first, second = np.nonzero(np.triu(common, 1))
    names = annotations.annotators
    columns = {"first": (names, first), "second": (names, second), "items": common[first, second]}
    return columns, (first, second)


def _cells(column: np.ndarray | tuple[Names, np.ndarray], order: np.ndarray) -> list[Any]:
    """Numbers, or names given as all names and a code each, in this order."""
    if not isinstance(column, tuple):
        return list(column[order].tolist())
    names, codes = column
    return list(names.array.take(codes[order]).to_pylist())


def _add_confusions(annotations: Annotations, rows: list[dict[str, Any]]) -> None:
    """Add the answers (columns) to items of each consensus (rows of the matrix)."""
    n_values = annotations.scale.n_columns
    few = annotations.n_annotators * n_values**2 <= MOST_CELLS
    if annotations.scale.kind not in ("nominal", "ordinal") or not few:
        return
    matrices = confusion(annotations)
    codes = annotations.annotators.codes([row["annotator"] for row in rows])
    for row, code in zip(rows, codes, strict=True):
        row["confusion"] = matrices[code].tolist()
