"""Logistic regression on the mean vectors of contents: the baseline that a network must beat."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import expit, log_softmax, ndtr
from torch import Tensor

from dissensus.aggregation import AGGREGATORS
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.encoders import Encoding, encodings
from dissensus.errors import ModelError, listed
from dissensus.methods.framework.base import Method
from dissensus.methods.framework.learned import Answers
from dissensus.methods.framework.trained import RoleEncoders, encoding_notes
from dissensus.networks.likelihoods import likelihood
from dissensus.scales import Interval, MultiLabel, Scale
from dissensus.training import Examples
from dissensus.training.examples import Table

PENALTIES = tuple(10.0**power for power in range(1, -6, -1))  # of squared weights, to choose from
USUAL = 0.01  # penalty where items are too few to choose one
FOLDS = 3  # of items, to choose the penalty on, which has
MOST_ITEMS = 5000  # at most
STEPS = 300  # of the optimiser, at most
SMALLEST_SPREAD = 0.02  # of ratings on [-1, 1]


class Rows(NamedTuple):
    """What is learned: targets of items, or of pairs of item and annotator."""

    item: np.ndarray  # (n_rows,) codes
    annotator: np.ndarray  # (n_rows,) codes; all 0 where annotators are ignored
    target: np.ndarray  # (n_rows, n_outputs) shares, marginals or positions on [-1, 1]
    weight: np.ndarray  # (n_rows,)

    def of_items(self, kept: np.ndarray) -> Rows:
        """The rows of the items where `kept`, (n_items,), is true."""
        return Rows(*(part[kept[self.item]] for part in self))


class Weights(NamedTuple):
    """Outputs are the vectors of items times `items`, plus `start`, plus those of the annotator."""

    items: np.ndarray  # (width, n_outputs)
    start: np.ndarray  # (1, n_outputs)
    annotators: np.ndarray  # (n_annotators, n_outputs); zeros where annotators are ignored

    def outputs(self, vectors: np.ndarray, item: np.ndarray, annotator: np.ndarray) -> np.ndarray:
        """Of pairs of item and annotator, (n_pairs, n_outputs)."""
        return np.asarray((vectors @ self.items + self.start)[item] + self.annotators[annotator])


@dataclass(eq=False)
class LinearMethod(Method):
    """A linear model of each question, with the penalty of squared weights that predicts held-out
    items best.

    Args:
        encoder: what turns contents into vectors, as for methods with a network.
    """

    encoder: str | dict[str, str] = "auto"
    item_passes: ClassVar[float | None] = 20.0
    standard_: np.ndarray = field(init=False, repr=False)  # (2, width) mean and spread
    weights_: dict[str, Weights] = field(init=False, repr=False)
    penalty_: dict[str, float] = field(init=False, repr=False)
    spread_: dict[str, float] = field(init=False, repr=False)  # of ratings around predicted ones
    _identities: dict[str, str] = field(init=False, repr=False, default_factory=dict)

    @abstractmethod
    def rows(self, answers: Annotations) -> Rows:
        """What is learned from the answers to a question."""

    def learn_from(self, corpus: Corpus, validation: Corpus | None) -> None:
        by_role = encodings(corpus, self.encoder)
        self._identities = {key: one.encoder.identity for key, one in by_role.items()}
        raw = self._vectors(corpus, by_role)
        every = {question: self.rows(corpus[question]) for question in self.learned_.questions}
        learned = np.unique(np.concatenate([rows.item for rows in every.values()]))
        mean, spread = raw[learned].mean(axis=0), raw[learned].std(axis=0)
        self.standard_ = np.stack([mean, np.where(spread > 1e-6, spread, 1.0)])
        vectors = self._standardised(raw)
        self.weights_, self.penalty_, self.spread_ = {}, {}, {}
        for question, rows in every.items():
            scale = self.learned_.questions[question]
            n = corpus.n_annotators if self.individual else 1
            penalty, error = chosen_penalty(scale, vectors, rows, n, corpus.units())
            self.weights_[question] = minimised(scale, vectors, rows, penalty, n)
            self.penalty_[question] = penalty
            self.spread_[question] = max(float(np.sqrt(2 * error)), SMALLEST_SPREAD)
            self.notes_.append(f"penalty of {question!r}: {penalty:g}")

    def _vectors(self, corpus: Corpus, by_role: dict[str, Encoding]) -> np.ndarray:
        """The mean vectors of all roles, (n_items, width); zeros without a content."""
        examples = Examples.of_corpus(corpus, by_role, Table.of_nothing())
        notes = encoding_notes(self.encoder, corpus, examples, by_role)
        self.notes_ += [note for note in notes if note not in self.notes_]
        parts = [examples.pooled[role][examples.entry[role]].numpy() for role in by_role]
        return np.concatenate(parts, axis=1).astype(float)

    def _standardised(self, vectors: np.ndarray) -> np.ndarray:
        return np.asarray((vectors - self.standard_[0]) / self.standard_[1])

    def encodings(self, corpus: Corpus) -> dict[str, Encoding]:
        if not self._identities:
            return encodings(corpus, self.encoder)
        return self._role_encoders.encodings(corpus, self._identities)

    @property
    def _role_encoders(self) -> RoleEncoders:
        return RoleEncoders(self.encoder, tuple(self._identities), self.learned_.roles)

    def _roles(self) -> list[str]:
        return self._role_encoders.roles()

    def predicted(
        self, corpus: Corpus, item: np.ndarray, annotator: np.ndarray
    ) -> dict[str, Answers]:
        """The answers of pairs of item and annotator, by question."""
        vectors, answers = self._standardised(self._vectors(corpus, self.encodings(corpus))), {}
        for question, scale in self.learned_.questions.items():
            outputs = self.weights_[question].outputs(vectors, item, annotator)
            answers[question] = _answers(scale, outputs, self.spread_[question])
        return answers

    # ---- save and load ----

    def weights(self) -> dict[str, np.ndarray]:
        named = {"standard": self.standard_}
        for number, weights in enumerate(self.weights_.values()):
            named |= {f"{name}_{number}": part for name, part in weights._asdict().items()}
        return named

    def config(self) -> dict[str, Any]:
        fitted = {"encoders": self._identities, "penalty": self.penalty_, "spread": self.spread_}
        return super().config() | fitted

    def restore(self, weights: dict[str, np.ndarray], config: dict[str, Any]) -> None:
        self._identities = config["encoders"]
        self._role_encoders.check()
        self.standard_ = weights["standard"]
        self.penalty_, self.spread_ = config["penalty"], config["spread"]
        self.weights_ = {
            question: Weights(*(weights[f"{name}_{number}"] for name in Weights._fields))
            for number, question in enumerate(self.learned_.questions)
        }


@dataclass(eq=False)
class Logistic(LinearMethod):
    """Logistic regression on the label of each item; of ratings, ridge regression.

    The solution is that of scikit-learn's `LogisticRegression` on the same standardised vectors.
    It is found in seconds, and often as good as a network over frozen vectors: prefer a network
    only where `compare` shows that it is better.

    Args:
        target: "consensus" of the annotators (majority, median or mean, by scale), or the
            aggregator whose distribution is learned, such as "soft-vote" or "dawid-skene"; ratings
            are always their mean.
    """

    target: str = "consensus"
    name: ClassVar[str] = "logistic"

    def check_question(self, corpus: Corpus, question: str) -> None:
        super().check_question(corpus, question)
        if self.target != "consensus" and self.target not in AGGREGATORS:
            known = listed(["consensus", *AGGREGATORS], 20)
            raise ModelError(f"no target {self.target!r}; there are {known}")

    def rows(self, answers: Annotations) -> Rows:
        if self.target != "consensus" and not isinstance(answers.scale, Interval):
            item = np.flatnonzero(answers.per_item())
            target = AGGREGATORS[self.target]().fit(answers).distribution_[item]
        else:
            labels = answers.consensus()
            item, target = labels.item, _targets(answers.scale, labels.answer)
        return Rows(item, np.zeros(len(item), np.int64), target, np.ones(len(item)))

    def predict_items(self, corpus: Corpus) -> dict[str, Answers]:
        items = np.arange(corpus.n_items)
        return self.predicted(corpus, items, np.zeros(len(items), np.int64))


@dataclass(eq=False)
class AnnotatorLogistic(LinearMethod):
    """Logistic regression on every answer, with the annotator as a one-hot vector; of ratings,
    ridge regression.

    An annotator shifts the outputs by the same amount for all items; the fewer answers, the
    smaller is the shift. Prefer `AnnotatorHeads` where annotators differ in what they look at.
    """

    name: ClassVar[str] = "annotator-logistic"
    individual: ClassVar[bool] = True

    @property
    def has_prior(self) -> bool:
        return True

    def rows(self, answers: Annotations) -> Rows:
        target = _targets(answers.scale, answers.answer)
        return Rows(answers.item, answers.annotator_codes(self.name), target, answers.weight)

    def predict_pairs(
        self, corpus: Corpus, item: np.ndarray, annotator: np.ndarray
    ) -> dict[str, Answers]:
        return self.predicted(corpus, item, annotator)

    def annotator_rows(self) -> dict[str, bool]:
        return {f"annotators_{number}": True for number in range(len(self.learned_.questions))}

    def row_loss(
        self, corpus: Corpus, code: int, items: np.ndarray
    ) -> Callable[[dict[str, Tensor]], Tensor]:
        vectors, parts = self._standardised(self._vectors(corpus, self.encodings(corpus))), []
        for number, (question, scale) in enumerate(self.learned_.questions.items()):
            answers = corpus[question].take(np.isin(corpus[question].item, items))
            weights = self.weights_[question]
            outputs = torch.from_numpy((vectors @ weights.items + weights.start)[answers.item])
            target = torch.from_numpy(likelihood(scale).target(answers.answer))
            constants = torch.zeros(likelihood(scale).n_constants) + np.log(self.spread_[question])
            parts.append((f"annotators_{number}", likelihood(scale), outputs, target, constants))

        def loss(rows: dict[str, Tensor]) -> Tensor:
            total = torch.zeros(())
            for name, family, outputs, target, constants in parts:
                raw = torch.cat([outputs + rows[name], constants.expand(len(outputs), -1)], dim=1)
                total = total + family.loss(raw, target).sum()
            return total

        return loss


def _targets(scale: Scale, answer: np.ndarray) -> np.ndarray:
    if isinstance(scale, Interval):
        return np.asarray(scale.to_unit(answer).astype(float)[:, None])
    return np.asarray(scale.one_hot(answer).astype(float))


def _answers(scale: Scale, outputs: np.ndarray, spread: float) -> Answers:
    if isinstance(scale, Interval):
        edges = np.linspace(-1, 1, scale.n_bins + 1)[1:-1]
        below = ndtr((edges - outputs) / spread)
        value = scale.from_unit(outputs[:, 0].clip(-1, 1)).clip(scale.low, scale.high)
        return Answers(np.diff(below, axis=1, prepend=0.0, append=1.0), value)
    shares = np.exp(log_softmax(outputs, axis=1))
    distribution = expit(outputs) if isinstance(scale, MultiLabel) else shares
    return Answers(distribution, scale.consensus(distribution).astype(scale.dtype))


# ---- the solution ----


def losses(scale: Scale, outputs: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The loss of each row, (n_rows,), and its gradient by the outputs: half the squared error of
    ratings, else the cross-entropy; of several labels, summed over them."""
    if isinstance(scale, Interval):
        away = outputs - target
        return 0.5 * away[:, 0] ** 2, away
    if isinstance(scale, MultiLabel):
        each = np.logaddexp(0, outputs) - target * outputs
        return each.sum(axis=1), expit(outputs) - target
    logs = log_softmax(outputs, axis=1)
    return -(target * logs).sum(axis=1), np.exp(logs) - target


