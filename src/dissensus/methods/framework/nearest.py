"""The annotator of the training who stands in for a newcomer: whose predictions agree best."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from dissensus.corpus import Corpus
from dissensus.errors import DataError
from dissensus.methods.framework.learned import Answers
from dissensus.methods.framework.pairs import PairPredictor, StandIns, crossed
from dissensus.names import Names
from dissensus.scales import Interval, Ordinal, Scale

FEWEST = 2  # answers of a newcomer to compare
SMALLEST = 1e-12  # variance of ratings on [-1, 1] that are not all the same
DIGITS = 9  # of an agreement; smaller differences are rounding
NUMBERS_AT_ONCE = 1 << 22  # answers x annotators that are compared at the same time
PREDICTED_AT_ONCE = 1 << 25  # items x annotators whose predictions are in memory


@dataclass(eq=False)
class NearestAnnotators(StandIns):
    """The nearest annotator of each newcomer, by all their answers, and without those to an item.

    Args:
        number: where each annotator of the training is in the enrolment corpus, -1 if not there.
        nearest: question -> training code of the nearest annotator of each annotator of the
            enrolment corpus, -1 for those with too few answers.
        without: question -> sorted numbers of pairs of newcomer and item, and the training code of
            the nearest annotator without that answer.
    """

    number: np.ndarray
    n_items: int  # of the source
    nearest: dict[str, np.ndarray] = field(default_factory=dict)
    without: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    described: ClassVar[str] = "the annotator who agrees best with their answers to other items"
    missing: ClassVar[str] = f"fewer than {FEWEST} answers to other items, or all the same,"

    def codes(self, question: str, code: np.ndarray, item: np.ndarray) -> np.ndarray:
        newcomer = np.where(code < -1, -2 - code, np.append(self.number, -1)[np.maximum(code, -1)])
        codes = np.append(self.nearest[question], -1)[newcomer]
        pairs, without = self.without[question]
        if not len(pairs):
            return codes
        wanted = newcomer * self.n_items + item
        place = np.minimum(np.searchsorted(pairs, wanted), len(pairs) - 1)
        return np.where(pairs[place] == wanted, without[place], codes)


def nearest_annotators(
    predictor: PairPredictor, code: np.ndarray, source: Corpus, foreign: bool
) -> NearestAnnotators:
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
    same = enrolment is source or enrolment.name == source.name
    in_source = source.items.find(enrolment.items) if same else np.full(enrolment.n_items, -1)
    number = enrolment.annotators.find(learned.annotators)
    number = np.full(len(number), -1) if foreign else number
    stand_ins = NearestAnnotators(number, source.n_items)
    rows = {}
    for question, scale in learned.questions.items():
        _check_scale(enrolment, question, scale)
        unlearned = code[code >= 0][~learned.answered[question][code[code >= 0]]]
        newcomers = np.zeros(enrolment.n_annotators + 1, bool)
        newcomers[np.r_[-2 - code[code < -1], number[unlearned]]] = True
        rows[question] = _rows(enrolment, question, newcomers[:-1])
    predicted = _Predicted(predictor, [item for _, item, _ in rows.values()])
    for question, scale in learned.questions.items():
        newcomer, item, answer = rows[question]
        order = _candidates(learned.annotators, learned.n_answers[question])
        nearest = np.full(enrolment.n_annotators, -1)
        without = np.full(len(newcomer), -1)
        for part in _blocks(newcomer, len(order)):
            values = predicted.values(question, item[part], order)
            agreement = _Agreement(scale, newcomer[part], item[part], answer[part], values)
            nearest[np.unique(newcomer[part])] = _chosen(agreement.of_all(), order)
            without[part] = _chosen(agreement.without_each_item(), order)
        stand_ins.nearest[question] = nearest
        pair = newcomer * source.n_items + in_source[item]
        pair, first = np.unique(pair[in_source[item] >= 0], return_index=True)
        stand_ins.without[question] = pair, without[in_source[item] >= 0][first]
    return stand_ins


@dataclass(eq=False)
class _Agreement:
    """How well each newcomer's answers agree with each annotator's predictions.

    Args:
        newcomer, item: of each answer, sorted by both, (n_rows,).
        answer: positions of ratings, or codes of values, (n_rows,).
        values: what each annotator is predicted to answer instead, (n_rows, n_annotators).
    """

    scale: Scale
    newcomer: np.ndarray
    item: np.ndarray
    answer: np.ndarray
    values: np.ndarray

    def __post_init__(self) -> None:
        x, y = self.answer[:, None], self.values
        one = np.ones_like(x, dtype=float)
        if isinstance(self.scale, Interval | Ordinal):
            self.parts = [one, x, x**2, y, y**2, x * y]
        else:
            self.parts = [one, (x == y).astype(float)]
        self.new = np.diff(self.newcomer, prepend=-1) != 0
        self.sums = _group_sums(self.parts, self.new)

    def of_all(self) -> np.ndarray:
        """Over all answers, (n_newcomers, n_annotators); nan where there are too few."""
        return self._agreement(self.sums)

    def without_each_item(self) -> np.ndarray:
        """Over all answers of the newcomer but those to the row's item, (n_rows, n_annotators)."""
        new_item = self.new | (np.diff(self.item, prepend=-1) != 0)
        of_item = _group_sums(self.parts, new_item)
        newcomer, item = np.cumsum(self.new) - 1, np.cumsum(new_item) - 1
        both = zip(self.sums, of_item, strict=True)
        return self._agreement([total[newcomer] - part[item] for total, part in both])

    def _agreement(self, sums: list[np.ndarray]) -> np.ndarray:
        n = np.where(sums[0] >= FEWEST, sums[0], np.nan)
        if len(sums) == 2:
            return np.asarray(sums[1] / n)
        mean_x, square_x, mean_y, square_y, product = (total / n for total in sums[1:])
        of_x, of_y = square_x - mean_x**2, square_y - mean_y**2
        of_x = np.where(of_x > SMALLEST, of_x, np.nan)  # no concordance with a constant
        unbiased = n / (n - 1)
        covariance = unbiased * (product - mean_x * mean_y)
        return np.asarray(2 * covariance / (unbiased * (of_x + of_y) + (mean_x - mean_y) ** 2))


