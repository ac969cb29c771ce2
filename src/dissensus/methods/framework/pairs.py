"""The pairs of item and annotator that a prediction is about, and how they are predicted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from dissensus.corpus import Corpus
from dissensus.errors import DataError, listed
from dissensus.methods.framework.learned import Answers, Learned
from dissensus.names import Names
from dissensus.scales import Interval, Nominal, Ordinal
from dissensus.within import cached_within

Unknown = Literal["error", "mean", "drop", "nearest", "aggregate", "attributes"]
Selection = Any  # "own", "all", a list of names, or (item, annotator) pairs of names

KEPT = ("mean", "nearest", "attributes")  # with these, unknown annotators vote on their own items
PAIRS_AT_ONCE = 1 << 18  # so that all items x all annotators never have to fit in memory


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of item and annotator, the annotator as a code into `names`."""

    item: np.ndarray  # (n_pairs,)
    annotator: np.ndarray  # (n_pairs,)
    names: Names

    def __len__(self) -> int:
        return len(self.item)

    def take(self, rows: np.ndarray | slice) -> Pairs:
        return Pairs(self.item[rows], self.annotator[rows], self.names)

    def slices(self) -> Iterator[slice]:
        """Slices that cover all pairs, some pairs at a time."""
        for first in range(0, len(self), PAIRS_AT_ONCE):
            yield slice(first, first + PAIRS_AT_ONCE)


@dataclass(frozen=True, eq=False)
class TrainingAnnotators:
    """Which annotators a model knows, and whether it meets them in a corpus.

    Args:
        names: of all annotators of the training corpus.
        answered: which of them gave an answer in training, (n_annotators,).
        foreign: whether a corpus to predict has other annotators, even if names are the same.
        hint: what an error about unknown annotators adds.
        newcomers: the annotators of the enrolment corpus, whose answers or attributes are known.
    """

    names: Names
    answered: np.ndarray
    foreign: bool = False
    hint: str = ""
    newcomers: Names = field(default_factory=lambda: Names.range(0))

    @property
    def known(self) -> np.ndarray:
        """The codes of annotators with an answer in training."""
        return np.flatnonzero(self.answered)

    def codes(self, pairs: Pairs, unknown: Unknown) -> tuple[Pairs, np.ndarray]:
        """The pairs to predict, and the training code of each annotator, -1 without an answer.

        With "nearest" and "attributes", -2 - n is the n-th of the newcomers.

        Args:
            unknown: what to do with annotators without an answer in training. "error" refuses
                only those that the training corpus does not list.
        """
        if unknown not in get_args(Unknown):
            choices = ", ".join(get_args(Unknown))
            raise DataError(f"unknown must be one of {choices}, not {unknown!r}")
        codes = np.full(len(pairs.names), -1) if self.foreign else self.names.find(pairs.names)
        if unknown == "error" and (codes[pairs.annotator] < 0).any():
            names = [pairs.names[i] for i in np.unique(pairs.annotator) if codes[i] < 0]
            raise DataError(
                f"not in the training corpus: annotator {listed(names, 5)}{self.hint}; enrol "
                "them if they answered some items (dissensus enrol), or pass unknown='mean', "
                "'drop', 'nearest' (as the annotator who agrees best with them), or 'aggregate' if "
                "the model was fitted with aggregate=True (--unknown)"
            )
        answered = np.r_[self.answered, False]  # the last one for code -1
        codes = np.where(answered[codes], codes, -1)
        if unknown in ("nearest", "attributes"):
            number = self.newcomers.find(pairs.names)
            codes = np.where((codes < 0) & (number >= 0), -2 - number, codes)
        code = codes[pairs.annotator]
        if unknown == "drop":
            return pairs.take(code >= 0), code[code >= 0]
        return pairs, code


def own_pairs(corpus: Corpus, questions: Iterable[str]) -> Pairs:
    """Each item with the annotators who answered any of the questions, sorted by item."""
    annotations = [corpus.questions[q] for q in questions if q in corpus.questions]
    keys = [
        rows.item.astype(np.int64) * corpus.n_annotators + rows.annotator
        for rows in annotations
        if rows.annotator is not None
    ]
    key = np.unique(np.concatenate(keys)) if keys else np.zeros(0, np.int64)
    item, annotator = np.divmod(key, max(corpus.n_annotators, 1))
    return Pairs(item, annotator, corpus.annotators)


def crossed(items: np.ndarray, annotators: np.ndarray, names: Names) -> Pairs:
    """Each of the items with each of the annotators (codes into `names`)."""
    annotator = np.tile(annotators, len(items))
    return Pairs(np.repeat(items, len(annotators)), annotator, names)


