"""A model on all folds of a repetition; its networks are stacked where that is faster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dissensus import Corpus
from dissensus.evaluation import Fold, Key
from dissensus.methods import Job as FitJob
from dissensus.methods import (
    MemberAnswers,
    TrainedMethod,
    fit_many,
    held_out_items,
    seeded,
    worth_stacking,
)
from dissensus_papers.framework.paper import Fits, FitTask
from dissensus_papers.seedbert.outcomes import Outcome, chosen
from dissensus_papers.seedbert.protocol import (
    AS_PAPER,
    AT_ONCE,
    CONDITIONS,
    MODELS,
    SeedBertCondition,
    built,
    folds,
    seed_of,
    to_choose,
    trials,
)

CHOOSING = 20  # the repetition whose seeds the trials have: one that is not made


@dataclass(frozen=True, eq=False)
class Task(FitTask):
    """Everything that the results of trainings depend on, except the corpora.

    Args:
        folder: of the outcomes, where settings that were chosen are read from.
        encoders: corpus -> what reads it, where that is not what its source says.
        typed: settings of the methods as typed, for trying things out.
    """

    folder: Path
    encoders: Mapping[str, str | dict[str, str]] = field(default_factory=dict)
    typed: tuple[tuple[str, str], ...] = ()
    outcome: ClassVar[type[Any]] = Outcome

    def open(self, corpora: dict[str, Corpus]) -> Opened:
        return Opened(corpora)

    # ---- fits ----

    def fit(self, opened: Opened, job: Fits) -> list[Outcome]:
        fits = [fit for key in job for fit in self._fits(opened, key)]
        for together in _parted(fits):
            jobs = [FitJob(fit.method, fit.train, fit.question) for fit in together]
            fit_many(jobs, stack=None if worth_stacking(together[0].method) else False)
            jobs.clear()  # networks are let go of as soon as they have answered
            for fit in together:
                fit.read()
        return [self._outcome(key, [fit for fit in fits if fit.key == key]) for key in job]

    def _fits(self, opened: Opened, key: Key) -> list[_Fit]:
        condition = CONDITIONS[key.fold]
        corpus, fits = opened.corpora[condition.corpus], []
        choosing = condition.kind == "choose"
        dealt = opened.to_choose(condition) if choosing else opened.folds(condition)[key.seed]
        method = self.method(key)
        for number, fold in enumerate(dealt):
            repeat = CHOOSING if choosing else key.seed
            own = seeded(method, seed_of(condition.source, repeat, number))
            assert isinstance(own, TrainedMethod)
            train, test = opened.parts(corpus, fold)
            fits.append(_Fit(key, own, condition.source.question, fold, train, test, choosing))
        return fits

    def method(self, key: Key) -> TrainedMethod:
        """What is trained, without a seed."""
        condition = CONDITIONS[key.fold]
        settings = self._settings(condition, key)
        encoder = self.encoders.get(condition.corpus, condition.source.readers())
        return built(key.method, encoder, settings, self.typed)

    def _settings(self, condition: SeedBertCondition, key: Key) -> dict[str, Any]:
        if condition.kind == "choose":
            return trials(key.method)[key.seed]
        if condition.kind == "paper":
            return AS_PAPER
        return chosen(self.folder, condition.choosing, MODELS[key.method].tuned_as or key.method)

    def _outcome(self, key: Key, fits: Sequence[_Fit]) -> Outcome:
        settings = self._settings(CONDITIONS[key.fold], key)
        if fits[0].choosing:
            return Outcome(*key, scores=[fit.score for fit in fits], settings=settings)
        n_items = sum(len(fit.fold.test) for fit in fits)
        first = fits[0].answers
        mass = np.zeros((first.mass.shape[0], n_items, first.mass.shape[2]))
        votes = np.zeros((first.votes.shape[0], n_items), np.int8)
        aside, aside_mass = [], []
        for number, fit in enumerate(fits):
            mass[:, fit.fold.test], votes[:, fit.fold.test] = fit.answers.mass, fit.answers.votes
            aside.append(np.stack([np.full(len(fit.aside), number), fit.fold.train[fit.aside]]))
            aside_mass.append(fit.answers_aside.mass)
        joined = np.concatenate(aside, axis=1), np.concatenate(aside_mass, axis=1)
        return Outcome(*key, mass, votes, *joined, settings=settings)


@dataclass(eq=False)
class _NetworkAnswers:
    """The answers of networks to items."""

    mass: np.ndarray  # (k, n_items, n_values) of each network, or of all draws of weights together
    votes: np.ndarray  # (m, n_items) of each member; none of a single network


@dataclass(eq=False)
class _Fit:
    """One fit, and what is read from it before its networks are dropped."""

    key: Key
    method: TrainedMethod
    question: str
    fold: Fold
    train: Corpus
    test: Corpus
    choosing: bool
    answers: _NetworkAnswers = field(init=False)
    aside: np.ndarray = field(init=False)  # codes of training items
    answers_aside: _NetworkAnswers = field(init=False)
    score: float = float("nan")

    def read(self) -> None:
        method: Any = self.method
        if self.choosing:
            mass = method.predict_items(self.test)[self.question].distribution
            label = self.test[self.question].consensus("first")
            probability = mass[label.item, label.answer]
            self.score = float(-np.log(probability.clip(1e-12)).mean())
        else:
            method.temperature_ = {}
            self.aside = held_out_items(self.train, method.held_out, method.training.seed)
            self.answers = self._answers(self.test)
            self.answers_aside = self._answers(self.train.select(items=self.aside))
        del self.method

    def _answers(self, corpus: Corpus) -> _NetworkAnswers:
        answers = self.method.predict_items(corpus)[self.question]
        if not isinstance(answers, MemberAnswers):
            return _NetworkAnswers(answers.distribution[None], np.zeros((0, corpus.n_items)))
        of_draws = MODELS[self.key.method].method == "bayesian"
        mass = answers.distribution[None] if of_draws else answers.masses
        return _NetworkAnswers(mass, answers.members)


@dataclass(eq=False)
class Opened:
    """The corpora, and their parts, which fits of one fold share."""

    corpora: dict[str, Corpus]
    _folds: dict[str, Any] = field(default_factory=dict)
    _parts: dict[tuple[str, str], tuple[Corpus, Corpus]] = field(default_factory=dict)

    def folds(self, condition: SeedBertCondition) -> list[list[Fold]]:
        name = condition.corpus
        if name not in self._folds:
            self._folds[name] = folds(self.corpora[name], condition.source)
        by_repeat: list[list[Fold]] = self._folds[name]
        return by_repeat

    def to_choose(self, condition: SeedBertCondition) -> list[Fold]:
        if condition.name not in self._folds:
            self._folds[condition.name] = to_choose(self.corpora[condition.corpus], condition)
        inner_folds: list[Fold] = self._folds[condition.name]
        return inner_folds

    def parts(self, corpus: Corpus, fold: Fold) -> tuple[Corpus, Corpus]:
        """To learn from and to test on."""
        if (corpus.name, fold.name) not in self._parts:
            self._parts[corpus.name, fold.name] = fold.parts(corpus)[:2]
        return self._parts[corpus.name, fold.name]


def _parted(fits: Sequence[_Fit]) -> Iterator[list[_Fit]]:
    """Fits whose networks are trained at once, as many as there may be."""
    part: list[_Fit] = []
    for fit in fits:
        if part and sum(MODELS[one.key.method].size for one in (*part, fit)) > AT_ONCE:
            yield part
            part = []
        part.append(fit)
    if part:
        yield part
