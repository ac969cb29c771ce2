"""The best method of a comparison, and the best one that predicts each annotator."""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from dissensus.corpus import Corpus
from dissensus.description.describe import differing_items
from dissensus.evaluation.comparison_table import FLOORS, ComparisonTable, higher_is_better
from dissensus.evaluation.result_tables import comparable_methods, default_reference, tables
from dissensus.evaluation.results import TRUTHS, Results
from dissensus.methods import METHODS
from dissensus.methods import method as method_class
from dissensus.metrics import GOLD

OF_ANNOTATORS = "annotator "  # how metrics on annotators begin
GOLD_ACCURACY = f"accuracy{GOLD}"
SAME = 1e-9  # difference of two scores that are the same


@dataclass(frozen=True)
class Best:
    """A method with the best mean score on a metric."""

    method: str
    question: str
    metric: str
    score: float

    def __str__(self) -> str:
        which = "highest" if higher_is_better(self.metric) else "lowest"
        return f"{self.method} ({which} {self.metric} on {self.question}: {self.score:.3f})"


@functools.lru_cache(maxsize=4)  # several parts of a report need them
def comparison_tables(
    results: Results, questions: tuple[str, ...] | None = None
) -> list[ComparisonTable]:
    """The tables of a comparison, with the default reference."""
    fitted = [m for m in results.about.methods if results.counts(m)["ok"]]
    return tables(results, questions, reference=default_reference(fitted))


def best_method(results: Results, among: Collection[str] | None = None) -> Best | None:
    """The best method on the first metric of the first question that any has a score on: accuracy
    against gold labels if the question has a truth.

    Only methods that are no floors and were fitted on the most folds count, so that all are
    comparable.

    Args:
        among: the methods that count, all if left out.
    """
    comparable = comparable_methods(results)
    chosen = comparable if among is None else [name for name in comparable if name in among]
    return _best(results, chosen)


def best_floor(results: Results) -> Best | None:
    """As `best_method`, of the methods that ignore the content."""
    floors = [name for name in results.about.methods if name in FLOORS and results.n_folds(name)]
    return _best(results, floors)


def best_of_annotators(results: Results, corpus: Corpus) -> tuple[Best | None, str]:
    """The best of the methods that predict each annotator, on the first metric of annotators; None,
    and why, if nothing is gained by predicting each of them.

    Args:
        corpus: that the methods were compared on.
    """
    every = corpus.questions.values()
    several = any((answers.voters() >= 2).any() for answers in every)
    if several and not any(differing_items(answers).any() for answers in every):
        return None, "annotators never disagree, so that no model of each annotator is needed"
    best = best_method(results)
    own = _best(results, filter(predicts_annotators, comparable_methods(results)), OF_ANNOTATORS)
    if best is None or own is None or own.method == best.method:
        return own, ""
    table = next(t for t in comparison_tables(results) if t.question == own.question)
    of_best = table[best.method].cells.get(own.metric)
    if of_best is None or abs(of_best.mean - own.score) > SAME:
        return own, ""
    if predicts_annotators(best.method):
        return Best(best.method, own.question, own.metric, of_best.mean), ""
    return None, (
        f"{best.method} predicts annotators as well as {own.method} ({own.metric} "
        f"{own.score:.3f}), so that no model of each annotator is saved"
    )


def predicts_annotators(name: str) -> bool:
    """Whether a method predicts each annotator; a row of another system does not."""
    return name in METHODS and method_class(name).individual


def _best(results: Results, methods: Iterable[str], begins: str = "") -> Best | None:
    """The best of these methods on the first metric whose name begins like this."""
    names = set(methods)
    truths = results.about.protocol.get(TRUTHS, ())
    for table in comparison_tables(results):
        first = GOLD_ACCURACY if table.question in truths else ""
        metrics = [metric for metric in table.metrics if metric.startswith(begins)]
        for metric in sorted(metrics, key=lambda name: name != first):
            sign = -1 if higher_is_better(metric) else 1
            scores = {
                row.name: sign * row.cells[metric].mean
                for row in table.rows
                if row.name in names and metric in row.cells
                if math.isfinite(row.cells[metric].mean)
            }
            if scores:
                name = min(scores, key=lambda name: scores[name])
                return Best(name, table.question, metric, sign * scores[name])
    return None
