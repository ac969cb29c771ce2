"""Methods x seeds x folds -> Results: fitted in several processes, kept as they end, resumed."""

from __future__ import annotations

import math
import os
import shutil
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.corpus import Corpus
from dissensus.encoders import pooling_once
from dissensus.errors import DataError, DissensusError, Unfinished, listed
from dissensus.evaluation.cluster import Cluster
from dissensus.evaluation.features import encode
from dissensus.evaluation.fit import Fit, Job, Key
from dissensus.evaluation.floors import floors, metrics_for, with_gold
from dissensus.evaluation.identity import facts_of
from dissensus.evaluation.jobs import jobs_of, minutes_of
from dissensus.evaluation.place import Place, occupied
from dissensus.evaluation.protocols import Fold
from dissensus.evaluation.results import About, Results, code_commit
from dissensus.evaluation.task import Task
from dissensus.evaluation.trials import drawn
from dissensus.evaluation.workers import fits_apart, fits_here
from dissensus.methods import method as method_class
from dissensus.methods.base import Method
from dissensus.methods.choices import Choices
from dissensus.progress import progress

NOTES = 5  # on folds that are shown


def compare(
    corpus: Corpus,
    methods: Sequence[str] | Mapping[str, Method],
    *,
    folds: Sequence[Fold],
    out: str | Path,
    seeds: int | Sequence[int] = 3,
    questions: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    trials: int = 0,
    inner_folds: int = 3,
    choices: Mapping[str, Choices] | None = None,
    by: str | None = None,
    processes: int | None = None,
    cluster: str | None = None,
    budget: float | None = None,
    protocol: Mapping[str, Any] | None = None,
    command: str = "",
    notes: Sequence[str] = (),
) -> Results:
    """Fit methods on the same folds with the same seeds, and keep how each scored on each item.

    Fits that differ in seed and fold alone are trained side by side. Every fit is saved into `out`
    as it ends. The same call goes on where it was stopped, however
    that was, and ends with the same results but for times; another one into the same folder is
    refused. A fit that fails or diverges is kept as such. A method that cannot learn from the
    corpus is left out with the reason.

    Args:
        methods: names, or methods with their settings by any names.
        folds: what is learned and tested, as `k_fold`, `repeated` and `official` give them.
        seeds: how many (0, 1, ...) or which; a method that draws nothing is fitted with the first.
        questions: learned together; all if left out.
        metrics: those that tables show, and DIC, if left out.
        trials: settings tried for each fit of a method that has choices, its own among them; each
            is scored by the leading metric on `inner_folds` folds of the training part, and the
            best is fitted to all of it. 0: the methods as they are.
        choices: what to draw settings from, by method; left out, the methods' own `choices`.
        by: what belongs together, as in `Corpus.units`, in inner folds and in tests.
        processes: at work at once; left out, as many as there are processors, or one for a GPU
            (two where frozen features take it more than a minute). Figures are the same. A script
            that asks for more than one needs `if __name__ == "__main__":`.
        cluster: the address of a Dask scheduler whose workers make the fits, in the place of
            processes here.
        budget: seconds after which no new fit begins; if some are missing then, Unfinished says
            how many.
        protocol: where the folds come from, to be kept with the results.
        command: that finds the same again, likewise.

    Example:
        >>> import tempfile
        >>> from dissensus import simulate
        >>> from dissensus.evaluation import compare, k_fold, table
        >>> corpus = simulate.text(n_items=100)
        >>> with tempfile.TemporaryDirectory() as out:
        ...     results = compare(corpus, ["prior", "annotator-majority"], processes=1,
        ...                       folds=k_fold(corpus, 2), metrics=["annotator accuracy"], out=out)
        >>> len(results.fits), results.about.seeds
        (4, (0, 1, 2))
        >>> [row.name for row in table(results).rows if "annotator accuracy" in row.cells]
        ['prior', 'annotator-majority']
    """
    deadline = None if budget is None else time.monotonic() + budget
    corpus = corpus.select(questions=tuple(questions or corpus.questions))
    requested = _methods(methods)
    _check_folds(folds)
    with occupied(out) as place:
        learnable, left_out = _learnable(corpus, requested, folds[0])
        own = {name: method.choices for name, method in requested.items()}
        task = Task(
            tuple(corpus.questions),
            metrics_for(corpus, tuple(corpus.questions), folds, metrics),
            learnable,
            tuple(folds),
            _seeds(seeds),
            trials,
            inner_folds,
            own | dict(choices or {}),
            by,
            place.unfinished,
        )
        _check_trials(task)
        facts = facts_of(corpus, task, requested, protocol or {})
        command, commit = place.begin(facts, command or _call(corpus, requested), code_commit())
        n_missing = _run(place, corpus, task, processes, cluster, deadline)
        if n_missing:
            n = len(task.keys())
            raise Unfinished(
                f"the time is over: {n - n_missing} of {n} fits are done, {n_missing} are missing; "
                "the same again goes on with them"
            )
        about = About(
            corpus.name,
            task.questions,
            with_gold(corpus, task.questions, task.metrics),
            tuple(learnable),
            task.seeds,
            command,
            commit,
            dict(protocol or {}) | _search(task),
            left_out,
            floors(corpus, task.questions, task.metrics, task.folds),
            (*notes, *_fold_notes(folds), *_several(commit)),
        )
        fits = place.load(task.keys())
        results = Results.assemble(about, folds, fits, _groups(corpus, folds, by))
        results.save(out)
    return results


