"""Answers of annotators, and their mean per item, from a method that predicts pairs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dissensus.block_cache import cached_within
from dissensus.corpus import Corpus
from dissensus.errors import listed
from dissensus.methods.framework.answers import Answers
from dissensus.methods.framework.learned import Learned
from dissensus.methods.framework.pairs import Pairs, crossed
from dissensus.scales import Interval, Nominal, Ordinal

PredictPairs = Callable[[Corpus, np.ndarray, np.ndarray], dict[str, Answers]]
VoteWeights = Callable[[str, Answers], np.ndarray]
_CACHE: ContextVar[dict[tuple[Any, ...], tuple[Any, ...]] | None] = ContextVar(
    "answers of pairs", default=None
)


def predicting_once() -> AbstractContextManager[None]:
    """Within the block a fitted method predicts the same pairs of a corpus once."""
    return cached_within(_CACHE)


class StandIns(ABC):
    """Which annotators are predicted in place of those without an answer in training."""

    described: ClassVar[str]  # who they are, for a note
    missing: ClassVar[str] = ""  # why there is none

    @abstractmethod
    def codes(self, question: str, code: np.ndarray, item: np.ndarray) -> np.ndarray:
        """What to predict instead for each pair, as an annotator of `predict_pairs`; -1: the mean.

        Args:
            code: the code of each pair's annotator, as `TrainingAnnotators.codes` gives it.
            item: codes, (n_pairs,).
        """


@dataclass(frozen=True, eq=False)
class PairPredictor:
    """Predicts the pairs of one corpus.

    Annotators without an answer to a question in training get the mean of the others, or what is
    predicted for a stand-in.

    Args:
        predict_pairs: answers of pairs (items and training codes of annotators), by question.
        weights: the weight of each of these answers in the mean of an item; 1 if left out.
        votes: an item's distribution has the shares of its voters' answers, not the mean of their
            distributions; on interval scales the mean.
    """

    learned: Learned
    corpus: Corpus
    predict_pairs: PredictPairs
    stand_ins: StandIns | None = None
    weights: VoteWeights | None = None
    votes: bool = False

    def answers(self, pairs: Pairs, code: np.ndarray) -> dict[str, Answers]:
        """The answers of pairs.

        Args:
            code: the training code of each pair's annotator, below 0 without an answer in training.
        """
        instead = {q: self._instead(q, pairs.item, code) for q in self.learned.questions}
        known = np.flatnonzero(code >= 0)
        own = self.own_answers(pairs.take(known), code[known])
        if len(known) == len(code) and all(
            np.array_equal(codes, code) for codes in instead.values()
        ):
            return own
        averaged = {q: np.flatnonzero(codes < 0) for q, codes in instead.items()}
        means = self._means_of_all(pairs.item[np.concatenate(list(averaged.values()))])
        at = np.cumsum(code >= 0) - 1  # where each pair is in `own`
        answers = {}
        for question, codes in instead.items():
            same = np.flatnonzero((codes == code) & (codes >= 0))
            others = np.flatnonzero((codes != code) & (codes >= 0))
            parts = {"mean": (averaged[question], pairs.item), "own": (same, at)}
            sources = {"mean": means, "own": own}
            pieces = [
                (rows, sources[name][question].take(place[rows]))
                for name, (rows, place) in parts.items()
                if len(rows)
            ]
            if len(others):
                stand_ins = self.own_answers(pairs.take(others), codes[others])
                pieces.append((others, stand_ins[question]))
            order = np.argsort(np.concatenate([rows for rows, _ in pieces]))
            answers[question] = Answers.joined([piece for _, piece in pieces]).take(order)
        return answers

    def _means_of_all(self, items: np.ndarray) -> dict[str, Answers]:
        """The means of all annotators with an answer in training, of these items."""
        every = np.flatnonzero(self.learned.any_answered)
        others = crossed(np.unique(items), every, self.learned.annotators)
        return self.mean(others, others.annotator, only_learned=True) if len(items) else {}

    def _instead(self, question: str, item: np.ndarray, code: np.ndarray) -> np.ndarray:
        """The code of what is predicted for each pair, -1 for the mean."""
        unlearned = ~np.r_[self.learned.answered[question], False][np.maximum(code, -1)]
        if self.stand_ins is None or not unlearned.any():
            return np.where(unlearned, -1, code)
        return np.where(unlearned, self.stand_ins.codes(question, code, item), code)

    def mean(
        self, voters: Pairs, code: np.ndarray, only_learned: bool = False
    ) -> dict[str, Answers]:
        """Each item's answer as the mean of its voters' distributions; nan without voters.

        Args:
            voters: sorted by item.
            code: as in `answers`.
            only_learned: count only voters with an answer to the question in training.
        """
        scales, n_items = self.learned.questions, self.corpus.n_items
        mass = {q: np.zeros((n_items, scale.n_columns)) for q, scale in scales.items()}
        total = {q: np.zeros(n_items) for q in scales}  # of values, for interval scales
        n_votes = {q: np.zeros(n_items) for q in scales}
        answers = self.own_answers if only_learned else self.answers
        for rows in voters.slices():
            pairs, codes = voters.take(rows), code[rows]
            starts = np.flatnonzero(np.diff(pairs.item, prepend=-1))
            items = pairs.item[starts]
            for question, predicted in answers(pairs, codes).items():
                vote = np.ones(len(pairs))
                if self.weights is not None:
                    vote = self.weights(question, predicted)
                if only_learned:
                    vote = vote * self.learned.answered[question][codes].astype(float)
                shares = self._shares(question, predicted)
                masses, values = vote[:, None] * shares, vote * predicted.value
                mass[question][items] += np.add.reduceat(masses, starts, axis=0)
                total[question][items] += np.add.reduceat(values, starts)
                n_votes[question][items] += np.add.reduceat(vote, starts)
        means = {}
        for question, scale in scales.items():
            n = np.where(n_votes[question] > 0, n_votes[question], np.nan)
            shares, value = mass[question] / n[:, None], total[question] / n
            if not isinstance(scale, Interval):
                value = scale.consensus(np.nan_to_num(shares)).astype(scale.dtype)
            means[question] = Answers(shares, value)
        return means

    def _shares(self, question: str, predicted: Answers) -> np.ndarray:
        """What each voter adds to the distribution of an item."""
        scale = self.learned.questions[question]
        if not self.votes or not isinstance(scale, Nominal | Ordinal):
            return predicted.distribution
        return np.eye(scale.n_columns)[predicted.value]

    def notes(self, pairs: Pairs, code: np.ndarray) -> list[str]:
        """Which of the predicted annotators gave no answer in training, a line per question."""
        notes = []
        for question in self.learned.questions:
            which = f" to {question!r}" if len(self.learned.questions) > 1 else ""
            instead = self._instead(question, pairs.item, code)
            unlearned = "no answer" + which + " in training"
            of_all = "the mean of the annotators who gave one"
            if self.stand_ins is None:
                kinds = [(instead < 0, unlearned, of_all)]
            else:
                replaced = (instead >= 0) & (instead != code)
                kinds = [
                    (replaced, unlearned, self.stand_ins.described),
                    (instead < 0, f"{self.stand_ins.missing}{which}", of_all),
                ]
            for rows, reason, what in kinds:
                if rows.any():
                    annotators = np.unique(pairs.annotator[rows])
                    names = listed([pairs.names[a] for a in annotators], 5)
                    notes.append(f"{reason} from annotator {names}; predicted as {what}")
        return notes

    def own_answers(self, pairs: Pairs, code: np.ndarray) -> dict[str, Answers]:
        """Answers of pairs as the method predicts them, some pairs at a time."""
        parts = [self._some_answers(pairs.item[rows], code[rows]) for rows in pairs.slices()]
        return {q: Answers.joined([part[q] for part in parts]) for q in parts[0]} if parts else {}

    def _some_answers(self, item: np.ndarray, code: np.ndarray) -> dict[str, Answers]:
        kept = _CACHE.get()
        if kept is None:
            return self.predict_pairs(self.corpus, item, code)
        method = getattr(self.predict_pairs, "__self__", self.predict_pairs)
        key = (id(method), id(self.corpus), item.tobytes(), code.tobytes())
        if key not in kept:  # both stay alive with the answers, so that their ids stay unique
            kept[key] = (self.predict_pairs(self.corpus, item, code), method, self.corpus)
        answers: dict[str, Answers] = kept[key][0]
        return answers


def training_notes(learned: Learned) -> list[str]:
    """Which annotators gave no answer to learn from, a line per question."""
    n, several = len(learned.annotators), len(learned.questions) > 1
    return [
        f"{len(names)} of {n} annotators gave no answer"
        + (f" to {question!r}" if several else "")
        + f" to learn from ({listed(names, 5)}): they are left out of the consensus of all"
        for question, names in learned.without_answers().items()
    ]
