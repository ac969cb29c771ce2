"""Many fits as one: seeds, folds and members of one architecture are trained side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dissensus.corpus import Corpus
from dissensus.methods.base import Method
from dissensus.methods.trained import LaidOut, TrainedMethod
from dissensus.training.loop import Run
from dissensus.training.stack import Unstacked, train_all


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

    Where several cannot be trained at once after all, for want of memory for instance, they are
    trained one after another.
    """
    errors: list[Exception | None] = [None] * len(jobs)
    begun: dict[int, list[Run]] = {}
    laid_out: LaidOut = {}
    for number, job in enumerate(jobs):
        try:
            begun[number] = _begun(job, laid_out)
        except Exception as error:
            errors[number] = error
    of_job = [number for number, runs in begun.items() for _ in runs]
    failed: dict[int, Exception] = {}
    for at, found in train_all([run for runs in begun.values() for run in runs], stack).items():
        failed.setdefault(of_job[at], found)
    for number, runs in begun.items():
        try:
            errors[number] = _ended(jobs[number], runs, failed.get(number), laid_out)
        except Exception as error:
            errors[number] = error
    return errors


def _begun(job: Job, laid_out: LaidOut) -> list[Run]:
    """The trainings of a job about to begin; a method without any is fitted at once."""
    method = job.method
    if not isinstance(method, TrainedMethod):
        method.fit(job.corpus, job.questions, job.validation)
        return []
    method._begin(job.corpus, job.questions, None)
    return method._runs(job.corpus, _aligned(method, job), laid_out)


def _ended(
    job: Job, runs: list[Run], error: Exception | None, laid_out: LaidOut
) -> Exception | None:
    """Bring a fit to its end; what went wrong."""
    if isinstance(error, Unstacked):  # all of it is made anew, one training after another
        runs = _begun(job, laid_out)
        for run in runs:
            run.train()
    elif error is not None:
        return error
    if isinstance(job.method, TrainedMethod):
        job.method._end(runs, job.corpus, _aligned(job.method, job))
    return None


def _aligned(method: Method, job: Job) -> Corpus | None:
    return None if job.validation is None else method._aligned(job.validation)


def worth_stacking(method: Method) -> bool:
    """Whether fits of a method that differ in seeds and folds should be made together.

    Encoders that learn too are faster side by side on a GPU only: on a CPU their arithmetic takes
    all of the time, however it is arranged.
    """
    if not isinstance(method, TrainedMethod) or method.training.losses != "summed":
        return False
    return method.tune == "nothing" or method.training.on_gpu
