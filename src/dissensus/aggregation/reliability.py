"""One number for each annotator: one-coin, GLAD, MACE, KOS and M-MSR."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.aggregation.base import Aggregator, Gives
from dissensus.aggregation.em import TINY, Expected, HiddenTruth, ItemAnswers, alike, shares
from dissensus.aggregation.votes import sums_of_votes
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.names import Names


@dataclass(eq=False)
class OneCoin(HiddenTruth):
    """Every annotator is right with one probability, and wrong in any way alike.

    `accuracy_` is (n_annotators,). Prefer `DawidSkene` where annotators gave many answers and
    mix values up in ways of their own.

    Reference: Zhang, Chen, Zhou & Jordan (2016), Spectral methods meet EM, JMLR 17.
    """

    name: ClassVar[str] = "one-coin"
    counts_: np.ndarray = field(init=False, repr=False)  # (n_annotators, right and all answers)
    _n: np.ndarray = field(init=False, repr=False)

    @property
    def accuracy_(self) -> np.ndarray:
        """The share of each annotator's answers that are right; nan without answers."""
        with np.errstate(invalid="ignore"):
            return (self.counts_[:, 0] / self.counts_[:, 1]).clip(TINY, 1 - TINY)

    def _begin(self, answers: ItemAnswers, voted: Expected) -> None:
        counts = voted.counts.reshape(-1, answers.n_values, answers.n_values)
        self._n = counts.sum(axis=2)
        self._count(np.trace(counts, axis1=1, axis2=2))

    def _count(self, right: np.ndarray) -> None:
        self.counts_ = np.stack([right, self._n.sum(axis=1)], axis=1).astype(float)

    def _pass(self, answers: ItemAnswers) -> tuple[float, float]:
        accuracy = np.nan_to_num(self.accuracy_, nan=0.5)
        wrong = (1 - accuracy) / max(answers.n_values - 1, 1)
        ratio = np.repeat(accuracy / wrong, answers.n_values)[:, None]
        expected = answers.expected("expect_own", ratio, self.prior_, self._watch)
        self._count(expected.counts.reshape(-1, answers.n_values).sum(axis=1))
        self.prior_ = shares(expected.mass)
        return expected.likelihood + float(self._n.sum(axis=1) @ np.log(wrong)), expected.change


@dataclass(eq=False)
class Glad(HiddenTruth):
    """An answer is right with the logistic of the annotator's ability times the item's ease.

    `ability_` is (n_annotators,), negative for annotators who answer against the truth;
    `difficulty_` is (n_items,), 1 / ease. Abilities and log-eases have a normal prior around 1,
    the values that occur a flat one.

    Each maximisation improves the eases with fixed abilities, item by item, then the
    abilities with fixed eases, by Newton's steps that are never taken downhill.

    Args:
        sweeps: how often that is done in an iteration.

    Reference: Whitehill, Ruvolo, Wu, Bergsma & Movellan (2009), Whose vote should count more.
    """

    sweeps: int = 2
    name: ClassVar[str] = "glad"
    ability_: np.ndarray = field(init=False, repr=False)
    log_ease_: np.ndarray = field(init=False, repr=False)
    objective_: list[float] = field(init=False, repr=False)  # log-posterior after each iteration
    _right: np.ndarray = field(init=False, repr=False)

    @property
    def difficulty_(self) -> np.ndarray:
        return np.exp(-self.log_ease_)

    def _begin(self, answers: ItemAnswers, voted: Expected) -> None:
        self.prior_ = alike(voted.mass)
        self.ability_ = np.ones(answers.n_annotators)
        self.log_ease_ = np.ones(answers.n_items)
        self.objective_ = []
        self._right = np.empty(len(answers.cell))

    def _pass(self, answers: ItemAnswers) -> tuple[float, float]:
        from dissensus.aggregation.kernels import expect_difficulty, improve_ease

        def work(first: int, last: int) -> tuple[float, float]:
            result: tuple[float, float] = expect_difficulty(
                first,
                last,
                answers.offsets,
                answers.cell,
                self.ability_,
                self.log_ease_,
                self.prior_,
                answers.known,
                answers.posterior,
                self._right,
            )
            return result

        likelihoods, changes = zip(*answers.each(work), strict=True)
        likelihood = sum(likelihoods)
        square = ((self.ability_ - 1) ** 2).sum() + ((self.log_ease_ - 1) ** 2).sum()
        self.objective_.append(float(likelihood - 0.5 * square))
        arrays = answers.offsets, answers.cell, answers.n_values, self._right

        def improve(first: int, last: int) -> None:
            improve_ease(first, last, *arrays, self.ability_, self.log_ease_, 2)

        for _ in range(self.sweeps):
            answers.each(improve)
            self._improve_ability(answers)
        return likelihood, max(changes)

    def _improve_ability(self, answers: ItemAnswers) -> None:
        """One Newton's step for all annotators; halved where it would lead downhill."""
        slope, curve, value = self._slopes(answers, self.ability_)
        step = (slope / curve).clip(-2, 2)
        for _ in range(8):
            worse = self._slopes(answers, self.ability_ + step)[2] < value - 1e-12
            if not worse.any():
                break
            step = np.where(worse, step / 2, step)
        else:
            step = np.where(worse, 0, step)
        self.ability_ = self.ability_ + step

    def _slopes(self, answers: ItemAnswers, ability: np.ndarray) -> np.ndarray:
        """Slope, curve and value of the objective in each ability, (3, n_annotators)."""
        from dissensus.aggregation.kernels import ability_slope

        def work(first: int, last: int) -> np.ndarray:
            sums = np.zeros((answers.n_annotators, 3))
            arrays = answers.offsets, answers.cell, answers.n_values, self._right
            ability_slope(first, last, *arrays, ability, self.log_ease_, sums)
            return sums

        slope, curve, value = sum(answers.each(work), np.zeros((answers.n_annotators, 3))).T
        off = ability - 1
        return np.stack([slope - off, curve + 1, value - 0.5 * off**2])