def minimised(
    scale: Scale,
    vectors: np.ndarray,
    rows: Rows,
    penalty: float,
    n_annotators: int,
    first: Weights | None = None,
) -> Weights:
    """The weights with the least mean loss plus half the penalty of squared weights (but `start`).

    The same as scikit-learn's, whose C is 1 / (penalty * number of rows).

    Args:
        n_annotators: 1 where annotators are ignored.
        first: to start from; zeros if left out.
    """
    n_outputs, sizes = rows.target.shape[1], (vectors.shape[1], 1, n_annotators)
    edges = n_outputs * np.cumsum(sizes)
    share = rows.weight / rows.weight.sum()
    places = np.arange(len(rows.item))
    by_item, by_annotator = (
        csr_array((share, (codes, places)), shape=(n, len(places)))
        for codes, n in ((rows.item, len(vectors)), (rows.annotator, n_annotators))
    )

    def shaped(flat: np.ndarray) -> Weights:
        return Weights(*(p.reshape(-1, n_outputs) for p in np.split(flat, edges[:-1])))

    def function(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights = shaped(flat)
        outputs = weights.outputs(vectors, rows.item, rows.annotator)
        loss, slope = losses(scale, outputs, rows.target)
        of_annotators = by_annotator @ slope + penalty * weights.annotators
        of_items = by_item @ slope
        gradient = [
            vectors.T @ of_items + penalty * weights.items,
            of_items.sum(axis=0, keepdims=True),
            of_annotators * (n_annotators > 1),  # `start` is enough for one
        ]
        squares = np.sum(weights.items**2) + np.sum(weights.annotators**2)
        return share @ loss + 0.5 * penalty * squares, np.concatenate([g.ravel() for g in gradient])

    begin = np.zeros(edges[-1]) if first is None else np.concatenate([p.ravel() for p in first])
    options = {"maxiter": STEPS, "ftol": 1e-10, "gtol": 1e-6}
    return shaped(minimize(function, begin, jac=True, method="L-BFGS-B", options=options).x)


def chosen_penalty(
    scale: Scale, vectors: np.ndarray, rows: Rows, n_annotators: int, units: np.ndarray
) -> tuple[float, float]:
    """The penalty with the least mean loss of held-out items, and that loss.

    From the largest to the smallest, until the loss rises.

    Args:
        units: items of one unit (of equal content) are held out together, (n_items,).
    """
    order = np.random.default_rng(0).permutation(units.max(initial=-1) + 1)[units]
    learned = np.zeros(len(units), dtype=bool)
    learned[rows.item] = True
    learned &= order <= np.sort(order[learned])[:MOST_ITEMS][-1]
    fold = order % FOLDS
    parts = [
        (rows.of_items(learned & (fold != k)), rows.of_items(learned & (fold == k)))
        for k in range(FOLDS)
    ]
    if not all(len(part.item) for both in parts for part in both):
        loss, _ = losses(scale, np.zeros_like(rows.target), rows.target)
        return USUAL, float(loss.mean())
    best, least = USUAL, np.inf
    fitted: list[Weights] | list[None] = [None] * FOLDS
    for penalty in PENALTIES:
        fitted = [
            minimised(scale, vectors, train, penalty, n_annotators, first)
            for (train, _), first in zip(parts, fitted, strict=True)
        ]
        total = weight = 0.0
        for (_, test), weights in zip(parts, fitted, strict=True):
            outputs = weights.outputs(vectors, test.item, test.annotator)
            total += float(test.weight @ losses(scale, outputs, test.target)[0])
            weight += float(test.weight.sum())
        if total / weight >= least:
            break
        best, least = penalty, total / weight
    return best, least
