"""Run the missing fits of a comparison, in this process or in several.

A job has the fits that run in one process, as a stack if possible. Jobs depend on the comparison
alone, not on the fits that are already done or the number of processes. A fit in a stack equals the
same fit alone only up to rounding, and a comparison must always end with the same bytes.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from itertools import takewhile

from dissensus.corpus import Corpus
from dissensus.encoders import pooling_once
from dissensus.errors import DataError, Unfinished
from dissensus.evaluation.comparison_table import FLOORS
from dissensus.evaluation.execution.folder import FitFolder
from dissensus.evaluation.execution.processes import (
    fits_in_processes,
    fits_in_this_process,
    processors,
)
from dissensus.evaluation.execution.task import (
    Task,
    can_be_stacked,
    device_of,
    encode,
    has_features_only,
    search_device,
)
from dissensus.evaluation.fit import Fit, Job, Key
from dissensus.methods.framework.base import Method
from dissensus.progress import progress

MEMBERS = {"cpu": 10, "cuda": 64}  # most fits of a job
PASSES = {"cpu": 1_000_000, "cuda": 100_000_000}  # over items and answers in about a minute
STACKED = {"cpu": 1.0, "cuda": 2.5}  # times as many in a stack: its steps are captured
TRIALS = {"cpu": 1, "cuda": 192}  # fits of trials in a job, at most, or those of one fit
SHORT = 0.5  # minutes of all fits below which one process is enough
SHORT_LIMIT = 1.5  # minutes until the time limit, likewise


def fit_missing(
    place: FitFolder, corpus: Corpus, task: Task, processes: int | None, deadline: float
) -> None:
    """Run the fits that are missing; Unfinished if the time limit is reached before."""
    keys = task.keys()
    missing = place.missing(keys)
    wanted, left = set(missing), set(missing)
    jobs = [job for job in jobs_of(task, corpus) if not wanted.isdisjoint(job)]
    begun = takewhile(lambda job: time.monotonic() < deadline, jobs)
    with ExitStack() as stack:
        stack.enter_context(pooling_once())
        fits = _fits(place, corpus, task, jobs, begun, processes, deadline)
        stack.enter_context(closing(fits))
        advance = stack.enter_context(progress("fitting", len(keys)))
        advance(len(keys) - len(missing))
        for fit in fits:
            if fit.key in wanted:  # a job runs whole, even if some of its fits were saved before
                place.keep(fit)
                left.discard(fit.key)
                advance(1)
    place.clean()
    if left:
        raise Unfinished(
            f"time limit reached: {len(keys) - len(left)} of {len(keys)} fits done; run the "
            "same command again to resume"
        )
    place.forget()


def _fits(
    place: FitFolder,
    corpus: Corpus,
    task: Task,
    jobs: Sequence[Job],
    begun: Iterable[Job],
    processes: int | None,
    deadline: float,
) -> Generator[Fit]:
    """The fits, from one process or several."""
    encode(corpus, [task.methods[name] for name in dict.fromkeys(j[0].method for j in jobs)])
    left = deadline - time.monotonic()
    n = default_processes(task, corpus, left) if processes is None else processes
    n = min(n, len(jobs))
    if n < 0 or processes == 0:
        raise DataError(f"at least one process is needed, found {processes}")
    if n < 2:
        return fits_in_this_process(task, corpus, begun, deadline)
    corpus.save(place.corpus, overwrite=True)
    roots = {root for one in corpus.contents.values() for root in one.roots or (os.sep,)}
    task = replace(task, media=tuple(sorted(roots)))
    return fits_in_processes(task, place.corpus, begun, n, deadline)


def default_processes(task: Task, corpus: Corpus, left: float = math.inf) -> int:
    """The default number of processes: one per CPU core, or one for what takes less than half a
    minute, because a new process needs about ten seconds to import torch and read the corpus.

    On a GPU all fits of a method are one training, so that a second process has little to do; it
    needs about ten seconds to import torch and to start on the GPU. So there are two only where
    training takes more than a minute, and one where encoders are fine-tuned, because two might
    exceed the GPU's memory.

    Args:
        left: seconds until the time limit.
    """
    methods = task.methods.values()
    trainings = [getattr(method, "training", None) for method in methods]
    if any(training is not None and training.on_gpu for training in trainings):
        frozen = all(getattr(method, "tune", "nothing") == "nothing" for method in methods)
        return 2 if frozen and minutes_of(task, corpus) > 1 else 1
    short = minutes_of(task, corpus) < SHORT or left / 60 < SHORT_LIMIT
    return 1 if short and all(_is_estimated(method) for method in methods) else processors()


def _is_estimated(method: Method) -> bool:
    """Whether `minutes_of` knows how long fits of a method take."""
    from dissensus.methods.framework.trained import TrainedMethod

    frozen = isinstance(method, TrainedMethod) and method.tune == "nothing"
    return frozen or method.item_passes is not None or method.name in FLOORS


def duration(seconds: float) -> str:
    """A duration as text.

    Example:
        >>> duration(42), duration(600), duration(9000)
        ('42 s', '10 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


# ---- jobs, and how long they take ----


def jobs_of(task: Task, corpus: Corpus) -> list[Job]:
    """All fits of the task; fits of one method that can be stacked share a job, on a GPU also if
    their settings are searched."""
    stacks: dict[str | Key, list[Key]] = {}
    for key in task.keys():
        alone = not can_be_stacked(task.methods[key.method])
        stacks.setdefault(key if alone else key.method, []).append(key)
    fold_order = {fold.name: at for at, fold in enumerate(task.folds)}
    jobs: list[Job] = []
    for keys in stacks.values():
        by_fold = sorted(keys, key=lambda key: fold_order[key.fold])  # seeds share a fold's data
        jobs += _even(by_fold, _most(task, corpus, by_fold[0]))
    order = {key: at for at, key in enumerate(task.keys())}
    return sorted(jobs, key=lambda job: order[job[0]])


def minutes_of(task: Task, corpus: Corpus) -> float:
    """About how many minutes all trainings take in one process, on frozen features."""
    total = 0.0
    for key in task.keys():
        passes, device = _passes(task, corpus, key), device_of(task.methods[key.method])
        total += (1 + _n_trial_fits(task, key)) * passes / PASSES[device]
    return total


def _n_trial_fits(task: Task, key: Key) -> int:
    """How many fits choose the settings of one."""
    return task.trials * task.inner_folds * task.searches(key)


def _most(task: Task, corpus: Corpus, key: Key) -> int:
    """How many fits a job may have, so that one that is killed loses at most about a minute."""
    method, passes = task.methods[key.method], _passes(task, corpus, key)
    device, n_trial_fits = device_of(method), _n_trial_fits(task, key)
    in_minute = PASSES[device] * STACKED[device] / max(passes * (1 + n_trial_fits), 1)
    most = min(MEMBERS[device], int(in_minute)) if passes else 1
    if n_trial_fits:
        most = min(most, TRIALS[search_device(method)] // n_trial_fits)
    return max(1, most)


def _passes(task: Task, corpus: Corpus, key: Key) -> float:
    return _passes_over(task.methods[key.method], corpus, len(task.fold(key.fold).train))


def _passes_over(method: Method, corpus: Corpus, n_items: int) -> float:
    """How many items and answers a training on so many items of a corpus sees over all epochs; 0
    for floors."""
    from dissensus.methods.framework.trained import TrainedMethod

    if not isinstance(method, TrainedMethod):
        return (method.item_passes or 0.0) * n_items
    n_rows = sum(answers.n_rows for answers in corpus.questions.values())
    n_rows_train = n_items / max(corpus.n_items, 1) * n_rows
    training = method.training
    epochs = training.epochs
    if has_features_only(corpus):
        epochs = training.epochs_of_features(-(-n_items // training.batch_size))
    return epochs * (n_items + n_rows_train * method.needs_rows) * method.n_networks


def seconds_of_fit(method: Method, corpus: Corpus, n_items: int) -> float:
    """About how many seconds it takes to train a method on so many items of a corpus, in one
    process on frozen features; 0 without training."""
    return 60 * _passes_over(method, corpus, n_items) / PASSES[device_of(method)]


def _even(keys: Sequence[Key], most: int) -> list[Job]:
    """Divide keys into parts of about the same size, at most `most` each."""
    n = -(-len(keys) // most)
    edges = [len(keys) * part // n for part in range(n + 1)]
    return [tuple(keys[first:last]) for first, last in zip(edges, edges[1:], strict=False)]