LEARNED = ("competence_", "habit_", "counts_", "log_likelihood_", "objective_", "n_iterations_")
KNOWING, HABIT = 0.5, 10.0  # the paper's priors: answers of each kind, before any was given


@dataclass(eq=False)
class Mace(HiddenTruth):
    """With some probability an annotator gives the true value, else one of their habit.

    `competence_` is (n_annotators,), `habit_` (n_annotators, n_values). Of several random starts
    the one with the highest `objective_` is kept: the log-likelihood or, with the priors, the
    bound on the evidence that variational Bayes raises. Starts are drawn in the order of the
    annotators' names (shorter names first), so that the order of rows does not matter.

    Args:
        restarts: random starts, each with a seed of its own.
        variational: maximise with the priors of the paper (variational Bayes) instead of plainly.
        seed: of the first start.

    Reference: Hovy, Berg-Kirkpatrick, Vaswani & Hovy (2013), Learning whom to trust with MACE.
    """

    iterations: int = 50
    tolerance: float = 0.0
    restarts: int = 10
    variational: bool = True
    seed: int = 0
    name: ClassVar[str] = "mace"
    competence_: np.ndarray = field(init=False, repr=False)
    habit_: np.ndarray = field(init=False, repr=False)
    counts_: np.ndarray = field(init=False, repr=False)  # (n_annotators, known or habit, n_values)
    objective_: list[float] = field(init=False, repr=False)  # after each iteration
    _n: np.ndarray = field(init=False, repr=False)
    _cost: float = field(init=False, repr=False)  # of what was learned, against the priors
    _guessing: np.ndarray = field(init=False, repr=False)  # (n_annotators,) of not knowing
    _generator: np.random.Generator = field(init=False, repr=False)

    def _learn(self, answers: ItemAnswers) -> None:
        best: tuple[float, dict[str, object], np.ndarray] | None = None
        for start in range(max(1, self.restarts)):
            self._generator = np.random.default_rng((self.seed, start))
            super()._learn(answers)
            if best is None or self.objective_[-1] > best[0]:
                kept = {name: getattr(self, name) for name in LEARNED}
                best = self.objective_[-1], kept, answers.posterior.copy()
        assert best is not None
        for name, value in best[1].items():
            setattr(self, name, value)
        answers.posterior = best[2]

    def _begin(self, answers: ItemAnswers, voted: Expected) -> None:
        n_annotators, n_values = answers.n_annotators, answers.n_values
        self.prior_ = alike(voted.mass)
        self._n = voted.counts.sum(axis=1).reshape(n_annotators, n_values)
        self._cost, self.objective_ = 0.0, []
        rank = _ranks(self.annotators_)
        share = _normalised(self._generator.uniform(1, 2.5, (n_annotators, 2)))[rank]
        self._guessing, self.competence_ = share.T
        self.habit_ = _normalised(self._generator.uniform(1, 2.5, (n_annotators, n_values)))[rank]

    def _pass(self, answers: ItemAnswers) -> tuple[float, float]:
        guess = (self._guessing[:, None] * self.habit_).clip(TINY)
        knows = self.competence_[:, None]  # guess is (n_annotators, n_values)
        ratio = (1 + knows / guess).reshape(-1, 1)
        expected = answers.expected("expect_own", ratio, self.prior_, self._watch)
        known = expected.counts.reshape(guess.shape) * knows / (guess + knows)  # of what was right
        self.counts_ = np.stack([known, self._n - known], axis=1)
        likelihood = expected.likelihood + float((self._n * np.log(guess)).sum())
        self.objective_.append(likelihood - self._cost)
        self._maximise()
        return likelihood, expected.change

    def _maximise(self) -> None:
        habit = self.counts_[:, 1]  # by value; answers out of habit and known ones:
        either = np.stack([habit.sum(axis=1), self.counts_[:, 0].sum(axis=1)], axis=1)
        if self.variational:
            self._guessing, self.competence_ = _variational(either + KNOWING).T
            self.habit_ = _variational(habit + HABIT)
            self._cost = divergence(either + KNOWING, np.full_like(either, KNOWING))
            self._cost += divergence(habit + HABIT, np.full_like(habit, HABIT))
        else:
            little = 0.01 / habit.shape[1]
            self._guessing, self.competence_ = _normalised(either + little).T
            self.habit_ = _normalised(habit + little)


