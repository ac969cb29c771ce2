"""Many fits as one: seeds, folds and members of one architecture are trained side by side."""

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
    """A fit to be made."""

    method: Method
    corpus: Corpus
    questions: Sequence[str] | str | None = None
    validation: Corpus | None = None


def fit_many(jobs: Sequence[Job], *, stack: bool | None = None) -> list[Method]:
    """Fit every job's method; those of one architecture train side by side.

    The methods end as they would one by one, but for rounding. The first error ends it all; see
    `try_many`.

    Args:
        stack: None stacks where it is possible; False fits one after another.

    Example:
        >>> from dissensus import Annotations, Corpus
        >>> from dissensus.contents import Contents
        >>> from dissensus.methods import Single
        >>> people = Annotations.from_rows([("t1", "ann", "yes"), ("t2", "ann", "no")])
        >>> shown = Contents.distinct("features", [[1.0, 0.0], [0.0, 1.0]])
        >>> corpus = Corpus.build("two", people.items, {"q": people}, contents={"x": shown})
        >>> jobs = [Job(Single(init_seed=seed), corpus) for seed in range(3)]
        >>> [fitted.init_seed for fitted in fit_many(jobs)]
        [0, 1, 2]
    """
    for error in try_many(jobs, stack=stack):
        if error is not None:
            raise error
    return [job.method for job in jobs]


def try_many(jobs: Sequence[Job], *, stack: bool | None = None) -> list[Exception | None]:
    """As `fit_many`, but a job that fails leaves the others alone: each one's error, if any.

    Where several cannot be trained at once after all, for want of memory for instance, each half
    of them is tried by itself.
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
    for at, found in train_all([run for runs in begun.values() for run in runs], stack).items():
        errors[of_job[at]] = errors[of_job[at]] or found
    for number in [number for number in begun if errors[number] is None]:
        try:
            _end(jobs[number], begun[number])
        except Exception as error:
            errors[number] = error
    begun.clear()  # networks that are begun anew need not be there twice
    anew = [number for number, error in enumerate(errors) if isinstance(error, Unstacked)]
    for half in (anew[: len(anew) // 2], anew[len(anew) // 2 :]):
        if half:  # the trainings of a single job are made one after another then
            again = _tried([jobs[n] for n in half], stack if len(half) > 1 else False, cache)
            for number, outcome in zip(half, again, strict=True):
                errors[number] = outcome
    return errors


def begin_fit(job: Job, cache: ExamplesCache) -> list[Trainer]:
    """The trainings of a job about to begin; a method without any is fitted at once."""
    method = job.method
    if not isinstance(method, TrainedMethod):
        method.fit(job.corpus, job.questions, job.validation)
        return []
    method.begin_fit(job.corpus, job.questions, None)
    return method.trainers(job.corpus, _aligned(method, job), cache)


def _end(job: Job, runs: list[Trainer]) -> None:
    """Bring a fit to its end whose trainings are made."""
    if isinstance(job.method, TrainedMethod):
        job.method.end_fit(runs, job.corpus, _aligned(job.method, job))


def _aligned(method: Method, job: Job) -> Corpus | None:
    return None if job.validation is None else method.align(job.validation)


def worth_stacking(method: Method) -> bool:
    """Whether fits of a method that differ in seeds and folds should be made together.

    Encoders that learn too are faster side by side on a GPU only. On a CPU their arithmetic takes
    the time, however it is arranged: five MiniLMs at batch size 8 and one thread were trained 0.96
    times as fast together as one by one (of a BERT with vectors 8 wide ten were, 4 times).
    """
    if not isinstance(method, TrainedMethod) or method.training.losses != "summed":
        return False
    return method.tune == "nothing" or method.training.on_gpu