def _group_sums(parts: list[np.ndarray], new: np.ndarray) -> list[np.ndarray]:
    """The sums of rows in groups, each of which begins where `new` is True."""
    return [np.add.reduceat(part, np.flatnonzero(new), axis=0) for part in parts]


class _Predicted:
    """What the annotators of the training are predicted to answer, for the items of newcomers.

    All at the same time if they are not too many; otherwise those of the last items.
    """

    def __init__(self, predictor: PairPredictor, items: list[np.ndarray]) -> None:
        self.predictor = predictor
        self.annotators = np.flatnonzero(predictor.learned.any_answered)
        self.at = np.zeros(len(predictor.learned.annotators), np.int64)
        self.at[self.annotators] = np.arange(len(self.annotators))
        self.items = np.zeros(0, np.int64)
        self.by_question: dict[str, np.ndarray] = {}
        every = np.unique(np.concatenate(items)).astype(np.int64)
        if len(every) * len(self.annotators) <= PREDICTED_AT_ONCE:
            self._predict(every)

    def values(self, question: str, item: np.ndarray, order: np.ndarray) -> np.ndarray:
        """Of these items and annotators, (n_rows, n_annotators)."""
        if not np.isin(item, self.items).all():
            self._predict(np.unique(item).astype(np.int64))
        rows = np.searchsorted(self.items, item)
        return self.by_question[question][np.ix_(rows, self.at[order])]

    def _predict(self, items: np.ndarray) -> None:
        learned = self.predictor.learned
        parts: dict[str, list[np.ndarray]] = {question: [] for question in learned.questions}
        at_once = max(1, NUMBERS_AT_ONCE // max(len(self.annotators), 1))
        for first in range(0, len(items), at_once):
            pairs = crossed(items[first : first + at_once], self.annotators, learned.annotators)
            for question, answers in self.predictor.own_answers(pairs, pairs.annotator).items():
                parts[question].append(_predicted_values(learned.questions[question], answers))
        shape = (len(items), len(self.annotators))
        self.items = items
        self.by_question = {
            q: np.concatenate(values).reshape(shape) if values else np.zeros(shape)
            for q, values in parts.items()
        }


def _predicted_values(scale: Scale, answers: Answers) -> np.ndarray:
    """Predicted ratings on [-1, 1], the expected level of ordinal ones; or values."""
    if isinstance(scale, Interval):
        return scale.to_unit(answers.value)
    if isinstance(scale, Ordinal):
        return answers.distribution @ np.linspace(-1, 1, scale.n_columns)
    return answers.value


def _rows(
    enrolment: Corpus, question: str, newcomers: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Newcomer, item and answer of each answer, sorted by newcomer and item.

    Args:
        newcomers: which annotators of the enrolment corpus are newcomers.
    """
    nothing = np.zeros(0, np.int64)
    if question not in enrolment.questions or enrolment[question].annotator is None:
        return nothing, nothing, nothing
    annotations = enrolment[question]
    annotator = annotations.annotator_codes("unknown='nearest'").astype(np.int64)
    order = np.lexsort((annotations.item, annotator))
    order = order[newcomers[annotator[order]]]
    answer, scale = annotations.answer[order], annotations.scale
    if isinstance(scale, Interval):
        answer = scale.to_unit(answer)
    elif isinstance(scale, Ordinal):
        answer = np.linspace(-1, 1, scale.n_columns)[answer]
    return annotator[order], annotations.item[order].astype(np.int64), answer


def _check_scale(enrolment: Corpus, question: str, scale: Scale) -> None:
    if question in enrolment.questions and enrolment[question].scale != scale:
        raise DataError(
            f"{enrolment.name}: {question!r} has another scale than training; answers of newcomers "
            "can be compared only on the same one"
        )


def _candidates(annotators: Names, n_answers: np.ndarray) -> np.ndarray:
    """The training codes of annotators with answers, in the order in which they win ties."""
    by_name = np.argsort(np.array(list(annotators), dtype=object), kind="stable")
    order = by_name[np.argsort(-n_answers[by_name], kind="stable")]
    return order[n_answers[order] > 0]


def _blocks(newcomer: np.ndarray, n_annotators: int) -> Iterator[slice]:
    """Slices of rows with whole newcomers, of a size that fits in memory."""
    starts = [*np.flatnonzero(np.diff(newcomer, prepend=-1)).tolist(), len(newcomer)]
    first = 0
    for start, end in itertools.pairwise(starts):
        if start > first and (end - first) * n_annotators > NUMBERS_AT_ONCE:
            yield slice(first, start)
            first = start
    if len(newcomer):
        yield slice(first, len(newcomer))


def _chosen(agreement: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The code of the annotator with the best agreement in each row, -1 where it is undefined."""
    if not agreement.shape[1]:
        return np.full(len(agreement), -1)
    rounded = np.round(agreement, DIGITS)
    undefined = np.isnan(rounded).all(axis=1)
    best = np.argmax(np.nan_to_num(rounded, nan=-np.inf), axis=1)
    return np.where(undefined, -1, order[best])