def _ranks(names: Names) -> np.ndarray:
    """The place of each name in their order, shorter names first: "p9" before "p10"."""
    ranks = np.arange(len(names))
    if not names.is_range:  # a range is in order
        columns = {"length": pc.utf8_length(names.array), "name": names.array}
        keys = [(column, "ascending") for column in columns]
        ranks[pc.sort_indices(pa.table(columns), keys).to_numpy()] = np.arange(len(names))
    return ranks


def _normalised(counts: np.ndarray) -> np.ndarray:
    return counts / counts.sum(axis=1, keepdims=True)


def _variational(drawn: np.ndarray) -> np.ndarray:
    """The geometric means of Dirichlets with these counts; each sums to less than 1."""
    from scipy.special import digamma

    return np.exp(digamma(drawn) - digamma(drawn.sum(axis=1, keepdims=True)))


def divergence(drawn: np.ndarray, prior: np.ndarray) -> float:
    """Kullback-Leibler divergence of Dirichlets from their priors, summed over annotators."""
    from scipy.special import gammaln

    sizes = gammaln(drawn.sum(axis=1)) - gammaln(prior.sum(axis=1))
    each = gammaln(prior) - gammaln(drawn) + (drawn - prior) * np.log(_variational(drawn))
    return float(sizes.sum() + each.sum())


@dataclass(eq=False)
class Kos(Aggregator):
    """Items tell annotators what the others answered, annotators tell items how often they fit.

    The distribution has the share of each value among votes that count as much as the last
    messages say, and the other way round if these are negative. It is made for two values; of
    more, each is compared with all others, and the shares are divided by their sum. First messages
    are 1 (random in the paper), so that the result has no seed. If all messages to an item are 0,
    as with a single annotator, all votes count alike.

    Reference: Karger, Oh & Shah (2014), Budget-optimal task allocation, doi
    10.1287/opre.2013.1235.
    """

    iterations: int = 100
    name: ClassVar[str] = "kos"

    def _fit(self, annotations: Annotations) -> np.ndarray:
        item, n_items = annotations.item, annotations.n_items
        plain = annotations.distribution()
        shares = np.empty_like(plain)
        for value in range(annotations.scale.n_columns):
            sign = np.where(annotations.answer == value, 1.0, -1.0)
            message = self._messages(annotations, sign)
            total = np.bincount(item, sign * message, n_items)
            weight = np.bincount(item, np.abs(message), n_items)
            heard = weight > 1e-12
            relative = np.divide(total, weight, out=np.zeros(n_items), where=heard)
            shares[:, value] = np.where(heard, (1 + relative) / 2, plain[:, value])
        mass = shares.sum(axis=1, keepdims=True)
        return np.where(mass > 0, shares / np.where(mass > 0, mass, 1.0), plain)

    def _messages(self, annotations: Annotations, sign: np.ndarray) -> np.ndarray:
        """What each annotator tells each of their items at the end, (n_rows,)."""
        item, annotator = annotations.item, annotations.annotator_codes(self.name)
        message = np.ones(len(sign))
        for _ in range(self.iterations):
            own = sign * message
            fits = sign * (np.bincount(item, own)[item] - own)
            message = np.bincount(annotator, fits)[annotator] - fits
            size = np.sqrt(np.mean(message**2))
            if not size > 1e-12:
                return np.zeros(len(sign))
            message /= size
        return message


SMALLEST = 1e-6  # the smallest reliability within an iteration
MOST_ANNOTATORS = 20_000  # whose agreement is a matrix


