"""Answers of annotators, and their mean per item, from a method that predicts pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dissensus.corpus import Corpus
from dissensus.errors import listed
from dissensus.methods.framework.answers import Answers
from dissensus.methods.framework.learned import Learned
from dissensus.methods.framework.pairs import Pairs, crossed
from dissensus.scales import Interval

PredictPairs = Callable[[Corpus, np.ndarray, np.ndarray], dict[str, Answers]]


@dataclass(frozen=True, eq=False)
class PairPredictor:
    """Predicts the pairs of one corpus.

    Annotators without an answer to a question in training get the mean of the others.

    Args:
        predict_pairs: answers of pairs (items and training codes of annotators), by question.
    """

    learned: Learned
    corpus: Corpus
    predict_pairs: PredictPairs

    def answers(self, pairs: Pairs, code: np.ndarray) -> dict[str, Answers]:
        """The answers of pairs.

        Args:
            code: the training code of each pair's annotator, -1 without an answer in training.
        """
        unlearned = {q: ~known[code] for q, known in self._answered().items()}
        known = np.flatnonzero(code >= 0)
        own = self._own_answers(pairs.take(known), code[known])
        rows = np.flatnonzero(np.any(list(unlearned.values()), axis=0))
        if not len(rows):
            return own
        every = np.flatnonzero(self.learned.any_answered)
        others = crossed(np.unique(pairs.item[rows]), every, self.learned.annotators)
        means = self.mean(others, others.annotator, only_learned=True)
        at = np.cumsum(code >= 0) - 1  # where each pair is in `own`
        answers = {}
        for question, mean in means.items():
            parts = [mean.take(pairs.item), *([own[question]] if len(known) else [])]
            place = np.where(unlearned[question], np.arange(len(pairs)), len(pairs) + at)
            answers[question] = Answers.joined(parts).take(place)
        return answers

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
        answers = self._own_answers if only_learned else self.answers
        for rows in voters.slices():
            pairs, codes = voters.take(rows), code[rows]
            starts = np.flatnonzero(np.diff(pairs.item, prepend=-1))
            items = pairs.item[starts]
            for question, predicted in answers(pairs, codes).items():
                vote = np.ones(len(pairs))
                if only_learned:
                    vote = self.learned.answered[question][codes].astype(float)
                masses, values = vote[:, None] * predicted.distribution, vote * predicted.value
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

    def notes(self, pairs: Pairs, code: np.ndarray) -> list[str]:
        """Which of the predicted annotators gave no answer in training, a line per question."""
        codes = np.full(len(pairs.names), -1)
        codes[pairs.annotator] = code
        notes = []
        for question, answered in self._answered().items():
            missing = [a for a in np.unique(pairs.annotator) if not answered[codes[a]]]
            if missing:
                which = f" to {question!r}" if len(self.learned.questions) > 1 else ""
                names = listed([pairs.names[a] for a in missing], 5)
                notes.append(
                    f"no answer{which} in training from annotator {names}; predicted as the mean "
                    "of the annotators who gave one"
                )
        return notes

    def _answered(self) -> dict[str, np.ndarray]:
        """As `Learned.answered`, with one more entry for the code -1."""
        return {question: np.r_[known, False] for question, known in self.learned.answered.items()}

    def _own_answers(self, pairs: Pairs, code: np.ndarray) -> dict[str, Answers]:
        """Answers of pairs as the method predicts them, some pairs at a time."""
        parts = [
            self.predict_pairs(self.corpus, pairs.item[rows], code[rows]) for rows in pairs.slices()
        ]
        return {q: Answers.joined([part[q] for part in parts]) for q in parts[0]} if parts else {}


def training_notes(learned: Learned) -> list[str]:
    """Which annotators gave no answer to learn from, a line per question."""
    n, several = len(learned.annotators), len(learned.questions) > 1
    return [
        f"{len(names)} of {n} annotators gave no answer"
        + (f" to {question!r}" if several else "")
        + f" to learn from ({listed(names, 5)}): they are left out of the consensus of all"
        for question, names in learned.without_answers().items()
    ]
