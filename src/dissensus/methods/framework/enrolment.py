"""Newcomers: annotators whose own rows of weights are learned after the training; all other weights
stay as they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dissensus.corpus import Corpus
from dissensus.errors import DataError, counted, listed
from dissensus.methods.framework.learned import Answers, Learned
from dissensus.methods.framework.pairs import crossed
from dissensus.scales import Interval, MultiLabel

if TYPE_CHECKING:
    from torch import Tensor

    from dissensus.methods.framework.annotator_rows import Prior, Rows

FOLDS = 10  # of a newcomer's answers, to score predictions of them
SMALLEST = 1e-12  # probability of an answer


class Enrolling(Protocol):
    """A fitted method whose annotators have rows of weights."""

    learned_: Learned

    def weights(self) -> dict[str, np.ndarray]: ...

    def annotator_rows(self) -> dict[str, bool]: ...

    def newcomer_facts(self, newcomers: Corpus) -> dict[str, np.ndarray]: ...

    def row_loss(
        self, corpus: Corpus, code: int, items: np.ndarray
    ) -> Callable[[Rows], Tensor]: ...

    def set_rows(self, code: int, rows: Mapping[str, Any]) -> None: ...

    def predict_pairs(
        self, corpus: Corpus, item: np.ndarray, annotator: np.ndarray
    ) -> dict[str, Answers]: ...


@dataclass(frozen=True)
class Newcomer:
    """How an enrolled annotator is predicted, for one question.

    Args:
        score: the expected share of right answers; of ratings the expected absolute error. It is
            estimated from predictions of the newcomer's own answers by the others; nan from fewer
            than two items.
        interval: of the score, 95 %.
    """

    name: str
    question: str
    n_answers: int
    nearest: str | None = None  # the known annotator under whom the answers are most probable
    score: float = math.nan
    interval: tuple[float, float] = (math.nan, math.nan)
    is_error: bool = False  # whether the score is an error

    def __str__(self) -> str:
        start = f"{self.name}, {self.question}: from {counted(self.n_answers, 'answer')}"
        if not self.n_answers:
            return f"{start}, predicted as the mean of the annotators who gave one"
        start += f"; nearest known annotator: {self.nearest}"
        if math.isnan(self.score):
            return f"{start}; too few answers to say how well they are predicted"
        low, high = (f"{bound:.2f}" for bound in self.interval)
        what = "error" if self.is_error else "accuracy"
        return f"{start}; expected {what} {self.score:.2f} [{low}, {high}]"


def newcomers_of(corpus: Corpus, learned: Learned, same: bool) -> tuple[Corpus, list[str]]:
    """The annotators to enrol, with their answers on the scales of the model, and notes.

    Args:
        same: whether annotators of the corpus that the model knows are the same ones.
    """
    if len(learned.questions) == 1 and list(corpus.questions) == ["answer"]:  # the usual column
        corpus = replace(corpus, questions={q: corpus["answer"] for q in learned.questions})
    if not (asked := [q for q in learned.questions if q in corpus.questions]):
        raise DataError(
            f"{corpus.name}: has {listed(corpus.questions) or 'no question'}, the model learned "
            f"{listed(learned.questions)}; name the column of answers as the question"
        )
    for question in asked:
        corpus[question].annotator_codes("enrolling")
    names, notes = np.array(list(corpus.annotators), dtype=object), []
    enrolled = np.isin(names, list(learned.enrolled))
    trained = (learned.annotators.find(corpus.annotators) >= 0) & ~enrolled
    if trained.any() and not (same or corpus.name == learned.corpus):
        raise DataError(
            f"{corpus.name}: the model has learned from annotators called "
            f"{listed(names[trained], 5)}; if they are the same, pass same_annotators=True "
            "(--same-annotators) to enrol the others, else rename them"
        )
    if trained.any():
        notes.append(f"{counted(int(trained.sum()), 'annotator')} of the training left out")
    if trained.all():
        raise DataError(f"{corpus.name}: no annotator whom the model does not know")
    if enrolled.any():
        again = listed(names[enrolled], 5)
        notes.append(f"enrolled before, learned again from these answers: {again}")
    corpus = corpus.select(annotators=~trained)
    nothing, questions = corpus[asked[0]].take(np.zeros(0, np.int64)), {}
    for question, scale in learned.questions.items():
        try:
            questions[question] = (
                corpus[question].to(scale)
                if question in asked
                else replace(nothing, scale=scale, answer=np.zeros(0, scale.dtype), extra={})
            )
        except DataError as error:
            raise DataError(f"{corpus.name}: {question!r}: {error}") from None
    return replace(corpus, questions=questions), notes


def learn_newcomers(method: Enrolling, corpus: Corpus) -> list[Newcomer]:
    """Learn the rows of the annotators of a corpus, each for itself; all others stay."""
    from dissensus.methods.framework.annotator_rows import row_prior  # loads torch

    known = np.flatnonzero(method.learned_.any_answered)
    known = known[~np.isin(known, method.learned_.annotators.find(corpus.annotators))]
    weights, names = method.weights(), [n for n, own in method.annotator_rows().items() if own]
    prior = row_prior({name: weights[name][known] for name in names})
    newcomers = []
    for number, name in enumerate(corpus.annotators):
        answers = {
            q: a.take(np.flatnonzero(a.annotator == number)) for q, a in corpus.questions.items()
        }
        items = np.unique(np.concatenate([a.item for a in answers.values()]))
        own = replace(corpus, questions=answers).select(items=items, annotators=np.array([number]))
        code = int(method.learned_.annotators.codes([name])[0])
        outcomes = _held_out(method, prior, own, code)
        _learn(method, prior, own, code, np.arange(own.n_items))
        nearest = _nearest(method, own, known) if own.n_items else {}
        for question, scale in method.learned_.questions.items():
            is_error = isinstance(scale, Interval)
            score = expected(outcomes[question], is_error)
            n, alike = own[question].n_rows, nearest.get(question)
            newcomers.append(Newcomer(name, question, n, alike, *score, is_error))
    return newcomers


def _learn(method: Enrolling, prior: Prior, corpus: Corpus, code: int, items: np.ndarray) -> None:
    """Learn an annotator's rows from the answers to these items."""
    from dissensus.methods.framework.annotator_rows import most_probable_rows

    part = corpus.select(items=items)
    facts = {name: rows[0] for name, rows in method.newcomer_facts(part).items()}
    method.set_rows(code, facts)
    loss = method.row_loss(corpus, code, items) if len(items) else None
    method.set_rows(code, most_probable_rows(prior, loss))