# ---- before anything runs ----


def _methods(given: Sequence[str] | Mapping[str, Method]) -> dict[str, Method]:
    if isinstance(given, Mapping):
        made = dict(given)
    else:
        names = [given] if isinstance(given, str) else list(given)
        made = {name: method_class(name)() for name in names}
        if len(made) < len(names):
            raise DataError(f"a method stands twice among {listed(names, 40)}")
    if not made:
        raise DataError("there is no method to compare; name some")
    return made


def _seeds(given: int | Sequence[int]) -> tuple[int, ...]:
    seeds = tuple(range(given)) if isinstance(given, int) else tuple(dict.fromkeys(given))
    if not seeds or min(seeds) < 0:
        raise DataError(f"seeds are whole numbers from 0, at least one; found {given}")
    return seeds


def _check_folds(folds: Sequence[Fold]) -> None:
    if not folds:
        raise DataError("there are no folds to learn from and to test on")
    names = [fold.name for fold in folds]
    if len(set(names)) < len(names):
        raise DataError(f"folds of one name: {listed(sorted(names), 20)}")


def _check_trials(task: Task) -> None:
    if task.trials < 0 or task.inner_folds < 2:
        raise DataError(
            f"settings are tried 0 times or more, on 2 inner folds or more; found {task.trials} "
            f"and {task.inner_folds}"
        )
    for name, method in task.methods.items():
        if task.trials and task.choices.get(name):
            drawn(method, task.choices[name], task.trials, task.seeds[0])


def _learnable(
    corpus: Corpus, requested: Mapping[str, Method], fold: Fold
) -> tuple[dict[str, Method], dict[str, str]]:
    """The methods that can learn from the first training part, and why others cannot."""
    from dissensus.encoders import readings

    train, _, _ = fold.parts(corpus)
    learnable, left_out = {}, {}
    for name, method in requested.items():
        try:
            method.check(train)
            if hasattr(method, "encoder"):
                for reading in readings(train, method.encoder).values():
                    _ = reading.encoder.identity  # it is installed
        except DissensusError as error:
            left_out[name] = str(error)
        else:
            learnable[name] = method
    if not learnable:
        reasons = "; ".join(f"{name}: {why}" for name, why in left_out.items())
        raise DataError(f"no method can learn from {corpus.name}: {reasons}")
    return learnable, left_out


# ---- running ----


def _run(
    place: Place,
    corpus: Corpus,
    task: Task,
    processes: int | None,
    cluster: str | None,
    deadline: float | None,
) -> int:
    """Fit what is missing, as far as the time goes; how many are missing then."""
    keys = task.keys()
    missing = place.missing(keys)
    wanted = set(missing)
    jobs = [job for job in jobs_of(task, corpus) if not wanted.isdisjoint(job)]
    begun = _until(deadline, jobs)
    if cluster is not None and processes is not None:
        raise DataError("a cluster has its own processes; give an address or a number, not both")
    with ExitStack() as stack:
        stack.enter_context(pooling_once())
        if cluster is not None and jobs:
            workers = stack.enter_context(closing(Cluster.at(cluster)))
            corpus.save(place.corpus)
            fits, n = workers.fits(task, place.corpus, begun), workers.n_workers
        else:
            fits, n = _fits_on_this_machine(place, corpus, task, jobs, begun, processes)
        stack.enter_context(closing(fits))
        left = _Left(missing, max(n, 1))
        advance = stack.enter_context(progress("fitting", len(keys), clock=False))
        advance(len(keys) - len(missing), left.words())
        for fit in fits:
            if fit.key in wanted:  # a job is done whole, also where some of it was kept before
                place.keep(fit)
                left.ended(fit)
                advance(1, left.words())
    place.clean()
    if not left.keys:
        shutil.rmtree(place.unfinished, ignore_errors=True)
    return len(left.keys)


