"""Which fits of a comparison are made together, in one process and where possible as one training.

Jobs depend on the comparison alone, not on what is done already nor on how many processes there
are: side by side a fit ends as by itself only up to rounding, and the same comparison shall end
with the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from dissensus.corpus import Corpus
from dissensus.evaluation.execution.task import Task
from dissensus.evaluation.fit import Job, Key
from dissensus.methods.framework.base import Method

MEMBERS = {"cpu": 10, "cuda": 64}  # fits of a job, at most
PASSES = {"cpu": 1_000_000, "cuda": 100_000_000}  # over items and answers: a minute, about


def jobs_of(task: Task, corpus: Corpus) -> list[Job]:
    """Every fit of the task; those of one method together that can be trained side by side."""
    together: dict[str | Key, list[Key]] = {}
    for key in task.keys():
        alone = task.searches(key) or not _side_by_side(task.methods[key.method])
        together.setdefault(key if alone else key.method, []).append(key)
    place = {fold.name: at for at, fold in enumerate(task.folds)}
    made: list[Job] = []
    for keys in together.values():
        by_fold = sorted(keys, key=lambda key: place[key.fold])  # seeds of a fold share its data
        made += _even(by_fold, _most(task, corpus, by_fold[0]))
    order = {key: at for at, key in enumerate(task.keys())}
    return sorted(made, key=lambda job: order[job[0]])


def _side_by_side(method: Method) -> bool:
    from dissensus.methods.framework.stacked_fits import worth_stacking

    return worth_stacking(method)


def minutes_of(task: Task, corpus: Corpus) -> float:
    """How long all trainings take one process, about, on frozen features."""
    total = 0.0
    for key in task.keys():
        n_fits = 1 + task.trials * task.inner_folds * task.searches(key)
        total += n_fits * _passes(task, corpus, key) / PASSES[_device(task.methods[key.method])]
    return total


def _most(task: Task, corpus: Corpus, key: Key) -> int:
    """How many fits may be one job: so many that one which is killed loses a minute at most."""
    passes, device = _passes(task, corpus, key), _device(task.methods[key.method])
    return max(1, min(MEMBERS[device], int(PASSES[device] / max(passes, 1)))) if passes else 1


def _passes(task: Task, corpus: Corpus, key: Key) -> float:
    """Items and answers that a training sees; none, where nothing is trained."""
    from dissensus.methods.framework.trained import TrainedMethod

    method = task.methods[key.method]
    if not isinstance(method, TrainedMethod):
        return 0.0
    share = len(task.fold(key.fold).train) / max(corpus.n_items, 1)
    n_rows = sum(corpus[question].n_rows for question in task.questions)
    passes = method.training.epochs * share * (corpus.n_items + n_rows * method.needs_rows)
    return passes * method.n_networks


def _device(method: Method) -> str:
    training = getattr(method, "training", None)
    return "cuda" if training is not None and training.on_gpu else "cpu"


def _even(keys: Sequence[Key], most: int) -> list[Job]:
    """Parts of about the same size, none above `most`.

    Example:
        >>> [len(part) for part in _even([Key("single", seed, "fold 1") for seed in range(7)], 3)]
        [2, 2, 3]
    """
    n = -(-len(keys) // most)
    edges = [len(keys) * part // n for part in range(n + 1)]
    return [tuple(keys[first:last]) for first, last in zip(edges, edges[1:], strict=False)]
