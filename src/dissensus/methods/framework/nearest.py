"""The annotator of the training who stands in for a newcomer: whose predictions agree best."""

from __future__ import annotations

import numpy as np

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.methods.framework.pairs import PairPredictor, StandIns, crossed
from dissensus.scales import Interval, Ordinal, Scale

FEWEST = 2  # answers of a newcomer to compare
SMALLEST = 1e-12  # variance of ratings on [-1, 1] that are not all the same
DIGITS = 9  # of an agreement; smaller differences are rounding
NUMBERS_AT_ONCE = 1 << 25  # answers x annotators whose predictions are in memory


def nearest_annotators(
    predictor: PairPredictor, code: np.ndarray, source: Corpus, foreign: bool
) -> StandIns:
    """Compare newcomers' answers with what the annotators of the training are predicted to answer.

    Agreement is concordance (CCC) of ratings, ordinal or interval, and the share of equal answers
    otherwise. Among equals the annotator with more answers in training is chosen, then the first by
    name.

    Args:
        predictor: of the enrolment corpus, which has the answers of the newcomers.
        code: of the annotators to predict; see `TrainingAnnotators.codes`.
        source: the corpus to predict. If it is the enrolment corpus, or has the same name, answers
            to an item are left out where that item is predicted.
        foreign: whether annotators of the enrolment corpus are others than in training, even if
            names are the same.
    """
    learned, enrolment = predictor.learned, predictor.corpus
    number = enrolment.annotators.find(learned.annotators)  # -1: not in the enrolment corpus
    number = np.append(np.full(len(number), -1) if foreign else number, -1)
    rows = {}
    for question, scale in learned.questions.items():
        if question in enrolment.questions and enrolment[question].scale != scale:
            raise DataError(
                f"{enrolment.name}: {question!r} has another scale than training; answers of "
                "newcomers can be compared only on the same one"
            )
        known = code[code >= 0]
        newcomers = np.zeros(enrolment.n_annotators + 1, bool)
        newcomers[-2 - code[code < -1]] = True
        newcomers[number[known[~learned.answered[question][known]]]] = True
        rows[question] = _rows(enrolment, question, newcomers[:-1])
    same = enrolment is source or enrolment.name == source.name
    in_source = source.items.find(enrolment.items) if same else np.full(enrolment.n_items, -1)
    nearest = _nearest(predictor, rows, in_source)

    def codes_of(question: str, code: np.ndarray, item: np.ndarray) -> np.ndarray:
        newcomer = np.where(code < -1, -2 - code, number[np.maximum(code, -1)])
        pairs = zip(newcomer.tolist(), item.tolist(), strict=True)
        of, nobody = nearest[question], {-1: -1}
        return np.array(
            [
                of_items.get(one, of_items[-1])
                for n, one in pairs
                for of_items in [of.get(n, nobody)]
            ],
            dtype=np.int64,
        )

    return StandIns(
        codes_of,
        "the annotator who agrees best with their answers to other items",
        f"fewer than {FEWEST} answers to other items, or all the same,",
    )


Rows = tuple[np.ndarray, np.ndarray, np.ndarray]  # newcomer, item and answer of each


