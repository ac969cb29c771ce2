"""The scores of predictions on a corpus: for each question, part of the split and method."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from dissensus.agreement.estimates import or_none
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.densities import rating_densities
from dissensus.errors import DataError, counted, listed
from dissensus.evaluation.comparison_table import FLOORS, Cell, Row, higher_is_better
from dissensus.evaluation.predicted_consensus import BothConsensus, predicted_consensus
from dissensus.evaluation.resampling import drawing_once
from dissensus.evaluation.result_tables import floor_notes
from dissensus.evaluation.significance.method_difference import metric_over_items
from dissensus.evaluation.significance.paired_tests import over_items
from dissensus.metrics import (
    DENSITY_METRICS,
    GOLD,
    METRICS,
    Bounds,
    Dic,
    bounds,
    compared,
    constant_density,
    dic_floor,
    dic_of,
    divided_names,
    gold_scores,
    scores,
)
from dissensus.metrics.metric import common_pairs
from dissensus.prediction import JointDensity, Prediction, Predictions
from dissensus.readers.tables.answers import variants
from dissensus.scales import Interval, Scale, as_numbers
from dissensus.tables import Table, to_frame

METHODS_WITH_BOUNDS = 2  # most methods that leave room for columns of bounds in 80 characters
RESAMPLES = 2000
COLUMNS = {name: pa.string() for name in ("question", "part", "method", "metric")} | {
    name: pa.float64() for name in ("score", "low", "high", "perfect", "constant")
}  # of tables of scores


@dataclass(frozen=True)
class PartScores:
    """The scores of one method for one question on one part of a corpus."""

    question: str
    part: str | None  # of the official split, if the corpus has one
    method: str
    items: int  # number of items compared
    answers: int  # number of answers compared with a prediction for their annotator
    gold: int  # number of items compared with a gold label
    scores: dict[str, float]
    bounds: dict[str, Bounds]  # of the soft metrics, on the items compared
    dic: tuple[Dic, Dic] | None  # of the prediction, and between halves of the answers
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)  # 95 %, over items

    def rows(self) -> list[dict[str, Any]]:
        """A dict of `COLUMNS` for each metric; undefined is None."""
        undefined = math.nan, math.nan
        return [
            {
                "question": self.question,
                "part": self.part,
                "method": self.method,
                "metric": metric,
                **or_none({"score": score}),
                **or_none(dict(zip(("low", "high"), interval, strict=True))),
                **or_none(self.bounds.get(metric, Bounds(*undefined))._asdict()),
            }
            for metric, score in self.scores.items()
            for interval in [self.intervals.get(metric, undefined)]
        ]

    def to_dict(self) -> dict[str, Any]:
        """The scores as JSON; undefined scores are null."""
        bounds = {name: each._asdict() for name, each in self.bounds.items()}
        content: dict[str, Any] = or_none(vars(self) | {"bounds": bounds})
        if not self.intervals:
            del content["intervals"]
        if self.dic is None:
            del content["dic"]
        else:
            own, noise = self.dic
            between = {"noise floor": noise.value, "noise floor, normalised": noise.normalised}
            content["dic"] = {"pairs": own.pairs, "left out": own.left_out, **or_none(between)}
        return content


@dataclass(frozen=True)
class Evaluation:
    """The scores of predictions on a corpus.

    Example:
        >>> import dissensus as ds
        >>> corpus = ds.simulate.text(n_items=100)
        >>> train, test = corpus.split(0.3)
        >>> floor = ds.methods.AnnotatorMajority().fit(train).predict(test)
        >>> evaluation = ds.evaluation.evaluate(floor, test, metrics=["annotator accuracy"])
        >>> evaluation.results[0].method, list(evaluation.results[0].scores)
        ('annotator-majority', ['annotator accuracy'])
    """

    corpus: str
    results: tuple[PartScores, ...]
    notes: tuple[str, ...] = ()  # on what was left out, a line each

    def __str__(self) -> str:
        return "\n\n".join(table.to_text() for table in self.tables())

    def _repr_html_(self) -> str:
        """The tables, for notebooks."""
        return "".join(table.to_html() for table in self.tables())

    def tables(self) -> list[Table]:
        """A table for each question and part: a row for each metric, a column for each method, the
        last one says which direction is better; notes are on floors."""
        blocks: dict[tuple[str, str | None], list[PartScores]] = {}
        for result in self.results:
            blocks.setdefault((result.question, result.part), []).append(result)
        return [
            _table(f"{self.corpus}, {question}" + (f", {part}" if part else ""), methods)
            for (question, part), methods in blocks.items()
        ]

    def to_table(self) -> Any:
        """An Arrow table, a row for each question, part, method and metric; undefined is null."""
        rows = [row for result in self.results for row in result.rows()]
        return pa.Table.from_pylist(rows, pa.schema(list(COLUMNS.items())))

    def to_pandas(self) -> Any:
        """The scores as a pandas DataFrame, with the rows and columns of `to_table`."""
        return to_frame(self.to_table())

    def to_dict(self) -> dict[str, Any]:
        """Everything except the notes, as JSON; undefined scores are null."""
        return {"corpus": self.corpus, "results": [result.to_dict() for result in self.results]}


def evaluate(
    predictions: Predictions | Mapping[str, Predictions],
    corpus: Corpus,
    questions: Sequence[str] | None = None,
    metrics: Iterable[str] | None = None,
    *,
    intervals: bool = False,
    consensus: Literal["own", "all"] | None = None,
    seed: int = 0,
) -> Evaluation:
    """Score predictions against the answers of a corpus.

    Every question and every part of the official split is scored separately. Items and annotators
    are matched by name; items with neither answers nor gold labels are ignored.

    Args:
        predictions: of one method, or of several by name. Tables show the names of methods; if a
            method occurs twice, the names given here are added.
        questions: all predicted ones if left out.
        metrics: names of `METRICS` and `DENSITY_METRICS`; those that tables show, and all of
            densities, if left out.
        intervals: also compute 95 % intervals over items, for metrics that are computed from items.
            Items of one group (`Corpus.units`) are resampled together, with this `seed`.
        consensus: whose predicted answers make up an item's distribution: of its "own" annotators,
            or of "all" that were predicted. If left out, as it was predicted, and "all" for gold
            labels where annotators were predicted beyond those of the items.
    """
    if consensus not in (None, "own", "all"):
        raise DataError(f"consensus must be 'own' or 'all', found {consensus!r}")
    if isinstance(predictions, Predictions):
        predictions = {predictions.method: predictions}
    wanted, of_densities = divided_names(metrics)
    notes: list[str] = []
    results: list[PartScores] = []
    for name, of_method in predictions.items():
        notes += check_predictions(name, of_method, corpus, questions or ())
    with drawing_once():
        for method, of_method in zip(_methods(predictions), predictions.values(), strict=True):
            for question in questions or of_method:
                if question not in corpus.questions or wanted == []:
                    continue
                both, more = predicted_consensus(of_method[question], corpus[question], consensus)
                notes += [f"{method}: {note}" for note in more if question in corpus.gold]
                of_seed = seed if intervals else None
                results += _parts_of(method, question, both, corpus, wanted, of_seed)
            for density in of_method.densities.values():
                if of_densities and set(density.questions) <= set(questions or of_method):
                    results += _density_parts(method, density, corpus, of_densities, intervals)
    if not results and wanted == []:
        raise DataError(
            f"no density is predicted, so that there is no {of_densities[0]}; predict it with "
            "density='soft' or --density soft"
        )
    if not results:
        first = next(iter(predictions), "nothing")
        raise DataError(f"{first}: no predicted item has an answer in {corpus.name}")
    if wanted:
        notes += _not_applied(wanted, results)
    only_gold = [result for result in results if result.gold and not result.items]
    notes += [
        f"{question}{f', {part}' if part else ''}: gold labels but no answers; only metrics "
        "against gold labels are shown"
        for question, part in dict.fromkeys((one.question, one.part) for one in only_gold)
    ]
    notes += trained_notes(predictions)
    return Evaluation(corpus.name, tuple(results), tuple(notes))


# ---- scores ----


def _methods(named: Mapping[str, Predictions]) -> list[str]:
    """The names of methods; the name of the predictions is added if a method occurs twice."""
    methods = [predictions.method for predictions in named.values()]
    return [
        method if methods.count(method) == 1 else f"{method} ({name})"
        for method, name in zip(methods, named, strict=True)
    ]


def _parts_of(
    method: str,
    question: str,
    both: BothConsensus,
    corpus: Corpus,
    wanted: list[str] | None,
    seed: int | None,
) -> Iterator[PartScores]:
    """The scores on each part; with a seed, also their intervals."""
    prediction = both.of_answers
    for part, inside in _parts(corpus):
        answers, gold = corpus[question], corpus.gold.get(question)
        answers = answers.take(inside[answers.item])
        gold = None if gold is None else gold.take(inside[gold.item])
        n = compared(prediction, answers)
        n_gold = 0 if gold is None else compared(prediction, gold).items
        if not (n.items or n_gold):
            continue
        part_scores = scores(prediction, answers, metrics=wanted) if n.items else {}
        if gold is not None and n_gold:
            part_scores |= gold_scores(both.of_gold, gold, wanted)
        soft = [name for name in part_scores if name in METRICS and METRICS[name].soft]
        yield PartScores(
            question,
            part,
            method,
            n.items,
            n.pairs,
            n_gold,
            part_scores,
            bounds(soft, answers.to(prediction.scale), prediction.items) if soft else {},
            _dic(prediction, answers) if {"DIC", "DIC, normalised"} & part_scores.keys() else None,
            {} if seed is None else _intervals(part_scores, both, answers, gold, corpus, seed),
        )


def _density_parts(
    method: str, density: JointDensity, corpus: Corpus, metrics: list[str], intervals: bool
) -> Iterator[PartScores]:
    """The scores of a joint density, against the densities of the ratings that were given."""
    if not set(density.questions) <= set(corpus.questions):
        return
    bins = density.shape[0]
    for part, inside in _parts(corpus):
        predicted = density.items.find(corpus.items) >= 0
        tested = corpus.select(items=inside & predicted)
        observed = rating_densities(tested, density.questions, bins)
        if not len(observed.items):
            continue
        constant, units = constant_density(observed), corpus.units()
        part_scores, part_bounds, ends = {}, {}, {}
        for name in metrics:
            metric = DENSITY_METRICS[name]
            items, each = metric.item_scores(density, observed)
            part_scores[name] = metric(density, observed)
            part_bounds[name] = Bounds(metric(observed, observed), metric(constant, observed))
            if intervals:
                groups = units[corpus.items.codes(items)]
                test = over_items(each, np.zeros_like(each), groups=groups, resamples=RESAMPLES)
                ends[name] = test.low, test.high
        name, counts = f"{density.name} (density)", (len(observed.items), 0, 0)
        yield PartScores(name, part, method, *counts, part_scores, part_bounds, None, ends)


def _parts(corpus: Corpus) -> list[tuple[str | None, np.ndarray]]:
    """The parts of the official split and the items in no part; without a split, all items."""
    parts: list[tuple[str | None, np.ndarray]] = [
        (part, corpus.in_part(part)) for part in corpus.parts()
    ]
    rest = np.ones(corpus.n_items, dtype=bool)
    for _, inside in parts:
        rest &= ~inside
    return [*parts, ("in no part" if parts else None, rest)]


def _dic(prediction: Prediction, answers: Annotations) -> tuple[Dic, Dic]:
    """DIC with the number of pairs, and the noise floor on the same answers."""
    rows, _ = common_pairs(prediction, answers)
    return dic_of(prediction, answers), dic_floor(answers.to(prediction.scale).take(rows))


def _intervals(
    names: Iterable[str],
    both: BothConsensus,
    answers: Annotations,
    gold: Annotations | None,
    corpus: Corpus,
    seed: int,
) -> dict[str, tuple[float, float]]:
    """95 % intervals over items, of the metrics that have one."""
    units, intervals = corpus.units(), {}
    for name in names:
        of_gold = name.endswith(GOLD)
        against, prediction = (gold, both.of_gold) if of_gold else (answers, both.of_answers)
        metric = METRICS[name.removesuffix(GOLD)]
        if against is None or not metric.has_interval:
            continue
        parts = metric.item_scores(prediction, against)
        if not parts:
            continue
        items = next(iter(parts.values()))[0]
        each = {part: scores[None] for part, (_, scores) in parts.items()}
        groups = units[corpus.items.codes(items)]
        test = metric_over_items(metric.name, each, groups=groups, resamples=RESAMPLES, seed=seed)
        intervals[name] = test.low, test.high
    return intervals


def _not_applied(wanted: list[str], results: Sequence[PartScores]) -> list[str]:
    """Notes on metrics that were left out, and why; an error if all were."""
    shown = {name for result in results for name in result.scores}
    reasons = []
    answered = any(result.items for result in results)
    for name in (name for name in wanted if name not in shown):
        metric = METRICS[name.removesuffix(GOLD)]
        if name.endswith(GOLD) and not any(result.gold for result in results):
            reasons.append(f"{name} needs gold labels, but no predicted item has one")
            continue
        if not name.endswith(GOLD) and not answered:
            reasons.append(f"{name} needs answers, but no predicted item has one")
            continue
        kinds = " and ".join(", ".join(metric.scales).rsplit(", ", 1))
        reasons.append(f"{metric.name} is for {kinds} answers and needs predicted {metric.needs}")
    if len(reasons) == len(wanted):
        raise DataError(f"no metric applies: {'; '.join(reasons)}")
    return [f"left out: {reason}" for reason in reasons] if len(wanted) < len(METRICS) else []


def trained_notes(named: Mapping[str, Predictions]) -> list[str]:
    """A note on predictions for items that the model was trained on."""
    notes = []
    for name, predictions in named.items():
        for prediction in predictions.values():
            if prediction.trained is not None and prediction.trained.any():
                n, total = int(prediction.trained.sum()), len(prediction.items)
                about = "these scores say" if n == total else "their scores say"
                notes.append(
                    f"{name}: {n} of {counted(total, 'item')} were trained on: {about} nothing "
                    "about new items"
                )
                break
    return notes


# ---- predictions that are refused ----


def check_predictions(
    name: str, predictions: Predictions, corpus: Corpus, questions: Sequence[str] = ()
) -> list[str]:
    """Refuse predictions for another corpus; return notes on questions that are left out."""
    corpus.check_questions(questions)
    common = [question for question in predictions if question in corpus.questions]
    if not common:
        raise DataError(
            f"{name}: predicts {listed(predictions)}; {corpus.name} has the questions "
            f"{listed(corpus.questions)}"
        )
    for question in questions:
        predictions[question]  # an error if it was not predicted
    for question in common:
        items = predictions[question].items
        unknown = [items[code] for code in (corpus.items.find(items) < 0).nonzero()[0]]
        if unknown:
            raise DataError(
                f"{name}: {len(unknown)} of {len(items)} predicted items are not in "
                f"{corpus.name}: {listed(unknown, 3)}; evaluate on the corpus that was predicted"
            )
        _check_scale(name, question, predictions[question].scale, corpus)
    return [
        f"{name}: {question!r} is not a question of {corpus.name}; left out"
        for question in predictions
        if question not in common
    ]


def _check_scale(name: str, question: str, learned: Scale, corpus: Corpus) -> None:
    """Refuse a corpus with answers that are not on the scale of the predictions."""
    try:
        corpus[question].to(learned)
    except DataError as error:
        reason = re.sub(r"^row \d+: ", "", str(error))
        raise DataError(
            f"{name}: {question!r} has another scale in training than in {corpus.name} ({reason}); "
            f"{_scale_hint(learned, corpus[question].scale)}"
        ) from None


def _scale_hint(learned: Scale, other: Scale) -> str:
    """What to do if answers are not on the scale of the predictions."""
    if isinstance(learned, Interval):
        ends = [learned.low, learned.high, *_ends(other)]
        both = f"interval:{min(ends):.12g}:{max(ends):.12g}"
        return f"declare all values when training, as in --scale {both}"
    known = list(getattr(learned, "values", ()))
    unknown = [value for value in getattr(other, "values", ()) if value not in known]
    if not unknown:
        return "declare all values when training"
    every = known + unknown
    groups = variants(every, np.ones(len(every)))
    if {every[code] for group in groups for code in group}.issuperset(unknown):
        same = f"--scale {learned.kind}:{','.join(known)} --merge-variants"
        return f"if these are other spellings of the same values, use {same}"
    return f"declare all values when training, as in --scale {learned.kind}:{','.join(every)}"


def _ends(scale: Scale) -> Sequence[float]:
    """The numbers of a scale, including its ends; empty if its values are words."""
    if isinstance(scale, Interval):
        return scale.low, scale.high
    return as_numbers(getattr(scale, "values", ())) or ()


# ---- tables ----


def _table(heading: str, methods: list[PartScores]) -> Table:
    with_bounds = _has_bound_columns(methods)
    bound_columns = ("perfect", "constant") if with_bounds else ()
    columns = ("", *(result.method for result in methods), *bound_columns, "better")
    rows = [
        Row(r.method, {m: Cell(score) for m, score in r.scores.items()}, r.method in FLOORS)
        for r in methods
    ]
    every = [*METRICS, *DENSITY_METRICS, *(name + GOLD for name in METRICS)]
    shown = [name for name in every if any(name in result.scores for result in methods)]
    cells = list(_rows(methods, with_bounds))
    align = f"l{'r' * (len(columns) - 2)}l"
    return Table(columns, cells, heading, align, floor_notes(rows, shown))


def _has_bound_columns(methods: list[PartScores]) -> bool:
    """Whether bounds have columns of their own: with few methods that share the same bounds."""
    shown = {str([(n, _text(b[0]), _text(b[1])) for n, b in r.bounds.items()]) for r in methods}
    return (
        len(methods) <= METHODS_WITH_BOUNDS and len(shown) == 1 and any(r.bounds for r in methods)
    )


def _rows(methods: list[PartScores], with_bounds: bool) -> Iterator[list[str]]:
    empty = ["", ""] if with_bounds else []

    def row(name: str, numbers: Sequence[float | None]) -> list[str]:
        shown = [_text(math.nan if number is None else number) for number in numbers]
        return [name, *shown, *empty, ""]

    yield row("items compared", [result.items for result in methods])
    if any(result.answers for result in methods):
        yield row("answers by annotator", [result.answers for result in methods])
    if any(result.gold for result in methods):
        yield row("gold labels compared", [result.gold for result in methods])
    for name in (*METRICS, *DENSITY_METRICS):
        yield from _metric_rows(name, methods, with_bounds)
    every = [result.dic for result in methods]
    if any(every):  # a dash if there are no predictions per annotator
        yield row("  DIC between halves", [dic and dic[1].value for dic in every])
        yield row("  the same, normalised", [dic and dic[1].normalised for dic in every])
        yield row("  pairs of annotators", [dic and dic[0].pairs for dic in every])
        yield row("  pairs left out", [dic and dic[0].left_out for dic in every])
    for name in METRICS:
        yield from _metric_rows(f"{name} (gold)", methods, with_bounds)


def _metric_rows(name: str, methods: list[PartScores], with_bounds: bool) -> Iterator[list[str]]:
    """The scores of a metric, with its bounds in further columns or in rows below."""
    if not any(name in result.scores for result in methods):
        return
    better = "higher" if higher_is_better(name) else "lower"
    cells = [_cell(result, name) for result in methods]
    both = [result.bounds.get(name) for result in methods]
    if with_bounds:
        bound_cells = ["", ""] if both[0] is None else [_text(bound) for bound in both[0]]
        yield [name, *cells, *bound_cells, better]
        return
    yield [name, *cells, better]
    for place, guess in enumerate(("perfect", "constant") if any(both) else ()):
        each = [_text(math.nan if of is None else of[place]) for of in both]
        yield [f"  {guess} prediction", *each, ""]


def _cell(result: PartScores, name: str) -> str:
    score = _text(result.scores.get(name, math.nan))
    low, high = result.intervals.get(name, (math.nan, math.nan))
    return score if math.isnan(low) else f"{score} [{low:.3f}, {high:.3f}]"


def _text(value: float) -> str:
    """A number for tables; undefined is a dash."""
    if math.isnan(value):
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3f}"