def _fits_on_this_machine(
    place: Place,
    corpus: Corpus,
    task: Task,
    jobs: Sequence[Job],
    begun: Iterator[Job],
    processes: int | None,
) -> tuple[Generator[Fit], int]:
    """The fits, from one process or from several, and from how many."""
    encode(corpus, [task.methods[name] for name in dict.fromkeys(j[0].method for j in jobs)])
    n = min(_processors(task, corpus) if processes is None else processes, len(jobs))
    if n < 0 or processes == 0:
        raise DataError(f"at least one process is needed, found {processes}")
    if n < 2:
        return fits_here(task, corpus, begun), n
    corpus.save(place.corpus)
    return fits_apart(task, place.corpus, begun, n), n


def _processors(task: Task, corpus: Corpus) -> int:
    """How many processes there are unasked: one for each processor.

    On a GPU all fits of a method are one training, which leaves little to a second process; it
    takes some ten seconds to import torch and to begin on the GPU. So there are two only where
    there is more than a minute to train, and one where encoders learn, which side by side may take
    all of its memory.
    """
    methods = task.methods.values()
    trainings = [getattr(method, "training", None) for method in methods]
    if any(training is not None and training.on_gpu for training in trainings):
        frozen = all(getattr(method, "tune", "nothing") == "nothing" for method in methods)
        return 2 if frozen and minutes_of(task, corpus) > 1 else 1
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def _until(deadline: float | None, jobs: Sequence[Job]) -> Iterator[Job]:
    """Jobs, until the time is over."""
    for job in jobs:
        if deadline is not None and time.monotonic() >= deadline:
            return
        yield job


@dataclass
class _Left:
    """What is still to be done, and how long that may take."""

    keys: list[Key]
    processes: int
    seconds: dict[str, list[float]] = field(default_factory=dict)  # of fits, by method

    def ended(self, fit: Fit) -> None:
        self.keys = [key for key in self.keys if key != fit.key]
        if not math.isnan(fit.seconds):  # nobody knows how long a dead process took
            self.seconds.setdefault(fit.method, []).append(fit.seconds)

    def words(self) -> str:
        """The time left, for people; empty while nothing is known."""
        known = {name: float(np.mean(took)) for name, took in self.seconds.items()}
        if not known or not self.keys:
            return ""
        typical = float(np.mean(list(known.values())))
        seconds = sum(known.get(key.method, typical) for key in self.keys) / self.processes
        return f"about {duration(seconds)} left"


def duration(seconds: float) -> str:
    """A time for people.

    Example:
        >>> duration(42), duration(600), duration(9000)
        ('42 s', '10 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


# ---- what is kept with the fits ----


def _groups(corpus: Corpus, folds: Sequence[Fold], by: str | None) -> dict[str, str]:
    """The group of every tested item that is not alone in it."""
    units = corpus.units(by)
    tested = np.unique(np.concatenate([fold.test for fold in folds]))
    _, code, size = np.unique(units[tested], return_inverse=True, return_counts=True)
    together = size[code.reshape(-1)] > 1
    names = corpus.items.take(tested[together])
    return dict(zip(names, (str(unit) for unit in units[tested[together]]), strict=True))


def _search(task: Task) -> dict[str, Any]:
    return {"trials": task.trials, "inner folds": task.inner_folds} if task.trials else {}


def _fold_notes(folds: Sequence[Fold]) -> list[str]:
    """What is wanting in folds."""
    notes = [f"{fold.name}: {note}" for fold in folds for note in fold.notes]
    more = len(notes) - NOTES
    return notes[:NOTES] + ([f"and {more} more notes on folds"] if more > 0 else [])


def _several(commits: str) -> list[str]:
    n = commits.count(",") + 1
    return [f"fitted by {n} versions of the code: {commits}"] if n > 1 else []


def _call(corpus: Corpus, methods: Mapping[str, Method]) -> str:
    return f"dissensus.evaluation.compare({corpus.name!r}, {list(methods)!r}, ...)"