def _nearest(
    predictor: PairPredictor, rows: dict[str, Rows], in_source: np.ndarray
) -> dict[str, dict[int, dict[int, int]]]:
    """By question and newcomer, the training code of the nearest annotator, -1 if there is none: by
    item of the source without the answers to it, and for -1 by all answers."""
    learned, every = predictor.learned, np.flatnonzero(predictor.learned.any_answered)
    nearest: dict[str, dict[int, dict[int, int]]] = {question: {} for question in rows}
    answered = np.concatenate([newcomer for newcomer, _, _ in rows.values()])
    newcomers, n_answers = np.unique(answered, return_counts=True)
    by_name = np.argsort(np.array(list(learned.annotators), dtype=object), kind="stable")
    part = np.cumsum(n_answers) * len(every) // NUMBERS_AT_ONCE
    for some in np.split(newcomers, np.flatnonzero(np.diff(part)) + 1) if len(newcomers) else ():
        items = np.unique(np.concatenate([i[np.isin(n, some)] for n, i, _ in rows.values()]))
        pairs = crossed(items, every, learned.annotators)
        answers = predictor.own_answers(pairs, pairs.annotator)
        for question, (newcomer, item, answer) in rows.items():
            given, scale = learned.n_answers[question], learned.questions[question]
            order = by_name[np.argsort(-given[by_name], kind="stable")]
            order = order[given[order] > 0]  # of equals, the first is taken
            predicted = answers[question].positions(scale).reshape(len(items), -1)
            predicted = predicted[:, np.searchsorted(every, order)]
            for one in np.intersect1d(some, newcomer).tolist():
                own = slice(*np.searchsorted(newcomer, [one, one + 1]))
                values = predicted[np.searchsorted(items, item[own])]
                codes = _chosen(_agreements(scale, item[own], answer[own], values), order)
                places = [-1, *in_source[np.unique(item[own])].tolist()]
                named = list(zip(places, codes.tolist(), strict=True))
                nearest[question][one] = dict([*named[1:], named[0]])  # -1: all answers
    return nearest


def _agreements(
    scale: Scale, item: np.ndarray, answer: np.ndarray, values: np.ndarray
) -> np.ndarray:
    """How well a newcomer's answers agree with each annotator's predictions, (1 + n_items,
    n_annotators): all answers, then all but those to each item; nan where there are too few.

    Args:
        item: of each answer, sorted, (n_rows,).
        answer: positions of ratings, or codes of values, (n_rows,).
        values: what each annotator is predicted to answer instead, (n_rows, n_annotators).
    """
    x, y = answer[:, None], values
    rated = isinstance(scale, Interval | Ordinal)
    parts = [x, x**2, y, y**2, x * y] if rated else [(x == y).astype(float)]
    starts, means = np.flatnonzero(np.diff(item, prepend=-1)), []
    n = _all_and_without(np.ones(x.shape), starts)
    n = np.where(n >= FEWEST, n, np.nan)
    means = [_all_and_without(part, starts) / n for part in parts]
    if not rated:
        return means[0]
    mean_x, square_x, mean_y, square_y, product = means
    of_x, of_y = square_x - mean_x**2, square_y - mean_y**2
    of_x = np.where(of_x > SMALLEST, of_x, np.nan)  # no concordance with a constant
    unbiased = n / (n - 1)
    covariance = unbiased * (product - mean_x * mean_y)
    return np.asarray(2 * covariance / (unbiased * (of_x + of_y) + (mean_x - mean_y) ** 2))


def _all_and_without(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The sum of all rows, then without the rows of each item, (1 + n_items, ...)."""
    of_items = np.add.reduceat(values, starts, axis=0)
    total = of_items.sum(axis=0, keepdims=True)
    return np.concatenate([total, total - of_items])


def _chosen(agreement: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The code of the annotator with the best agreement in each row, -1 where it is undefined."""
    if not len(order):
        return np.full(len(agreement), -1)
    rounded = np.round(agreement, DIGITS)
    best = np.argmax(np.nan_to_num(rounded, nan=-np.inf), axis=1)
    return np.where(np.isnan(rounded).all(axis=1), -1, order[best])


def _rows(enrolment: Corpus, question: str, newcomers: np.ndarray) -> Rows:
    """Newcomer, item and answer of each answer, sorted by newcomer and item.

    Args:
        newcomers: which annotators of the enrolment corpus are newcomers.
    """
    nothing = np.zeros(0, np.int64)
    if question not in enrolment.questions or enrolment[question].annotator is None:
        return nothing, nothing, nothing
    annotations = enrolment[question]
    assert annotations.annotator is not None
    annotator = annotations.annotator.astype(np.int64)
    order = np.lexsort((annotations.item, annotator))
    order = order[newcomers[annotator[order]]]
    answer, scale = annotations.answer[order], annotations.scale
    if isinstance(scale, Interval):
        answer = scale.to_unit(answer)
    elif isinstance(scale, Ordinal):
        answer = np.linspace(-1, 1, scale.n_columns)[answer]
    return annotator[order], annotations.item[order].astype(np.int64), answer
