"""A model on all folds of a repetition; its networks are stacked where that is faster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dissensus import Corpus
from dissensus.evaluation import Fold, Key
from dissensus.methods import (
    Job,
    MemberAnswers,
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
Answers = tuple[np.ndarray, np.ndarray]  # masses (k, n_items, n_values), votes (m, n_items)


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

    def fit(self, opened: Opened, job: Fits) -> list[Outcome]:
        fits = [fit for key in job for fit in self._fits(opened, key)]
        for together in _parted(fits):
            jobs = [Job(fit.method, fit.train, fit.question) for fit in together]
            fit_many(jobs, stack=None if worth_stacking(together[0].method) else False)
            jobs.clear()  # networks are let go of as soon as they have answered
            for fit in together:
                fit.read()
        return [self._outcome(key, [fit for fit in fits if fit.key == key]) for key in job]

    def _fits(self, opened: Opened, key: Key) -> list[_Fit]:
        condition, source = CONDITIONS[key.fold], CONDITIONS[key.fold].source
        choosing = condition.kind == "choose"
        repeat = CHOOSING if choosing else key.seed
        method, fits = self.method(key), []
        for number, fold in enumerate(opened.folds(condition, key.seed)):
            own = seeded(method, seed_of(source, repeat, number))
            parts = opened.parts(condition.corpus, fold)
            fits.append(_Fit(key, own, source.question, fold, *parts, choosing))
        return fits

    def method(self, key: Key) -> Any:
        """What is trained, without a seed."""
        condition = CONDITIONS[key.fold]
        encoder = self.encoders.get(condition.corpus, condition.source.readers())
        return built(key.method, encoder, self._settings(key), self.typed)

    def _settings(self, key: Key) -> dict[str, Any]:
        condition = CONDITIONS[key.fold]
        if condition.kind == "choose":
            return trials(key.method)[key.seed]
        if condition.kind == "paper":
            return AS_PAPER
        return chosen(self.folder, condition.choosing, MODELS[key.method].tuned_as or key.method)

    def _outcome(self, key: Key, fits: Sequence[_Fit]) -> Outcome:
        settings = self._settings(key)
        if fits[0].choosing:
            return Outcome(*key, scores=[fit.score for fit in fits], settings=settings)
        n_items = sum(len(fit.fold.test) for fit in fits)
        (k, _, n_values), m = fits[0].answers[0].shape, len(fits[0].answers[1])
        mass, votes = np.zeros((k, n_items, n_values)), np.zeros((m, n_items), np.int8)
        aside = []
        for number, fit in enumerate(fits):
            mass[:, fit.fold.test], votes[:, fit.fold.test] = fit.answers
            aside.append(np.stack([np.full(len(fit.aside), number), fit.fold.train[fit.aside]]))
        aside_mass = np.concatenate([fit.answers_aside[0] for fit in fits], axis=1)
        joined = np.concatenate(aside, axis=1)
        return Outcome(*key, mass, votes, joined, aside_mass, settings=settings)


@dataclass(eq=False)
class _Fit:
    """One fit, and what is read from it before its networks are dropped."""

    key: Key
    method: Any
    question: str
    fold: Fold
    train: Corpus
    test: Corpus
    choosing: bool
    answers: Answers = field(init=False)
    aside: np.ndarray = field(init=False)  # codes of training items
    answers_aside: Answers = field(init=False)
    score: float = float("nan")

    def read(self) -> None:
        if self.choosing:
            mass = self.method.predict_items(self.test)[self.question].distribution
            label = self.test[self.question].consensus("first")
            probability = mass[label.item, label.answer]
            self.score = float(-np.log(probability.clip(1e-12)).mean())
        else:
            self.method.temperature_ = {}
            held_out, seed = self.method.held_out, self.method.training.seed
            self.aside = held_out_items(self.train, held_out, seed)
            self.answers = self._answers(self.test)
            self.answers_aside = self._answers(self.train.select(items=self.aside))
        del self.method

    def _answers(self, corpus: Corpus) -> Answers:
        """Of each network, or of all draws of weights together; a single one has no votes."""
        answers = self.method.predict_items(corpus)[self.question]
        if not isinstance(answers, MemberAnswers):
            return answers.distribution[None], np.zeros((0, corpus.n_items))
        of_draws = MODELS[self.key.method].method == "bayesian"
        return answers.distribution[None] if of_draws else answers.masses, answers.members


@dataclass(eq=False)
class Opened:
    """The corpora, and their parts, which fits of one fold share."""

    corpora: dict[str, Corpus]
    _folds: dict[str, list[list[Fold]]] = field(default_factory=dict)
    _parts: dict[tuple[str, str], Any] = field(default_factory=dict)

    def folds(self, condition: SeedBertCondition, repeat: int) -> list[Fold]:
        """Of a repetition; those in which settings are chosen are always the same."""
        corpus, choosing = self.corpora[condition.corpus], condition.kind == "choose"
        name = condition.name if choosing else condition.corpus
        if name not in self._folds:
            self._folds[name] = (
                [to_choose(corpus, condition)] if choosing else folds(corpus, condition.source)
            )
        return self._folds[name][0 if choosing else repeat]

    def parts(self, corpus: str, fold: Fold) -> tuple[Corpus, Corpus]:
        """To learn from and to test on."""
        if (corpus, fold.name) not in self._parts:
            self._parts[corpus, fold.name] = fold.parts(self.corpora[corpus])[:2]
        train, test = self._parts[corpus, fold.name]
        return train, test


def _parted(fits: Sequence[_Fit]) -> Iterator[list[_Fit]]:
    """Fits whose networks are trained at once, as many as there may be."""
    part: list[_Fit] = []
    for fit in fits:
        if part and sum(MODELS[one.key.method].size for one in (*part, fit)) > AT_ONCE:
            yield part
            part = []
        part.append(fit)
    yield part
