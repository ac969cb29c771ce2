"""The scores of predictions by group of annotators: for whom is a prediction worse?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from dissensus.agreement import chosen_attributes, group_annotators
from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.evaluation.comparison_table import higher_is_better
from dissensus.evaluation.prediction_scores import COLUMNS, PartScores, evaluate
from dissensus.prediction import Predictions

SHOWN = (
    "attribute", "group", "question", "part", "method", "metric", "annotators", "answers",
    "score", "low", "high",
)  # fmt: skip
TEXT, COUNT = pa.string(), pa.int64()
KINDS = COLUMNS | {"attribute": TEXT, "group": TEXT, "annotators": COUNT, "answers": COUNT}


@dataclass(frozen=True)
class GroupScores:
    """The scores of one method on the answers of one group, for one question and part."""

    attribute: str
    group: str
    annotators: int
    answers: int  # of the group to the items that are compared
    scores: PartScores


@dataclass(frozen=True)
class GroupEvaluation:
    """The scores of predictions on the answers of each group of annotators."""

    corpus: str
    results: tuple[GroupScores, ...]
    notes: tuple[str, ...] = ()

    def blocks(self) -> dict[tuple[str, str, str | None, str], list[GroupScores]]:
        """The groups by attribute, question, part and method."""
        blocks: dict[tuple[str, str, str | None, str], list[GroupScores]] = {}
        for result in self.results:
            scores = result.scores
            key = (result.attribute, scores.question, scores.part, scores.method)
            blocks.setdefault(key, []).append(result)
        return blocks

    def to_dict(self) -> dict[str, Any]:
        """As JSON; undefined scores are null."""
        results = [
            {**{k: v for k, v in vars(result).items() if k != "scores"}, **result.scores.to_dict()}
            | {"answers": result.answers, "compared": result.scores.answers}
            for result in self.results
        ]
        return {"corpus": self.corpus, "results": results, "notes": list(self.notes)}

    def to_table(self) -> pa.Table:
        """A row for each attribute, group, question, part, method and metric."""
        rows = [{**vars(result), **row} for result in self.results for row in result.scores.rows()]
        return pa.Table.from_pylist(rows, pa.schema([(name, KINDS[name]) for name in SHOWN]))


def evaluate_groups(
    predictions: Predictions | Mapping[str, Predictions],
    corpus: Corpus,
    attributes: Sequence[str],
    questions: Sequence[str] | None = None,
    metrics: Iterable[str] | None = None,
    seed: int = 0,
) -> GroupEvaluation:
    """Score predictions against the answers of each group of annotators, with 95 % intervals.

    The distribution of an item is that of the group's own answers, so that a group with few
    answers per item has a noisier one, and a lower score on soft metrics.

    Args:
        attributes: names of annotator attributes, or "all".

    Example:
        >>> import dissensus as ds
        >>> corpus = ds.simulate.text(n_items=100)
        >>> half = {"half": ["first", "second"] * (corpus.n_annotators // 2)}
        >>> corpus = ds.Corpus.build("mine", corpus.items, corpus.questions,
        ...                          annotators=corpus.annotators, annotator_attributes=half)
        >>> floor = ds.methods.AnnotatorMajority().fit(corpus).predict(corpus)
        >>> result = evaluate_groups(floor, corpus, ["half"], metrics=["annotator accuracy"])
        >>> [(of.group, list(of.scores.scores)) for of in result.results]
        [('first', ['annotator accuracy']), ('second', ['annotator accuracy'])]
    """
    metrics = None if metrics is None else list(metrics)
    results, notes = [], []
    for attribute in chosen_attributes(corpus, attributes):
        groups = group_annotators(corpus, attribute)
        notes += groups.notes(int((groups.code < 0).sum()))
        for code, name in enumerate(groups.names):
            inside = groups.code == code
            part = replace(corpus.select(annotators=inside), gold={})
            try:
                evaluation = evaluate(
                    predictions, part, questions, metrics, intervals=True, seed=seed
                )
            except DataError as error:
                notes.append(f"{attribute} {name}: not scored: {error}")
                continue
            notes += [note for note in evaluation.notes if note not in notes]
            for scores in evaluation.results:
                question = part.questions.get(scores.question)
                answers = 0 if question is None else question.n_answers
                results.append(GroupScores(attribute, name, int(inside.sum()), answers, scores))
    if not results:
        raise DataError("; ".join(notes))
    return GroupEvaluation(corpus.name, tuple(results), tuple(dict.fromkeys(notes)))


def worst_group(results: Sequence[GroupScores], metric: str) -> GroupScores | None:
    """The group with the worst score; None if all are equal."""
    known = [r for r in results if not math.isnan(r.scores.scores.get(metric, math.nan))]
    if len(known) < 2:
        return None
    ordered = sorted(known, key=lambda result: result.scores.scores[metric])
    first, last = ordered[0].scores.scores[metric], ordered[-1].scores.scores[metric]
    return None if first == last else ordered[0 if higher_is_better(metric) else -1]
