"""Fit many methods at once: trainings of one architecture run as a stack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dissensus.corpus import Corpus
from dissensus.methods.framework.base import Method
from dissensus.methods.framework.trained import ExamplesCache, TrainedMethod
from dissensus.training.loop import Trainer
from dissensus.training.stacking.groups import Unstacked, train_all


@dataclass(frozen=True, eq=False)
class Job:
    """A method, and the data to fit it to."""

    method: Method
    corpus: Corpus
    questions: Sequence[str] | str | None = None
    validation: Corpus | None = None


def fit_many(jobs: Sequence[Job], *, stack: bool | None = None) -> list[Method]:
    """Fit the method of every job; trainings of one architecture run as a stack.

    The results are the same as one by one, up to rounding. The first error is raised after all jobs
    were tried; see `try_many`.

    Args:
        stack: None stacks where it is possible; False fits one after another.

    Example:
        >>> from dissensus import Annotations, Corpus
        >>> from dissensus.contents import Contents
        >>> from dissensus.methods import Single
        >>> answers = Annotations.from_rows([("t1", "ann", "yes"), ("t2", "ann", "no")])
        >>> features = Contents.distinct("features", [[1.0, 0.0], [0.0, 1.0]])
        >>> corpus = Corpus.build("two", answers.items, {"q": answers}, contents={"x": features})
        >>> jobs = [Job(Single(init_seed=seed), corpus) for seed in range(3)]
        >>> [fitted.init_seed for fitted in fit_many(jobs)]
        [0, 1, 2]
    """
    for error in try_many(jobs, stack=stack):
        if error is not None:
            raise error
    return [job.method for job in jobs]


def try_many(jobs: Sequence[Job], *, stack: bool | None = None) -> list[Exception | None]:
    """As `fit_many`, but returns the error of each job, or None.

    If a stack fails as a whole, for example because memory is too small, its jobs are tried again
    in two halves.
    """
    return _tried(jobs, stack, {})


def _tried(jobs: Sequence[Job], stack: bool | None, cache: ExamplesCache) -> list[Exception | None]:
    errors: list[Exception | None] = [None] * len(jobs)
    begun: dict[int, list[Trainer]] = {}
    for number, job in enumerate(jobs):
        try:
            begun[number] = begin_fit(job, cache)
        except Exception as error:
            errors[number] = error
    of_job = [number for number, runs in begun.items() for _ in runs]
    failed = train_all([run for runs in begun.values() for run in runs], stack)
    for at, failure in failed.items():
        errors[of_job[at]] = errors[of_job[at]] or failure
    for number in [number for number in begun if errors[number] is None]:
        job = jobs[number]
        try:
            if isinstance(job.method, TrainedMethod):
                judged = job.method.validation_corpus(job.validation)
                job.method.end_fit(begun[number], job.corpus, judged)
        except Exception as error:
            errors[number] = error
    begun.clear()  # frees the networks that are built again
    unstacked = [number for number, error in enumerate(errors) if isinstance(error, Unstacked)]
    for half in (unstacked[: len(unstacked) // 2], unstacked[len(unstacked) // 2 :]):
        if half:  # the trainings of a single job then run one after another
            outcomes = _tried([jobs[n] for n in half], stack if len(half) > 1 else False, cache)
            for number, outcome in zip(half, outcomes, strict=True):
                errors[number] = outcome
    return errors


def begin_fit(job: Job, cache: ExamplesCache) -> list[Trainer]:
    """The trainings of a job, ready to start; a method without any is fitted here."""
    method = job.method
    if not isinstance(method, TrainedMethod):
        method.fit(job.corpus, job.questions, job.validation)
        return []
    method.begin_fit(job.corpus, job.questions, None)
    return method.trainers(job.corpus, method.validation_corpus(job.validation), cache)


def worth_stacking(method: Method) -> bool:
    """Whether fits of a method with different seeds and folds are faster as a stack.

    With fine-tuned encoders, only on a GPU. On a CPU, arithmetic takes most of the time, stacked or
    not: five MiniLMs (batch size 8, one thread) trained 0.96 times as fast stacked as one by one,
    although ten BERTs with vectors 8 wide trained 4 times as fast.
    """
    if not isinstance(method, TrainedMethod):
        return False
    return method.tune == "nothing" or method.training.on_gpu
