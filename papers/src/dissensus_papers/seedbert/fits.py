"""A model on all folds of a repetition; its networks are stacked where that is faster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dissensus import Corpus
from dissensus.evaluation import Fold, Key
from dissensus.methods import Job, MemberAnswers, fit_many, held_out_items, seeded, worth_stacking
from dissensus_papers.framework.fitted import Fits, FitTask, Opened
from dissensus_papers.seedbert.outcomes import Outcome, chosen
from dissensus_papers.seedbert.protocol import (
    AS_PAPER,
    AT_ONCE,
    CONDITIONS,
    MODELS,
    N_FOLDS,
    SeedBertCondition,
    built,
    folds,
    seed_of,
    to_choose,
    trials,
)

CHOOSING = 20  # the repetition whose seeds the trials have: one that is not made
Answers = tuple[np.ndarray, np.ndarray]  # masses (k, n_items, n_values), votes (m, n_items)


def jobs(keys: Sequence[Key], together: bool) -> list[Fits]:
    """The fits of each job: one, or together as many of a model as are trained side by side."""
    if not together:
        return [(key,) for key in keys]
    grouped: list[Fits] = []
    for name, model in dict.fromkeys((key.fold, key.method) for key in keys):
        condition = CONDITIONS[name]
        n_folds = condition.repeats if condition.kind == "choose" else N_FOLDS
        own = [key for key in keys if (key.fold, key.method) == (name, model)]
        n = max(1, AT_ONCE // (n_folds * MODELS[model].size))
        grouped += [tuple(own[at : at + n]) for at in range(0, len(own), n)]
    return grouped


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

    def fit(self, opened: Opened, job: Fits) -> list[Outcome]:
        fits = [fit for key in job for fit in self._fits(opened, key)]
        for stack in _parted(fits):
            todo = [Job(fit.method, fit.train, fit.question) for fit in stack]
            fit_many(todo, stack=None if worth_stacking(stack[0].method) else False)
            todo.clear()  # networks are let go of as soon as they have answered
            for fit in stack:
                fit.read()
        return [self._outcome(key, [fit for fit in fits if fit.key == key]) for key in job]

    def _fits(self, opened: Opened, key: Key) -> Iterator[_Fit]:
        condition, source = CONDITIONS[key.fold], CONDITIONS[key.fold].source
        repeat = CHOOSING if condition.kind == "choose" else key.seed
        method = self.method(key)
        for number, (fold, train, test) in enumerate(_parts(opened, condition, key.seed)):
            own = seeded(method, seed_of(source, repeat, number))
            yield _Fit(key, own, source.question, fold, train, test)

    def method(self, key: Key) -> Any:
        """What is trained, without a seed."""
        condition = CONDITIONS[key.fold]
        encoder = self.encoders.get(condition.corpus, condition.source.encoder)
        tune = "nothing" if condition.frozen else condition.source.tune
        return built(key.method, encoder, self._settings(key), self.typed, tune)

    def _settings(self, key: Key) -> dict[str, Any]:
        condition = CONDITIONS[key.fold]
        if condition.kind == "choose":
            return trials(key.method, condition.frozen)[key.seed]
        if condition.kind == "paper":
            return AS_PAPER
        return chosen(self.folder, condition.choosing, MODELS[key.method].tuned_as or key.method)

    def _outcome(self, key: Key, fits: Sequence[_Fit]) -> Outcome:
        settings = self._settings(key)
        if CONDITIONS[key.fold].kind == "choose":
            return Outcome(*key, scores=[fit.score for fit in fits], settings=settings)
        n_items = sum(len(fit.fold.test) for fit in fits)
        (k, _, n_values), m = fits[0].answers[0].shape, len(fits[0].answers[1])
        mass, votes = np.zeros((k, n_items, n_values), np.float32), np.zeros((m, n_items), np.int8)
        for fit in fits:
            mass[:, fit.fold.test], votes[:, fit.fold.test] = fit.answers
        aside = [[np.full(len(f.aside), n), f.fold.train[f.aside]] for n, f in enumerate(fits)]
        aside_mass = np.concatenate([fit.aside_mass for fit in fits], axis=1, dtype=np.float32)
        return Outcome(*key, mass, votes, np.hstack(aside), aside_mass, settings=settings)


@dataclass(eq=False)
class _Fit:
    """One fit, and what is read from it before its networks are dropped."""

    key: Key
    method: Any
    question: str
    fold: Fold
    train: Corpus
    test: Corpus
    answers: Answers = field(init=False)
    aside: np.ndarray = field(init=False)  # codes of training items
    aside_mass: np.ndarray = field(init=False)
    score: float = float("nan")

    def read(self) -> None:
        if CONDITIONS[self.key.fold].kind == "choose":
            mass = self.method.predict_items(self.test)[self.question].distribution
            label = self.test[self.question].consensus("first")
            probability = mass[label.item, label.answer]
            self.score = float(-np.log(probability.clip(1e-12)).mean())
        else:
            self.method.temperature_ = {}
            held_out, seed = self.method.held_out, self.method.training.seed
            self.aside = held_out_items(self.train, held_out, seed)
            self.answers = self._answers(self.test)
            self.aside_mass, _ = self._answers(self.train.select(items=self.aside))
        del self.method

    def _answers(self, corpus: Corpus) -> Answers:
        """Of each network, or of all draws of weights together; a single one has no votes."""
        answers = self.method.predict_items(corpus)[self.question]
        if not isinstance(answers, MemberAnswers):
            return answers.distribution[None], np.zeros((0, corpus.n_items))
        of_draws = MODELS[self.key.method].method == "bayesian"
        return answers.distribution[None] if of_draws else answers.masses, answers.members


def _parts(
    opened: Opened, condition: SeedBertCondition, repeat: int
) -> list[tuple[Fold, Corpus, Corpus]]:
    """The folds of a repetition, with what is learned from and tested on; those in which settings
    are chosen are always the same."""
    corpus, choosing = opened.corpora[condition.corpus], condition.kind == "choose"

    def dealt() -> list[Any]:
        every = [to_choose(corpus, condition)] if choosing else folds(corpus, condition.source)
        return [[(fold, *fold.parts(corpus)[:2]) for fold in each] for each in every]

    parts: list[Any] = opened.once(condition.name if choosing else corpus.name, dealt)
    return parts[0 if choosing else repeat]


def _parted(fits: Sequence[_Fit]) -> Iterator[list[_Fit]]:
    """Fits whose networks are trained at once, as many as there may be."""
    part: list[_Fit] = []
    for fit in fits:
        if part and sum(MODELS[one.key.method].size for one in (*part, fit)) > AT_ONCE:
            yield part
            part = []
        part.append(fit)
    yield part
