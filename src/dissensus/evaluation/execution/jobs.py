"""Jobs: which fits of a comparison run in one process, as a stack if possible.

Jobs depend on the comparison alone, not on the fits that are already done or the number of
processes. A fit in a stack equals the same fit alone only up to rounding, and a comparison must
always end with the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from dissensus.corpus import Corpus
from dissensus.evaluation.execution.task import (
    Task,
    can_be_stacked,
    device_of,
    has_features_only,
    search_device,
)
from dissensus.evaluation.fit import Job, Key
from dissensus.methods.framework.base import Method

MEMBERS = {"cpu": 10, "cuda": 64}  # most fits of a job
PASSES = {"cpu": 1_000_000, "cuda": 100_000_000}  # over items and answers in about a minute
STACKED = {"cpu": 1.0, "cuda": 2.5}  # times as many in a stack: its steps are captured
TRIALS = {"cpu": 1, "cuda": 192}  # fits of trials in a job, at most, or those of one fit


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
        by_fold = sorted(
            keys, key=lambda key: fold_order[key.fold]
        )  # seeds of a fold share its data
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


def passes_of(task: Task, corpus: Corpus) -> dict[str, float]:
    """How many items and answers a training of each method sees; 0 without training."""
    return {key.method: _passes(task, corpus, key) for key in reversed(task.keys())}


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
    """How many items and answers a training sees over all epochs; 0 without training."""
    n_train = len(task.fold(key.fold).train)
    n_rows = sum(corpus[question].n_rows for question in task.questions)
    n_rows_train = n_train / max(corpus.n_items, 1) * n_rows
    return _passes_over(task.methods[key.method], n_train, n_rows_train, has_features_only(corpus))


def _passes_over(method: Method, n_items: int, n_rows: float, of_features: bool) -> float:
    from dissensus.methods.framework.trained import TrainedMethod

    if not isinstance(method, TrainedMethod):
        return 0.0
    training = method.training
    epochs = training.epochs
    if of_features:
        epochs = training.epochs_of_features(-(-n_items // training.batch_size))
    return epochs * (n_items + n_rows * method.needs_rows) * method.n_networks


def seconds_of_fit(method: Method, corpus: Corpus, n_items: int) -> float:
    """About how many seconds it takes to train a method on so many items of a corpus, in one
    process on frozen features; 0 without training."""
    n_rows = sum(answers.n_rows for answers in corpus.questions.values())
    n_rows_train = n_items / max(corpus.n_items, 1) * n_rows
    passes = _passes_over(method, n_items, n_rows_train, has_features_only(corpus))
    return 60 * passes / PASSES[device_of(method)]


def _even(keys: Sequence[Key], most: int) -> list[Job]:
    """Divide keys into parts of about the same size, at most `most` each.

    Example:
        >>> [len(part) for part in _even([Key("single", seed, "fold 1") for seed in range(7)], 3)]
        [2, 2, 3]
    """
    n = -(-len(keys) // most)
    edges = [len(keys) * part // n for part in range(n + 1)]
    return [tuple(keys[first:last]) for first, last in zip(edges, edges[1:], strict=False)]