@dataclass(eq=False)
class MatrixMeanSubsequenceReduced(Aggregator):
    """Votes weigh by reliabilities whose products are the agreements of pairs of annotators.

    Agreement of two annotators beyond chance is the product of their reliabilities. They are found
    by alternating means, each without its largest and smallest terms, so that a few annotators
    with odd answers do not matter. `accuracy_` is how often an annotator is right,
    (n_annotators,), nan without answers. If no two annotators share an item, all votes count alike.

    Reference: Ma & Olshevsky (2020), Adversarial crowdsourcing through robust rank-one matrix
    completion, NeurIPS 33.
    """

    iterations: int = 10_000
    tolerance: float = 1e-10
    name: ClassVar[str] = "m-msr"
    gives: ClassVar[Gives] = "probability"
    accuracy_: np.ndarray = field(init=False, repr=False)

    def _fit(self, annotations: Annotations) -> np.ndarray:
        n_values = max(annotations.scale.n_columns, 2)
        codes = annotations.annotator_codes(self.name)
        answering, annotator = np.unique(codes, return_inverse=True)
        if len(answering) > MOST_ANNOTATORS:
            raise DataError(
                f"{self.name} compares all pairs of annotators; {len(answering):,} are more than "
                f"{MOST_ANNOTATORS:,}: use one-coin"
            )
        common, equal = _pairs(annotations, annotator.reshape(-1), len(answering))
        shared = common > 0
        share = np.divide(equal, common, out=np.zeros_like(equal), where=shared)
        beyond = np.where(shared, (share * n_values - 1) / (n_values - 1), 0.0)
        n_items = int(np.count_nonzero(annotations.per_item()))
        reliability = self._reliability(beyond, shared, n_items) * _signs(beyond)
        edge = 1 / np.sqrt(n_items)
        high = max(1 - edge, 0.0)
        low = min(-1 / (n_values - 1) + edge, high)
        right = reliability.clip(low, high) * (n_values - 1) / n_values + 1 / n_values
        right = right.clip(1e-9, 1 - 1e-9)
        self.accuracy_ = np.full(annotations.n_annotators, np.nan)
        self.accuracy_[answering] = right
        weight = np.log(right * (n_values - 1) / (1 - right))  # of a vote: the log-odds
        scores = sums_of_votes(annotations, weight[annotator.reshape(-1)])
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        scores[annotations.per_item() == 0] = np.nan
        return _normalised(scores)

    def _reliability(self, beyond: np.ndarray, shared: np.ndarray, n_items: int) -> np.ndarray:
        """The absolute reliabilities, (n_annotators,); 1 where no item is shared."""
        n = len(beyond)
        if not shared.any():
            return np.ones(n)
        cut = int(shared.sum(axis=0).min()) // 2 - 1
        strength = np.abs(beyond)
        neighbours = [np.flatnonzero(row) for row in shared]
        first, second = np.ones(n), np.ones(n)
        for _ in range(self.iterations):
            earlier = np.outer(first, second) if n <= 2000 else first * second
            for target, source in ((second, first), (first, second)):
                for k, others in enumerate(neighbours):
                    if len(others):
                        terms = strength[others, k] / source[others]
                        target[k] = _trimmed_mean(terms, cut, target[k], n_items)
            change = (np.outer(first, second) if n <= 2000 else first * second) - earlier
            scale = np.sqrt(np.linalg.norm(first) / np.linalg.norm(second))
            first = (first / scale).clip(SMALLEST, 1 / SMALLEST)  # products stay the same
            second = (second * scale).clip(SMALLEST, 1 / SMALLEST)
            if np.linalg.norm(change) < self.tolerance:
                break
        return first


def _trimmed_mean(terms: np.ndarray, cut: int, current: float, n_items: int) -> float:
    """The mean without the `cut` smallest terms below the current value and largest above it."""
    terms = np.sort(terms)
    cut = max(cut, 0)
    below, above = int((terms < current).sum()), int((terms > current).sum())
    kept = terms[min(below, cut) : len(terms) - min(above, cut)]
    mean = float(kept.mean()) if len(kept) else current
    return mean if mean > 0 else 1 / np.sqrt(n_items)


def _signs(beyond: np.ndarray) -> np.ndarray:
    """1 for annotators who agree with most others, -1 for those who contradict them."""
    values, vectors = np.linalg.eigh(np.sign(beyond))
    sign = np.sign(np.round(vectors[:, np.argmax(values)], 9))
    return sign if sign.sum() >= 0 else -sign


def _pairs(
    annotations: Annotations, annotator: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """How many items two annotators share, and how many they answer alike, (n, n) each."""
    from scipy.sparse import csr_array

    width, item = annotations.scale.n_columns, annotations.item.astype(np.int64)
    tables = []
    for column in (item, item * width + annotations.answer):
        ones = np.ones(len(column))
        answered = csr_array((ones, (annotator, column)), (n, annotations.n_items * width))
        answered.data[:] = 1  # however often
        tables.append((answered @ answered.T).toarray())
        np.fill_diagonal(tables[-1], 0)
    return tables[0], tables[1]
