"""Single answers that are probably slips, not views that others share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.agreement import first_answers
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.corpus.tables import item_columns, with_columns
from dissensus.description.annotator_clusters import ITERATIONS, CrowdModel, cluster_annotators
from dissensus.description.disputed_table import answers_of_items
from dissensus.errors import DataError
from dissensus.prediction import Prediction
from dissensus.scales import Interval, Nominal, Ordinal, answer_text

BY_MODEL = 0.5  # weight of the logarithm of a predicted probability, that of others being 1
LEAST = 0.01  # a predicted probability counts as this at least: a label alone is not certain


def review(
    corpus: Corpus, question: str, predictions: Prediction | None = None, most: int = 50
) -> pa.Table:
    """The answers that are least probable given all others, with reasons, the worst first.

    A model of the crowd (`description.cluster_annotators`) says how probable each answer is, given
    what others answered to the item, how reliable the annotator is and which values they prefer.
    If some annotators share views, it is also computed from these alone and the larger
    probability counts, so that the view of a camp is not taken for a slip. Answers to an item with
    one answer are judged only with predictions.

    Args:
        predictions: of a model of the content, for nominal or ordinal answers, which was not
            trained on the same items. Its probability counts half as much as that by other answers.
        most: how many answers; 0 for all.

    Example:
        >>> rows = [(f"t{n}", who, "yes" if n % 2 else "no")
        ...         for n in range(20) for who in ("ann", "bob", "cleo", "eve")]
        >>> rows[40] = ("t10", "ann", "yes")
        >>> corpus = Corpus.build("mine", [f"t{n}" for n in range(20)],
        ...                       {"rude": Annotations.from_rows(rows)})
        >>> review(corpus, "rude", most=1).select(["item", "annotator", "answer"]).to_pylist()
        [{'item': 't10', 'annotator': 'ann', 'answer': 'yes'}]
    """
    annotations = corpus[question]
    annotations.annotator_codes("a review of single answers")
    if not annotations.n_rows:
        raise DataError(f"{question}: there are no answers to review")
    answers = first_answers(annotations)
    probability, clusters = _given_others(answers)
    with np.errstate(divide="ignore"):
        worst = np.log(probability)  # nan where nobody else answered
    columns: dict[str, Any] = {}
    if predictions is not None:
        by_model = _predicted(answers, predictions, question)
        of_model = BY_MODEL * np.log(np.maximum(by_model, LEAST))
        worst = np.where(np.isnan(worst), of_model, worst + of_model)
        columns["by the model"] = by_model
    rows = np.argsort(worst, kind="stable")[: np.count_nonzero(~np.isnan(worst))][: most or None]
    few, usual = answers.take(rows), _usual(answers, probability)
    reasons = list(_reasons(few, answers, clusters, usual))
    about = {name: c.take(pa.array(few.item)) for name, c in item_columns(corpus).items()}
    columns = {
        corpus.columns.get("annotator", "annotator"): few.to_table()["annotator"],
        "answer": answers.scale.column(few.answer),
        "probability": [float(f"{value:.3g}") for value in probability[rows]],
        **{name: column[rows] for name, column in columns.items()},
        "others": [others for others, _ in reasons],
        "reason": [reason for _, reason in reasons],
    }
    return pa.table(with_columns(about, columns))


def _given_others(answers: Annotations) -> tuple[np.ndarray, dict[str, frozenset[str]]]:
    """The probability of each answer, given the others to its item, (n_rows,); nan without any.
    Also the cluster of annotators that are in one."""
    model = CrowdModel.of(answers)

    def predicted(chosen: np.ndarray) -> np.ndarray:
        fitted = model.fit(model.one_hot(model.code, chosen), model.first(), ITERATIONS)
        return np.exp(model.predicted(chosen, fitted))

    clusters: dict[str, frozenset[str]] = {}
    chance = predicted(np.ones(answers.n_annotators, dtype=bool))
    camps = cluster_annotators(answers)
    for cluster in () if camps is None else camps.clusters:
        inside = np.isin(
            np.arange(answers.n_annotators), answers.annotators.codes(cluster.annotators)
        )
        own = inside[model.annotator]
        chance[own] = np.fmax(chance[own], predicted(inside)[own])
        clusters |= dict.fromkeys(cluster.annotators, frozenset(cluster.annotators))
    return chance, clusters


def _predicted(answers: Annotations, predictions: Prediction, question: str) -> np.ndarray:
    """The probability of each answer by the model of the content, (n_rows,), nan without one."""
    if not isinstance(answers.scale, Nominal | Ordinal):
        raise DataError(
            f"{question}: predictions are used for nominal and ordinal answers, not for "
            f"{answers.scale.kind} ones; leave them out"
        )
    at = predictions.items.find(answers.items)[answers.item]  # -1 without a prediction
    if (at < 0).all():
        raise DataError(f"{question}: the predictions are about none of the items with answers")
    return np.where(at < 0, np.nan, predictions.distribution[at, answers.answer])


def _usual(answers: Annotations, probability: np.ndarray) -> np.ndarray:
    """The mean probability of the answers of each annotator, (n_annotators,)."""
    known = ~np.isnan(probability)
    annotator, n = answers.annotator_codes("")[known], answers.n_annotators
    total = np.bincount(annotator, probability[known], n)
    return np.asarray(total / np.maximum(np.bincount(annotator, minlength=n), 1))


def _reasons(
    few: Annotations,
    answers: Annotations,
    clusters: Mapping[str, frozenset[str]],
    usual: np.ndarray,
) -> Iterator[tuple[str, str]]:
    """What others answered, and why each of a few answers is probably a slip."""
    items, at = np.unique(few.item, return_inverse=True)
    counts = list(answers_of_items(answers, items))
    each = zip(few.answers(), few.annotator_codes("").tolist(), at.reshape(-1), strict=True)
    for answer, code, place in each:
        name, text, parts = str(answers.annotators[code]), answer_text(answer), []
        given = {one.answer: set(one.annotators) - {name} for one in counts[place]}
        others = [(value, len(names)) for value, names in given.items() if names]
        n_others, camp = sum(n for _, n in others), clusters.get(name, frozenset())
        if others and isinstance(answers.scale, Interval):
            mean = sum(float(value) * n for value, n in others) / n_others
            parts.append(f"the mean of {n_others} others is {mean:.3g}")
        elif others:
            parts.append(f"{len(given[text])} of {n_others} others gave this answer")
        if n_alike := sum(len(names & camp) for names in given.values()):
            parts.append(f"{len(given[text] & camp)} of {n_alike} who usually answer alike")
        parts.append(f"answers of {name} usually have probability {usual[code]:.2f}")
        yield ", ".join(f"{value} {n}" for value, n in others), "; ".join(parts)
