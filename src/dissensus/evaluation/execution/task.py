"""The fits of a comparison: choose settings, fit, predict the test part, compute scores."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from dissensus.aggregation import Mace
from dissensus.annotations import Annotations
from dissensus.contents import media_within
from dissensus.corpus import Corpus
from dissensus.densities import rating_densities
from dissensus.description.marks import Marks, name_without, without_marked
from dissensus.errors import CheckpointError, DissensusError, ModelError
from dissensus.evaluation.density_readings import DensityReading
from dissensus.evaluation.execution.processes import check_gpu
from dissensus.evaluation.fit import Fit, Job, Key, folder_name, item_table, number, plain
from dissensus.evaluation.protocols import Fold, nested
from dissensus.files.checked_json import parse_json
from dissensus.files.folders import staged
from dissensus.files.plain import plain_bytes
from dissensus.methods.framework.base import Method
from dissensus.methods.framework.pairs import predicting_once
from dissensus.methods.framework.settings import Choices, changed, draws, seeded, settings_of
from dissensus.metrics import (
    DENSITY_METRICS,
    GOLD,
    METRICS,
    gold_item_scores,
    gold_scores,
    item_scores,
    scores,
)
from dissensus.metrics.annotators import surprise
from dissensus.metrics.soft import SMALLEST
from dissensus.names import Names
from dissensus.prediction import Prediction
from dissensus.scales import Scale

DIVERGED = "training diverged"
AT_ONCE = {"cpu": 24, "cuda": 192}  # fits of trials whose settings are tried at the same time
WEIGHED = "cross-entropy"  # the metric whose answers are weighed if settings are chosen by it
TrialParts = tuple[Corpus, Corpus, Corpus | None]  # to train on, to score, to choose the epoch on


@dataclass(frozen=True, eq=False)
class Task:
    """Everything that determines the fits of a comparison, except the corpus."""

    questions: tuple[str, ...]
    metrics: tuple[str, ...]
    methods: Mapping[str, Method]
    folds: tuple[Fold, ...]
    seeds: tuple[int, ...]
    trials: int
    inner_folds: int
    choices: Mapping[str, Choices]  # of each method
    by: str | None  # how items are grouped, in inner folds too
    unfinished: Path  # folder for checkpoints and trials of unfinished fits
    densities: tuple[DensityReading, ...] = ()  # how densities are predicted and scored
    scoring: str | None = None  # the metric that settings are chosen by; the main one if None
    consensus: Literal["own", "all"] | None = None  # as in `Method.predict`; None: "all" for gold
    marks: Mapping[str, Marks] = field(default_factory=dict)  # suspicious annotators, by question
    media: tuple[str, ...] = ()  # folders that other processes may open media in

    def keys(self) -> list[Key]:
        """Every fit, fold by fold; a method without randomness has only the first seed."""
        return [
            Key(name, seed, fold.name)
            for seed in self.seeds
            for fold in self.folds
            for name, method in self.methods.items()
            if seed == self.seeds[0] or draws(method)
        ]

    def searches(self, key: Key) -> bool:
        """Whether settings are tried for a fit."""
        return bool(self.trials and self.choices.get(key.method))

    def fold(self, name: str) -> Fold:
        return next(fold for fold in self.folds if fold.name == name)

    def fit(self, key: Key) -> Fit:
        """A fit without scores."""
        return Fit(*key, run=self.fold(key.fold).run)

    def state(self, key: Key) -> Path:
        """The folder for the checkpoint and the trials of an unfinished fit."""
        return self.unfinished / folder_name(key)

    # ---- for worker processes ----

    def opened(self, folder: Path) -> Corpus:
        with media_within(*self.media):
            return Corpus.load(folder)

    def done(self, opened: Corpus, job: Job) -> Iterator[Fit]:
        return fits_of(self, opened, job)

    def died(self, key: Key, why: str) -> Fit:
        return replace(self.fit(key), status="failed", reason=why)


def fits_of(task: Task, corpus: Corpus, job: Job) -> Iterator[Fit]:
    """The fits of a job, stacked if there are several; a fit that fails has the reason."""
    if len(job) == 1:
        yield _fitted(task, corpus, job[0])
        return
    from dissensus.methods.framework import stacked_fits
    from dissensus.methods.framework.trained import TrainedMethod

    began = time.monotonic()
    try:
        searched = _searched(task, corpus, job)
    except Exception:  # of one of the fits, which then has the reason
        yield from (_fitted(task, corpus, key) for key in job)
        return
    parts = {name: task.fold(name).parts(corpus) for name in {key.fold for key in job}}
    methods = [method for method, _ in searched]
    jobs = [
        stacked_fits.Job(method, parts[key.fold][0], task.questions, parts[key.fold][2])
        for key, method in zip(job, methods, strict=True)
    ]
    errors = stacked_fits.try_many(jobs)
    share = (time.monotonic() - began) / len(job)
    encoded: dict[str, Method] = {}  # a method that has encoded the test part, by fold
    for key, (method, tried), error in zip(job, searched, errors, strict=True):
        began = time.monotonic()
        fit = replace(task.fit(key), tried=tried, settings=plain(settings_of(method)))
        try:
            if error is not None:
                raise error
            source = encoded.setdefault(key.fold, method)
            if isinstance(method, TrainedMethod) and isinstance(source, TrainedMethod):
                method.share_encodings(source)
            fit = _tested(fit, task, method, parts[key.fold][1])
        except Exception as wrong:
            fit = _marked(fit, wrong)
        yield replace(fit, seconds=share + time.monotonic() - began)


def _fitted(task: Task, corpus: Corpus, key: Key) -> Fit:
    """One fit by itself; it resumes from its checkpoint if there is one."""
    began, fit = time.monotonic(), task.fit(key)
    try:
        ((method, tried),) = _searched(task, corpus, (key,))
        fit = replace(fit, tried=tried, settings=plain(settings_of(method)))
        train, test, validation = task.fold(key.fold).parts(corpus)
        checkpoint = task.state(key) / "training"
        try:
            method.fit(train, task.questions, validation, checkpoint=checkpoint)
        except CheckpointError:  # of an earlier version of the code
            method.forget_checkpoint()
            method.fit(train, task.questions, validation, checkpoint=checkpoint)
        fit = _tested(fit, task, method, test)
        method.forget_checkpoint()
    except Exception as error:
        fit = _marked(fit, error)
    return replace(fit, seconds=time.monotonic() - began)


def _tested(fit: Fit, task: Task, method: Method, test: Corpus) -> Fit:
    """The fit with the scores of the method on the test part."""
    with predicting_once():
        training_notes = method.notes_
        predictions = method.predict(test, consensus=task.consensus or "own")
        notes = tuple(dict.fromkeys([*training_notes, *method.notes_]))
        against_gold = predictions
        if task.consensus is None and _differs_for_gold(method, test, task.questions):
            against_gold = method.predict(test, consensus="all")
        fit = replace(with_scores(fit, task, predictions, against_gold, test), notes=notes)
        fit = _without_marked(fit, task, method, test)
        return _with_densities(fit, task, method, test) if task.densities else fit


def _differs_for_gold(method: Method, test: Corpus, questions: tuple[str, ...]) -> bool:
    """Whether an item with a gold label has annotators of its own, whose mean the method would
    predict; without them it is the mean of all."""
    if not method.individual or method.predicts_truth:
        return False
    gold = [test.gold[question].item for question in questions if question in test.gold]
    answered = np.concatenate([test[question].item for question in questions])
    return bool(gold) and bool(np.isin(np.concatenate(gold), answered).any())


def _marked(fit: Fit, error: Exception) -> Fit:
    """The fit with its status, and the reason why it did not succeed.

    If the GPU is lost, the fit has no status: it must be run again by another process.
    """
    check_gpu()
    text = str(error).strip()
    if isinstance(error, ModelError) and text.startswith(DIVERGED):
        return replace(fit, status="diverged", reason=text)
    if isinstance(error, DissensusError) and text:
        return replace(fit, status="failed", reason=text)
    first = text.splitlines()[0] if text else "without a message"
    return replace(fit, status="failed", reason=f"{type(error).__name__}: {first}")


# ---- scores ----


def with_scores(
    fit: Fit,
    task: Task,
    predictions: Mapping[str, Prediction],
    against_gold: Mapping[str, Prediction],
    test: Corpus,
) -> Fit:
    """The fit with the scores of predictions; questions without a prediction have none."""
    of_questions: dict[str, dict[str, float]] = {}
    items: dict[str, dict[str, tuple[Names, np.ndarray]]] = {}
    for question in (name for name in task.questions if name in predictions):
        prediction, answers = predictions[question], test[question]
        gold = test.gold.get(question)
        of_questions[question], items[question] = {}, {}
        if answers.n_rows:
            of_questions[question] = scores(prediction, answers, metrics=task.metrics)
            items[question] = item_scores(prediction, answers, task.metrics)
        if gold is not None and gold.n_rows:
            prediction = against_gold[question]
            of_questions[question] |= gold_scores(prediction, gold, task.metrics)
            items[question] |= gold_item_scores(prediction, gold, task.metrics)
    return replace(fit, scores=of_questions, items=item_table(items))


def _without_marked(fit: Fit, task: Task, method: Method, test: Corpus) -> Fit:
    """Add the scores of predictions for all but marked annotators, and against these, under a name
    like that of a question."""
    of_questions, items = dict(fit.scores), [fit.items]
    for question, marks in task.marks.items():
        answers = without_marked(test[question], marks)
        rest = replace(test, questions={**test.questions, question: answers})
        prediction = method.predict(rest, consensus=task.consensus or "own").get(question)
        if prediction is not None and answers.n_rows:
            name = name_without(question, marks)
            of_questions[name] = scores(prediction, answers, metrics=task.metrics)
            items.append(item_table({name: item_scores(prediction, answers, task.metrics)}))
    return replace(fit, scores=of_questions, items=pa.concat_tables(items).combine_chunks())


def _with_densities(fit: Fit, task: Task, method: Method, test: Corpus) -> Fit:
    """Add the scores of the densities, each under a name like that of a question."""
    scores, items = dict(fit.scores), [fit.items]
    for reading in task.densities:
        observed = rating_densities(test, task.questions, reading.kde.bins)
        density = reading.predict(method, test)
        name = reading.name(task.questions)
        each = {m: metric.item_scores(density, observed) for m, metric in DENSITY_METRICS.items()}
        scores[name] = {m: float(np.mean(values)) for m, (_, values) in each.items()}
        items.append(item_table({name: each}))
    return replace(fit, scores=scores, items=pa.concat_tables(items).combine_chunks())


# ---- encoders and devices ----


def encode(corpus: Corpus, methods: Iterable[Method]) -> None:
    """Fill the feature cache, so that several processes do not all compute the same."""
    from dissensus.encoders import encodings

    names = {}
    for method in methods:
        if hasattr(method, "encoder") and getattr(method, "tune", "nothing") == "nothing":
            names[json.dumps(method.encoder, sort_keys=True)] = method.encoder
    for name in names.values():
        for encoding in encodings(corpus, name).values():
            if encoding.encoder.cached:
                encoding.store()


def has_features_only(corpus: Corpus) -> bool:
    """Whether all contents are features."""
    kinds = {contents.kind for contents in corpus.contents.values()}
    return kinds == {"features"}


def device_of(method: Method) -> str:
    """Where the trainings of a method run: "cpu" or "cuda"."""
    training = getattr(method, "training", None)
    return "cuda" if training is not None and training.on_gpu else "cpu"


def search_device(method: Method) -> str:
    """As `device_of`, but "cpu" if encoders are fine-tuned: no more of them fit into the memory of
    a GPU."""
    return device_of(method) if getattr(method, "tune", "nothing") == "nothing" else "cpu"


def can_be_stacked(method: Method) -> bool:
    """Whether fits of a method are trained as one, because that is faster."""
    from dissensus.methods.framework.stacked_fits import worth_stacking

    return worth_stacking(method)


# ---- the choice of settings ----


class _Search(NamedTuple):
    """The settings to try for a fit, and the parts of its training items to try them on."""

    key: Key
    method: Method
    settings: list[dict[str, Any]]
    parts: list[TrialParts]
    weights: Mapping[str, np.ndarray]  # of annotators, by question


def _searched(
    task: Task, corpus: Corpus, keys: Sequence[Key]
) -> list[tuple[Method, list[dict[str, Any]]]]:
    """The method of each fit with its best settings, and all that were tried."""
    if not task.searches(keys[0]):
        return [(seeded(task.methods[key.method], key.seed), []) for key in keys]
    searches = [_search(task, corpus, key) for key in keys]
    metrics = chosen_by(corpus, task.questions, task.scoring)
    return [
        (changed(search.method, search.settings[best(tried, metrics)]), tried)
        for search, tried in zip(searches, _tried(task, corpus, searches), strict=True)
    ]


def _search(task: Task, corpus: Corpus, key: Key) -> _Search:
    method, fold = seeded(task.methods[key.method], key.seed), task.fold(key.fold)
    settings = drawn(method, task.choices[key.method], task.trials, key.seed)
    parts: list[TrialParts]
    if chooses_on_validation(corpus, task.questions, fold, task.scoring):
        train, _, validation = fold.parts(corpus)
        assert validation is not None
        parts = [(train, validation, validation)]
    else:
        inner = nested(corpus, fold, task.inner_folds, key.seed, task.by)
        parts = [(*part.parts(corpus)[:2], None) for part in inner]
    weighed = weighed_questions(corpus, task.questions, task.scoring)
    return _Search(key, method, settings, parts, competences(fold.parts(corpus)[0], weighed))


def _tried(task: Task, corpus: Corpus, searches: Sequence[_Search]) -> list[list[dict[str, Any]]]:
    """Every setting of each search with its score on folds of the training part; finished trials
    are read from their files."""
    method, n_parts = searches[0].method, max(len(search.parts) for search in searches)
    at_once = AT_ONCE[search_device(method)] // n_parts if can_be_stacked(method) else 1
    trials = [(search, number) for search in searches for number in range(task.trials)]
    paths = [task.state(search.key) / f"trial-{number}.json" for search, number in trials]
    for first in range(0, len(trials), max(1, at_once)):
        some = slice(first, first + max(1, at_once))
        if not all(path.exists() for path in paths[some]):
            variants = [
                (changed(search.method, search.settings[number]), search)
                for search, number in trials[some]
            ]
            scored = _scored(task, corpus, variants)
            for path, (search, number), result in zip(
                paths[some], trials[some], scored, strict=True
            ):
                entry = {"settings": plain(search.settings[number]), **plain(result)}
                with staged(path) as new:
                    new.write_text(json.dumps(entry), encoding="utf-8")
    entries = iter([parse_json(plain_bytes(path), path) for path in paths])
    return [[next(entries) for _ in search.settings] for search in searches]


def chooses_on_validation(
    corpus: Corpus, questions: tuple[str, ...], fold: Fold, scoring: str | None
) -> bool:
    """Whether settings are chosen on the validation part: by gold labels that it has."""
    if fold.validation is None or scoring is None or not scoring.endswith(GOLD):
        return False
    gold = [corpus.gold[question].item for question in questions if question in corpus.gold]
    return any(np.isin(fold.validation, items).any() for items in gold)


def _scored(
    task: Task, corpus: Corpus, variants: list[tuple[Method, _Search]]
) -> Iterator[dict[str, Any]]:
    """For each variant: the mean of the metrics over its parts, the scores of each part, and the
    reason if it failed. All variants are fitted at once."""
    from dissensus.methods.framework import stacked_fits

    leading = chosen_by(corpus, task.questions, task.scoring)
    methods = [[changed(method, {}) for _ in search.parts] for method, search in variants]
    jobs = [
        stacked_fits.Job(method, train, task.questions, validation)
        for of_parts, (_, search) in zip(methods, variants, strict=True)
        for method, (train, _, validation) in zip(of_parts, search.parts, strict=True)
    ]
    errors = iter(stacked_fits.try_many(jobs))
    for of_parts, (_, search) in zip(methods, variants, strict=True):
        own = [next(errors) for _ in search.parts]
        each: dict[str, list[float]] = {question: [] for question in leading}
        reason = ""
        try:
            for method, error, (_, test, _) in zip(of_parts, own, search.parts, strict=True):
                if error is not None:
                    raise error
                for question, score in _main_scores(method, test, leading, search.weights).items():
                    each[question].append(score)
        except Exception as error:
            wrong = _marked(Fit("", 0, ""), error)
            reason = f"{wrong.status}: {wrong.reason}"
        missing = [math.nan] * len(search.parts)
        by_fold = {
            question: {leading[question]: [*known, *missing][: len(missing)]}
            for question, known in each.items()
        }
        means = {
            question: {metric: float(np.mean(values)) for metric, values in metrics.items()}
            for question, metrics in by_fold.items()
        }
        yield {"scores": means, "by_fold": by_fold, "reason": reason}


def _main_scores(
    method: Method, test: Corpus, leading: Mapping[str, str], weights: Mapping[str, np.ndarray]
) -> dict[str, float]:
    """The score of each question on the metric that settings are chosen by.

    Args:
        weights: of the annotators, by question, where their answers are weighed.
    """
    of_gold = any(metric.endswith(GOLD) for metric in leading.values())
    predictions = method.predict(test, consensus="all" if of_gold else "own")
    by_question = {}
    for question, metric in leading.items():
        prediction, answers = predictions[question], test[question]
        if question in weights:
            own = method.individual and not method.predicts_truth
            by_question[question] = weighed_cross_entropy(
                prediction, answers, weights[question], by_annotator=own
            )
            continue
        gold = test.gold.get(question)
        by_question[question] = scores(prediction, answers, gold, [metric])[metric]
    return by_question


# ---- trials: which settings, scored by which metric, and which are best ----


def leading_metric(scale: Scale) -> str:
    """The main metric of a scale: the first in tables, and the one that settings are chosen by.

    Example:
        >>> from dissensus.scales import Interval, Nominal
        >>> leading_metric(Nominal(("no", "yes"))), leading_metric(Interval(0, 1))
        ('cross-entropy', 'CCC')
    """
    return next(name for name, metric in METRICS.items() if scale.kind in metric.scales)


def chosen_by(corpus: Corpus, questions: Sequence[str], scoring: str | None) -> dict[str, str]:
    """The metric that settings are chosen by, for each question that it applies to."""
    scales = {question: corpus[question].scale for question in questions}
    if scoring is None:
        return {question: leading_metric(scale) for question, scale in scales.items()}
    metric = METRICS[scoring.removesuffix(GOLD)]
    return {
        question: scoring
        for question, scale in scales.items()
        if scale.kind in metric.scales and (metric.name == scoring or question in corpus.gold)
    }


def weighed_questions(
    corpus: Corpus, questions: Sequence[str], scoring: str | None
) -> tuple[str, ...]:
    """The questions whose answers are weighed by the competence of annotators when settings are
    chosen: those with a truth, as gold labels show, where annotators are known."""
    metrics = chosen_by(corpus, questions, scoring)
    return tuple(
        question
        for question, metric in metrics.items()
        if scoring is None
        and metric == WEIGHED
        and question in corpus.gold
        and corpus[question].annotator is not None
        and corpus[question].scale.kind == "nominal"
    )


def competences(train: Corpus, questions: Sequence[str]) -> dict[str, np.ndarray]:
    """How likely each annotator knows the answer, (n_annotators,), as MACE estimates it from the
    answers of a training part, for each question."""
    return {question: Mace().fit(train[question]).competence_ for question in questions}


def weighed_cross_entropy(
    prediction: Prediction, answers: Annotations, weight: np.ndarray, *, by_annotator: bool
) -> float:
    """The mean of -ln q over answers, weighed by their annotators; nan without any weight.

    Args:
        weight: of each annotator, (n_annotators,).
        by_annotator: whether q is what was predicted for the annotator, or for the item.
    """
    if by_annotator:
        rows, of_answers = surprise(prediction, answers)
    else:
        item = prediction.items.find(answers.items)[answers.item]
        rows = np.flatnonzero(item >= 0)
        answer = answers.to(prediction.scale).answer[rows]
        mass = prediction.distribution[item[rows], answer].astype(float)
        of_answers = -np.log(np.maximum(mass, SMALLEST))
    of_rows = weight[answers.annotator_codes(WEIGHED)[rows]]
    return float((of_rows * of_answers).sum() / of_rows.sum()) if of_rows.sum() > 0 else math.nan


def drawn(method: Method, choices: Choices, n: int, seed: int) -> list[dict[str, Any]]:
    """n different settings: the method's own, then some drawn at random from the choices.

    Methods with the same choices try the same settings.

    Example:
        >>> from dissensus.methods.annotator_majority import AnnotatorMajority
        >>> drawn(AnnotatorMajority(), {"smoothing": (0.5, 1.0, 2.0)}, n=3, seed=0)
        [{'smoothing': 1.0}, {'smoothing': 2.0}, {'smoothing': 0.5}]
    """
    # an error if one does not exist
    changed(method, {name: values[0] for name, values in choices.items()})
    known = settings_of(method)
    first = {name: known[name] for name in choices}
    sizes = [len(values) for values in choices.values()]
    settings = [first]
    for code in np.random.default_rng(seed).permutation(math.prod(sizes)):
        place = np.unravel_index(code, sizes) if sizes else ()
        candidate = {
            name: values[k] for (name, values), k in zip(choices.items(), place, strict=True)
        }
        if len(settings) < n and candidate not in settings:
            settings.append(candidate)
    if len(settings) < n:
        raise ModelError(
            f"{method.name} has {len(settings)} settings to try, fewer than {n} trials; use fewer "
            "trials, or add choices"
        )
    return settings


def best(tried: Sequence[Mapping[str, Any]], metrics: Mapping[str, str]) -> int:
    """The index of the settings with the best score; with several questions, the best mean rank.

    Settings without a score come last. Of equal ones the first is taken, so the defaults win ties.

    Args:
        tried: each with `scores`, by question and metric.
        metrics: by which settings are chosen, for each question.
    """
    ranks = np.zeros(len(tried))
    for question, metric in metrics.items():
        scores = np.array([number(one["scores"].get(question, {}).get(metric)) for one in tried])
        lower = -scores if METRICS[metric.removesuffix(GOLD)].higher_is_better else scores
        lower = np.where(np.isnan(lower), np.inf, lower)
        ranks += (lower[:, None] > lower[None, :]).sum(axis=1)
    return int(ranks.argmin())
