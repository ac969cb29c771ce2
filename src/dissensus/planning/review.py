"""Single answers that are probably slips, not views that others share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.agreement import first_answers
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.corpus.tables import item_columns, with_columns
from dissensus.description.annotator_clusters import (
    ITERATIONS,
    CrowdModel,
    cluster_annotators,
)
from dissensus.description.disputed_table import answers_of_items
from dissensus.errors import DataError
from dissensus.prediction import Prediction
from dissensus.scales import Interval, Nominal, Ordinal, answer_text

CELLS = 1 << 22  # of the largest intermediate array
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
    by_model = None if predictions is None else _predicted(answers, predictions, question)
    chance, kin = _chances(answers)
    worst = (
        np.log(chance)
        if by_model is None
        else (np.log(chance) + BY_MODEL * np.log(np.maximum(by_model, LEAST)))
    )
    alone = answers.per_item()[answers.item] < 2
    worst[alone & (True if by_model is None else np.isnan(by_model))] = np.nan
    rows = np.argsort(worst, kind="stable")[: np.isfinite(worst).sum()][: most or None]
    few = answers.take(rows)
    about = {name: c.take(pa.array(few.item)) for name, c in item_columns(corpus).items()}
    columns: dict[str, Any] = {
        corpus.columns.get("annotator", "annotator"): few.to_table()["annotator"],
        "answer": answers.scale.column(few.answer),
        "probability": [float(f"{value:.3g}") for value in chance[rows]],
        **({} if by_model is None else {"by the model": by_model[rows]}),
        "others": list(_others(answers, rows)),
        "reason": list(_reasons(answers, rows, chance, kin)),
    }
    return pa.table(with_columns(about, columns))


# ---- how probable answers are ----


def _chances(answers: Annotations) -> tuple[np.ndarray, np.ndarray]:
    """The probability of each answer, given the others to its item, (n_rows,), and the cluster of
    each annotator, 0 for none."""
    model = CrowdModel.of(answers)
    everybody = np.ones(answers.n_annotators, dtype=bool)
    chance = _given_others(model, everybody)
    kin = np.zeros(answers.n_annotators, dtype=int)
    found = cluster_annotators(answers)
    for label, cluster in enumerate(() if found is None else found.clusters, 1):
        kin[answers.annotators.codes(list(cluster.annotators))] = label
        shared = _given_others(model, kin == label)
        own = (kin == label)[model.annotator] & (_alike(answers, kin)[1] > 0)
        chance[own] = np.maximum(chance[own], shared[own])
    return np.maximum(chance, 1e-12), kin


def _given_others(model: CrowdModel, chosen: np.ndarray) -> np.ndarray:
    """The probability of each answer, given those of the other chosen annotators, (n_rows,)."""
    fitted = model.fit(model.one_hot(model.code, chosen), model.first(), ITERATIONS)
    table = model.logarithm(fitted)
    order, chance = np.argsort(model.item, kind="stable"), np.empty(len(model.item))
    ends = np.searchsorted(model.item[order], np.arange(model.n_items + 1))
    step = max(1, CELLS // len(fitted.share) * model.n_items // len(order))
    for first in range(0, model.n_items, step):
        rows = order[ends[first] : ends[min(first + step, model.n_items)]]
        own = table[model.annotator[rows], :, model.code[rows]]  # (n_rows, n_profiles)
        counted = np.where(chosen[model.annotator[rows]][:, None], own, 0.0)
        joint = np.tile(np.log(fitted.share), (step, 1))
        np.add.at(joint, model.item[rows] - first, counted)
        others = joint[model.item[rows] - first] - counted
        others = np.exp(others - others.max(axis=1, keepdims=True))
        chance[rows] = (others * np.exp(own)).sum(axis=1) / others.sum(axis=1)
    return chance


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


# ---- reasons ----


def _alike(answers: Annotations, kin: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many annotators of the same cluster gave the same answer to the item, and how many gave
    any; each without the annotator, (n_rows,)."""
    cluster = kin[answers.annotator_codes("")]
    values = np.unique(answers.answer, return_inverse=True)[1].reshape(-1)
    each = np.stack([answers.item, cluster, values], axis=1)
    counts = []
    for keys in (each, each[:, :2]):
        _, at, n = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
        counts.append(np.where(cluster > 0, n[at.reshape(-1)] - 1, 0))
    return counts[0], counts[1]


def _others(answers: Annotations, rows: np.ndarray) -> Iterator[str]:
    """What others answered to the items of these rows."""
    own = [answer_text(value) for value in answers.take(rows).answers()]
    items, at = np.unique(answers.item[rows], return_inverse=True)
    each = list(answers_of_items(answers, items))
    for text, place in zip(own, at.reshape(-1).tolist(), strict=True):
        counts = {one.answer: one.n - (one.answer == text) for one in each[place]}
        yield ", ".join(f"{value} {n}" for value, n in counts.items() if n)


def _reasons(
    answers: Annotations,
    rows: np.ndarray,
    chance: np.ndarray,
    kin: np.ndarray,
) -> Iterator[str]:
    """Why the answers of these rows are probably slips, in words."""
    everybody = np.ones(answers.n_annotators, dtype=int)
    (same, others), (alike, of_kin) = _alike(answers, everybody), _alike(answers, kin)
    annotator = answers.annotator_codes("")
    usual = np.bincount(annotator, chance, len(kin)) / np.maximum(answers.per_annotator(), 1)
    ratings = isinstance(answers.scale, Interval)
    total = np.bincount(answers.item, answers.answer) if ratings else np.zeros(answers.n_items)
    for row in rows.tolist():
        parts = [f"{same[row]} of {others[row]} others gave this answer"] if others[row] else []
        if ratings and others[row]:
            mean = (total[answers.item[row]] - answers.answer[row]) / others[row]
            parts = [f"the mean of {others[row]} others is {mean:.3g}"]
        if of_kin[row]:
            parts.append(f"{alike[row]} of {of_kin[row]} who usually answer alike")
        name = answers.annotators[int(annotator[row])]
        parts.append(f"answers of {name} usually have probability {usual[annotator[row]]:.2f}")
        yield "; ".join(parts)
