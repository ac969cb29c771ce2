"""All trainings of the paper, in several processes, each kept as it ends; what is there stays."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dissensus.corpus import Corpus
from dissensus.errors import DataError, ModelError, Unfinished
from dissensus.evaluation import code_commit
from dissensus.evaluation.fit import Key, folder_name, keys_in
from dissensus.evaluation.place import Place, occupied
from dissensus.evaluation.workers import fits_apart, fits_here
from dissensus.papers.soft_labels.conditions import SEEDS, Condition, with_automatic
from dissensus.papers.soft_labels.items import Items
from dissensus.papers.soft_labels.outcome import Outcome
from dissensus.papers.soft_labels.printed import MODELS
from dissensus.progress import progress

if TYPE_CHECKING:
    from dissensus.papers.soft_labels.fitting import Task


def run(
    corpora: Mapping[str, Corpus],
    conditions: Sequence[Condition],
    out: str | Path,
    *,
    glove: str | Path | None = None,
    runs: int = 10,
    processes: int | None = None,
    time_limit: float | None = None,
    settings: Sequence[tuple[str, str]] = (),
    stack: bool = True,
    command: str = "",
    commit: str = "",
) -> None:
    """Train what is missing in the folder `out`: four models, `runs` seeds, these conditions.

    Every model with one seed in one condition is kept the moment it is done; the same call goes on
    where it was stopped, however that was, also with more conditions and more runs.

    Args:
        corpora: "pos_tweets" and "stemming", as `datasets.read` gives them.
        glove: a file of word vectors for POS tags (`make glove`).
        runs: seeds 1000, 2000, ... of the paper; at most ten.
        processes: at work at once, on a GPU too; left out, as many as there are processors.
        time_limit: seconds to end within: nothing is begun that would take longer, as far as can
            be told from what ended before. If something is missing then, Unfinished says so.
        settings: of the methods, name and value as typed, for trying things out.
        stack: whether folds of stems train side by side on a GPU.
        command, commit: to be kept with the outcomes.
    """
    from dissensus.papers.soft_labels.fitting import Task
    from dissensus.papers.soft_labels.networks import methods, told

    deadline = math.inf if time_limit is None else time.monotonic() + time_limit
    _check(runs, processes, glove)
    ready = {name: with_automatic(corpus) for name, corpus in corpora.items()}
    task = Task({c.name: methods(c, glove, settings) for c in conditions}, stack)
    keys = [
        Key(model, seed, condition.name)
        for condition in conditions
        for seed in SEEDS[:runs]
        for model in MODELS
    ]
    with occupied(out) as place:
        place.begin({"paper": "soft-labels"}, command, commit or code_commit())
        for condition in conditions:
            known = {model: told(method) for model, method in task.methods[condition.name].items()}
            Items.of(ready[condition.corpus], condition, known, glove).keep(place.folder)
        missing = place.missing(keys)
        pace = _Pace.known(place, deadline)
        made = _begun(place, task, ready, pace.begun(missing), len(missing), processes)
        left = _kept(place, made, pace, len(keys), len(missing))
    if left:
        done = len(keys) - left
        raise Unfinished(
            f"the time is over: {done} of {len(keys)} are done, {left} are missing; the same again "
            "goes on with them"
        )


def _check(runs: int, processes: int | None, glove: str | Path | None) -> None:
    """Refuse what cannot go well, before a folder says that it was begun with."""
    from dissensus.encoders.words import WordsEncoder

    if not 1 <= runs <= len(SEEDS):
        raise DataError(f"the paper has {len(SEEDS)} runs; ask for 1 to {len(SEEDS)}, not {runs}")
    if processes is not None and processes < 1:
        raise DataError(f"at least one process is needed, found {processes}")
    if glove is not None:
        _ = WordsEncoder(str(glove)).table


def _begun(
    place: Place,
    task: Task,
    corpora: Mapping[str, Corpus],
    keys: Iterator[Key],
    n_missing: int,
    processes: int | None,
) -> Generator[Outcome]:
    """The outcomes of keys, here or from worker processes."""
    from dissensus.papers.soft_labels.fitting import Opened

    n = min(_processors() if processes is None else processes, n_missing)
    jobs = ((key,) for key in keys)
    if n < 2:
        return fits_here(task, Opened(dict(corpora)), jobs)
    for name, corpus in corpora.items():
        corpus.save(place.corpus / name)
    return fits_apart(task, place.corpus, jobs, n)


def _kept(place: Place, made: Generator[Outcome], pace: _Pace, total: int, missing: int) -> int:
    """Keep what ends well; how many are missing then. What failed is said at the end."""
    failed: list[Outcome] = []
    with progress("training", total, clock=False) as advance, closing(made):
        advance(total - missing)
        for outcome in made:
            if outcome.reason:
                failed.append(outcome)
                continue
            place.keep(outcome)
            pace.ended(outcome)
            missing -= 1
            advance(1)
    place.clean()
    if failed:
        first = failed[0]
        raise ModelError(
            f"{len(failed)} of {total} failed, first {first.model}, seed {first.seed}, "
            f"{first.condition}: {first.reason}; what was done is kept"
        )
    return missing


@dataclass
class _Pace:
    """How long trainings take, and whether there is time for one more."""

    deadline: float  # by the monotonic clock
    longest: dict[str, float] = field(default_factory=dict)  # condition -> seconds

    @classmethod
    def known(cls, place: Place, deadline: float) -> _Pace:
        pace = cls(deadline)
        if deadline < math.inf:
            for outcome in outcomes(place.folder):
                pace.ended(outcome)
        return pace

    def ended(self, outcome: Outcome) -> None:
        before = self.longest.get(outcome.condition, 0.0)
        self.longest[outcome.condition] = max(before, outcome.seconds)

    def begun(self, keys: Iterable[Key]) -> Iterator[Key]:
        """The keys that there is time for."""
        for key in keys:
            if time.monotonic() + self.longest.get(key.fold, 0.0) < self.deadline:
                yield key


def outcomes(folder: str | Path) -> list[Outcome]:
    """Everything that is done in a folder, in the order of the paper's tables."""
    fits = Path(folder) / "fits"
    found = [Outcome.load(fits / name) for name in sorted(keys_in(fits))]
    strange = [outcome.key for outcome in found if outcome.model not in MODELS]
    if strange:
        raise DataError(f"{fits}: {folder_name(strange[0])} is not of this paper")
    order = list(MODELS)
    return sorted(found, key=lambda o: (o.condition, o.seed, order.index(o.model)))


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