def selected_pairs(
    corpus: Corpus, questions: Iterable[str], selection: Selection, training: TrainingAnnotators
) -> Pairs:
    """The pairs that `predict(annotators=selection)` means."""
    items = np.arange(corpus.n_items)
    if isinstance(selection, str):
        if selection == "own":
            return own_pairs(corpus, questions)
        if selection == "all":
            return crossed(items, training.known, training.names)
        raise DataError(
            "annotators must be 'own', 'all', a list of names or of (item, annotator) pairs, "
            f"not {selection!r}"
        )
    selected = list(selection)
    if selected and not isinstance(selected[0], str):
        item, annotators = zip(*selected, strict=True)
        names, annotator = Names.encode([str(name) for name in annotators])
        return Pairs(corpus.items.codes([str(i) for i in item], "item"), annotator, names)
    return crossed(items, np.arange(len(selected)), Names(selected))


def consensus_pairs(
    n_items: int, own: Pairs | None, training: TrainingAnnotators, unknown: Unknown
) -> tuple[Pairs, np.ndarray]:
    """The pairs whose answers make up each item's, sorted by item, and their training codes.

    Args:
        own: each item with its own annotators. Items that are not among them, or all items if
            None, take all annotators with an answer in training.
        unknown: "mean", "nearest" and "attributes" keep own annotators without an answer in
            training (code below 0); otherwise they are left out.
    """
    if own is None or not len(own):
        pairs = crossed(np.arange(n_items), training.known, training.names)
        return pairs, pairs.annotator
    own, code = training.codes(own, unknown if unknown in KEPT else "drop")
    rest = np.setdiff1d(np.arange(n_items), own.item)
    others = crossed(rest, training.known, training.names)
    item, code = np.r_[own.item, others.item], np.r_[code, others.annotator]
    order = np.argsort(item, kind="stable")
    return Pairs(item[order], code[order], training.names), code[order]


PredictPairs = Callable[[Corpus, np.ndarray, np.ndarray], dict[str, Answers]]
VoteWeights = Callable[[str, Answers], np.ndarray]
_CACHE: ContextVar[dict[tuple[Any, ...], tuple[Any, ...]] | None] = ContextVar(
    "answers of pairs", default=None
)


def predicting_once() -> AbstractContextManager[None]:
    """Within the block a fitted method predicts the same pairs of a corpus once."""
    return cached_within(_CACHE)


@dataclass(frozen=True, eq=False)
class StandIns:
    """Which annotators are predicted in place of those without an answer in training.

    Args:
        codes: what to predict instead for each pair of a question, as an annotator of
            `predict_pairs`; -1: the mean. It receives the question, the code of each pair's
            annotator as `TrainingAnnotators.codes` gives it, and codes of items, (n_pairs,).
        described: who they are, for a note.
        missing: why there is none.
    """

    codes: Callable[[str, np.ndarray, np.ndarray], np.ndarray]
    described: str
    missing: str = ""


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
        means: dict[str, Answers] = {}  # of all annotators with an answer in training
        if len(items := np.unique(pairs.item[np.concatenate(list(averaged.values()))])):
            every = np.flatnonzero(self.learned.any_answered)
            others = crossed(items, every, self.learned.annotators)
            means = self.mean(others, others.annotator, only_learned=True)
        at = np.cumsum(code >= 0) - 1  # where each pair is in `own`
        answers = {}
        for question, codes in instead.items():
            same = np.flatnonzero((codes == code) & (codes >= 0))
            replaced = np.flatnonzero((codes != code) & (codes >= 0))
            pieces = []
            if len(mean := averaged[question]):
                pieces.append((mean, means[question].take(pairs.item[mean])))
            if len(same):
                pieces.append((same, own[question].take(at[same])))
            if len(replaced):
                stand_ins = self.own_answers(pairs.take(replaced), codes[replaced])
                pieces.append((replaced, stand_ins[question]))
            order = np.argsort(np.concatenate([rows for rows, _ in pieces]))
            answers[question] = Answers.concatenated([piece for _, piece in pieces]).take(order)
        return answers

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
                shares, scale = predicted.distribution, scales[question]
                if self.votes and isinstance(scale, Nominal | Ordinal):
                    shares = np.eye(scale.n_columns)[predicted.value]
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
        questions = parts[0] if parts else ()
        return {q: Answers.concatenated([part[q] for part in parts]) for q in questions}

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