def _held_out(method: Enrolling, prior: Prior, corpus: Corpus, code: int) -> dict[str, np.ndarray]:
    """How well each answer is predicted from the others, by question: 1 or 0, or the error of a
    rating. Items of equal content are held out together."""
    units = np.unique(corpus.units("content"), return_inverse=True)[1]
    n_units = int(units.max(initial=-1)) + 1
    outcomes: dict[str, list[np.ndarray]] = {q: [] for q in method.learned_.questions}
    fold = (np.random.default_rng(0).permutation(n_units) % FOLDS)[units]
    for k in range(min(FOLDS, n_units) if n_units > 1 else 0):
        _learn(method, prior, corpus, code, np.flatnonzero(fold != k))
        items = np.flatnonzero(fold == k)
        predicted = method.predict_pairs(corpus, items, np.full(len(items), code))
        for question, scale in method.learned_.questions.items():
            rows = corpus[question].take(fold[corpus[question].item] == k)
            value = predicted[question].value[np.searchsorted(items, rows.item)]
            is_error = isinstance(scale, Interval)
            outcome = np.abs(value - rows.answer) if is_error else (value == rows.answer) * 1.0
            outcomes[question].append(outcome)
    return {q: np.concatenate(parts) if parts else np.zeros(0) for q, parts in outcomes.items()}


def expected(outcomes: np.ndarray, is_error: bool) -> tuple[float, tuple[float, float]]:
    """The mean of outcomes, and an interval of 95 %: of a share the exact one (Clopper-Pearson), of
    an error Student's.

    Example:
        >>> mean, (low, high) = expected(np.array([1, 1, 1, 0]), is_error=False)
        >>> round(mean, 2), round(low, 2), round(high, 2)
        (0.75, 0.19, 0.99)
    """
    from scipy.stats import binomtest, t

    n = len(outcomes)
    if n < 2:
        return math.nan, (math.nan, math.nan)
    mean = float(outcomes.mean())
    if is_error:
        away = float(t.ppf(0.975, n - 1) * outcomes.std(ddof=1) / math.sqrt(n))
        return mean, (max(0.0, mean - away), mean + away)
    exact = binomtest(int(outcomes.sum()), n).proportion_ci()
    return mean, (float(exact.low), float(exact.high))


def _nearest(method: Enrolling, corpus: Corpus, known: np.ndarray) -> dict[str, str]:
    """By question, the known annotator under whose predictions the answers are most probable."""
    pairs = crossed(np.arange(corpus.n_items), known, method.learned_.annotators)
    predicted, nearest = method.predict_pairs(corpus, pairs.item, pairs.annotator), {}
    for question, scale in method.learned_.questions.items():
        rows = corpus[question]
        shares = predicted[question].distribution.reshape(corpus.n_items, len(known), -1)[rows.item]
        is_chosen = scale.one_hot(rows.answer)[:, None] > 0  # (n_rows, 1, n_columns)
        mass = np.where(is_chosen, shares, 1 - shares if isinstance(scale, MultiLabel) else 1.0)
        likely = np.log(np.maximum(mass, SMALLEST)).sum(axis=(0, 2))
        nearest[question] = method.learned_.annotators[int(known[np.argmax(likely)])]
    return nearest
