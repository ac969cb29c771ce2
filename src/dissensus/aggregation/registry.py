"""Every aggregator by name, and fitting one to the questions of a corpus."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from dissensus.aggregation.base import CHOSEN, Aggregator
from dissensus.aggregation.dawid_skene import BayesianDawidSkene, DawidSkene
from dissensus.aggregation.gaussian import Gaussian
from dissensus.aggregation.ranking import RANKERS
from dissensus.aggregation.reliability import Glad, Kos, Mace, MatrixMeanSubsequenceReduced, OneCoin
from dissensus.aggregation.votes import (
    Majority,
    Mean,
    Median,
    SoftmaxVote,
    SoftVote,
    Wawa,
    WeightedVote,
    ZeroBasedSkill,
)
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.errors import DataError, did_you_mean, listed
from dissensus.scales import Scale

ESTIMATES = tuple(  # of annotators, one number each
    "accuracy_ accuracy_low_ accuracy_high_ skill_ competence_ ability_ bias_ spread_".split()
)
ROWS_AT_ONCE = 100_000  # gold labels that are compared together
MANY_VALUES = 1000  # more are hardly values that annotators chose from
MOST_SHARES = 50_000_000  # of many values: about 2 GB when they are written


def check_shares(n_items: int, scale: Scale, question: str) -> None:
    """Refuse a table with a share for each of many values and items, before memory is taken."""
    n_values = scale.n_columns
    if n_values > MANY_VALUES and n_items * n_values > MOST_SHARES:
        raise DataError(
            f"{question}: {n_items:,} items x {n_values:,} values are too large a table of shares; "
            "choose other questions (--question), or fewer values or items"
        )


def annotator_table(
    annotations: Annotations, fitted: Aggregator, question: str
) -> dict[str, list[Any]]:
    """Columns question, annotator, answers, and every estimate that is one number each."""
    columns: dict[str, list[Any]] = {
        "question": [question] * annotations.n_annotators,
        "annotator": list(annotations.annotators),
        "answers": annotations.per_annotator().tolist(),
    }
    if hasattr(fitted, "by_value_"):
        estimates = {
            f"{name}.{value}": column
            for value, each in fitted.by_value_.items()
            for name, column in _estimates(each, CHOSEN.values).items()
        }
    else:
        estimates = _estimates(fitted, getattr(annotations.scale, "values", ()))
    if not estimates:
        raise DataError(f"{fitted.name} learns nothing about annotators")
    return columns | estimates


def _estimates(fitted: Aggregator, values: Sequence[str]) -> dict[str, list[Any]]:
    """Every estimate that is one number for each annotator, by name."""
    estimates = {
        name.rstrip("_"): getattr(fitted, name).tolist()
        for name in ESTIMATES
        if hasattr(fitted, name)
    }
    if hasattr(fitted, "confusion_"):
        diagonal = fitted.confusion_.diagonal(axis1=1, axis2=2)  # (n_annotators, n_values)
        estimates |= {
            f"right.{v}": part.tolist() for v, part in zip(values, diagonal.T, strict=True)
        }
    return estimates


def gold_accuracy(
    corpus: Corpus, question: str, fitted: Aggregator
) -> tuple[float, float, int] | None:
    """The share of answers that equal the gold label, their mean confidence, and how many they are.

    None without gold labels, and for ratings, which are hardly ever equal.
    """
    if question not in corpus.gold or corpus[question].scale.kind == "interval":
        return None
    gold, answered = corpus.gold[question], fitted.consensus_.item
    prediction = fitted.prediction_
    row_of = np.full(len(corpus.items), -1, dtype=np.int64)
    row_of[answered] = np.arange(len(answered))
    labelled = np.flatnonzero(row_of[gold.item] >= 0)
    n_right = 0
    for begin in range(0, len(labelled), ROWS_AT_ONCE):
        rows = labelled[begin : begin + ROWS_AT_ONCE]
        labels = gold.scale.decode(gold.answer[rows])
        answers = prediction.scale.decode(prediction.consensus[row_of[gold.item[rows]]])
        n_right += sum(map(operator.eq, answers, labels))
    if not len(labelled):
        return None
    rows = row_of[gold.item[labelled]]
    confidence = prediction.scale.confidence(prediction.distribution, prediction.consensus)
    return n_right / len(rows), float(np.asarray(confidence)[rows].mean()), len(rows)


AGGREGATORS: dict[str, type[Aggregator]] = {
    aggregator.name: aggregator
    for aggregator in (
        Majority,
        SoftVote,
        SoftmaxVote,
        WeightedVote,
        Wawa,
        ZeroBasedSkill,
        OneCoin,
        DawidSkene,
        BayesianDawidSkene,
        Mace,
        Glad,
        Kos,
        MatrixMeanSubsequenceReduced,
        Mean,
        Median,
        Gaussian,
    )
}


def aggregate(
    corpus: Corpus,
    method: str,
    questions: Sequence[str] | None = None,
    use_gold: bool = False,
    skills: Mapping[str, float] | None = None,
) -> dict[str, Aggregator]:
    """A distribution and a consensus for each item: one fitted aggregator per question.

    `dissensus.aggregate` takes the same, and chooses a method that fits if none is named.

    Example:
        >>> from dissensus import Annotations
        >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "yes"), ("t1", "cleo", "no")]
        >>> corpus = Corpus.build("mine", ["t1"], {"rude": Annotations.from_rows(rows)})
        >>> aggregate(corpus, "majority")["rude"].consensus_.answers()
        ['yes']
    """
    questions = list(corpus.questions) if questions is None else questions
    corpus.check_questions(questions)
    check_aggregator(method)
    if method in RANKERS:
        raise DataError(f"{method} ranks what is compared, not items: use aggregation.rank")
    more: dict[str, Any] = {} if skills is None else {"skills": skills}
    _check_more(method, more, use_gold)
    return {name: _fitted(method, corpus, name, use_gold, more) for name in questions}


def usual_method(corpus: Corpus, question: str, unreliable: bool = False) -> str:
    """The aggregator of a question for which none is named.

    Args:
        unreliable: whether some annotators are known to be at chance, constant or contrary, or to
            copy: then a model that weighs annotators.
    """
    kind = corpus[question].scale.kind
    if unreliable:
        return "gaussian" if kind == "interval" else "dawid-skene"
    return {"interval": "mean", "ordinal": "median"}.get(kind, "majority")


def _check_more(method: str, more: Mapping[str, Any], use_gold: bool) -> None:
    """Refuse what a method cannot use, and a vote weighted by nothing."""
    aggregator = AGGREGATORS[method]
    if "skills" in more and not aggregator.takes_skills:
        raise DataError(f"{method} does not take skills; use weighted-vote")
    if aggregator.takes_skills and not use_gold and "skills" not in more:
        raise DataError(
            f"{method} needs skills (--skills TABLE) or gold labels (--use-gold); without them use "
            "soft-vote"
        )


def check_aggregator(method: str) -> None:
    """Refuse a name that is no aggregator."""
    known = [*AGGREGATORS, *RANKERS]
    if method not in known:
        raise DataError(
            f"no aggregator {method!r}{did_you_mean(method, known)}; there are "
            f"{listed(known, 40)}, or 'all'"
        )


def _fitted(
    method: str, corpus: Corpus, question: str, use_gold: bool, more: Mapping[str, Any]
) -> Aggregator:
    aggregator: Any = AGGREGATORS[method]()
    if not use_gold:
        return cast(Aggregator, aggregator.fit(corpus[question], **more))
    if not aggregator.takes_gold:
        raise DataError(f"{method} cannot learn from gold labels")
    if question not in corpus.gold:
        raise DataError(f"{corpus.name}: no gold label for {question!r}")
    _check_gold(corpus, question)
    return cast(Aggregator, aggregator.fit(corpus[question], gold=corpus.gold[question], **more))


def _check_gold(corpus: Corpus, question: str) -> None:
    """Refuse gold labels that are not values of the scale, because no annotator gave them."""
    scale, known = corpus[question].scale, corpus.gold[question].scale
    values = getattr(scale, "values", ())
    unknown = [value for value in getattr(known, "values", ()) if value not in values]
    if unknown:
        every = ",".join(map(str, [*values, *unknown]))
        raise DataError(
            f"{corpus.name}: nobody answered {question!r} with the gold label {listed(unknown)}; "
            f"say all values, as in --scale {scale.kind}:{every}"
        )
