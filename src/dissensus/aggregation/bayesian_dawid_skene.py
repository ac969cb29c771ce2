"""Bayesian Dawid-Skene: confusion matrices with a prior, and how certain they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from dissensus.aggregation.base import Aggregator, Gives
from dissensus.annotations import Annotations
from dissensus.errors import DataError
from dissensus.progress import progress


@dataclass(eq=False)
class BayesianDawidSkene(Aggregator):
    """Dawid and Skene's model with Dirichlet priors, averaged over draws (Gibbs sampling).

    Probabilities are less extreme than those of `DawidSkene`, above all where annotators gave few
    answers. `confusion_` is the mean confusion matrix of each annotator, (n_annotators, n_values
    true, n_values answered); `accuracy_` how often they are right, with the 95 % interval
    `accuracy_low_` to `accuracy_high_`, (n_annotators,) each; `shares_` the shares of true values,
    with `shares_interval_` (n_values, 2). Annotators without answers have the prior.

    Args:
        draws: that are averaged, after `warm_up` draws that are not.
        right: what the prior adds to the diagonal of each confusion matrix; every entry has 1.
        seed: of the draws.

    Reference: Kim & Ghahramani (2012), Bayesian classifier combination, AISTATS; Paun et al.
    (2018), doi 10.1162/tacl_a_00040.
    """

    draws: int = 500
    warm_up: int = 100
    right: float = 1.0
    seed: int = 0
    name: ClassVar[str] = "bayesian-dawid-skene"
    gives: ClassVar[Gives] = "probability"

    confusion_: np.ndarray = field(init=False, repr=False)
    accuracy_: np.ndarray = field(init=False, repr=False)
    accuracy_low_: np.ndarray = field(init=False, repr=False)
    accuracy_high_: np.ndarray = field(init=False, repr=False)
    shares_: np.ndarray = field(init=False, repr=False)
    shares_interval_: np.ndarray = field(init=False, repr=False)

    def _fit(self, annotations: Annotations) -> np.ndarray:
        if self.draws < 1 or self.warm_up < 0:
            raise DataError(f"{self.name} needs at least one draw, found {self.draws}")
        n_values, n = annotations.scale.n_columns, annotations.n_annotators
        generator = np.random.default_rng(self.seed)
        cells = _cells(annotations, self.name)
        answered = np.flatnonzero(annotations.per_item())
        rows = cells[answered]
        columns = rows.T.tocsr()  # (n_annotators * n_values, n_answered)
        prior = 1 + self.right * np.eye(n_values)  # (true, answered)
        posterior = annotations.distribution()[answered]
        truth = _drawn(posterior, generator)
        mean = np.zeros((len(answered), n_values))
        confusion = np.zeros((n, n_values, n_values))
        accuracy = np.empty((self.draws, n))
        shares = np.empty((self.draws, n_values))
        with progress(self.name, self.draws + self.warm_up) as advance:
            for draw in range(-self.warm_up, self.draws):
                given = columns @ np.eye(n_values)[truth]  # (n_annotators * answered, true)
                counts = given.reshape(n, n_values, n_values).transpose(0, 2, 1) + prior
                matrices = _dirichlet(counts, generator)
                share = _dirichlet(1.0 + np.bincount(truth, minlength=n_values), generator)
                logs = np.log(matrices).transpose(0, 2, 1).reshape(n * n_values, n_values)
                posterior = _normalised(rows @ logs + np.log(share))
                truth = _drawn(posterior, generator)
                advance(1)
                if draw >= 0:
                    mean += posterior
                    confusion += matrices
                    accuracy[draw] = matrices.diagonal(axis1=1, axis2=2) @ share
                    shares[draw] = share
        self.confusion_ = confusion / self.draws
        self.accuracy_ = accuracy.mean(axis=0)
        self.accuracy_low_, self.accuracy_high_ = np.quantile(accuracy, [0.025, 0.975], axis=0)
        self.shares_ = shares.mean(axis=0)
        self.shares_interval_ = np.quantile(shares, [0.025, 0.975], axis=0).T
        distribution = np.full((annotations.n_items, n_values), np.nan)
        distribution[answered] = mean / self.draws
        return distribution


def _cells(annotations: Annotations, purpose: str) -> Any:
    """Which annotator gave which answer to each item, sparse (n_items, n_annotators * n_values)."""
    from scipy.sparse import csr_array

    n_values = annotations.scale.n_columns
    column = annotations.annotator_codes(purpose).astype(np.int64) * n_values + annotations.answer
    shape = (annotations.n_items, annotations.n_annotators * n_values)
    return csr_array((np.ones(len(column)), (annotations.item, column)), shape)


def _dirichlet(counts: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    drawn = generator.standard_gamma(counts).clip(1e-300)
    return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))


def _normalised(logs: np.ndarray) -> np.ndarray:
    mass = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(mass / mass.sum(axis=1, keepdims=True))


def _drawn(posterior: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """A value for each row of probabilities."""
    below = posterior.cumsum(axis=1)[:, :-1] < generator.random(len(posterior))[:, None]
    return np.asarray(below.sum(axis=1))
