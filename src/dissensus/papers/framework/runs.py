"""Trainings of a paper, in several processes, each kept as it ends; what is there stays."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Protocol

from dissensus.corpus import Corpus
from dissensus.errors import DataError, ModelError, Unfinished
from dissensus.evaluation.execution.folder import Keepable, Place
from dissensus.evaluation.execution.processes import Work, fits_apart, fits_here
from dissensus.evaluation.fit import Job, Key
from dissensus.progress import progress


class Ended(Keepable, Protocol):
    """What a training came to."""

    @property
    def seconds(self) -> float: ...

    @property
    def reason(self) -> str:
        """Why it failed, if it did."""
        ...


@dataclass
class Pace:
    """How long trainings take, and whether there is time for one more.

    Args:
        deadline: by the monotonic clock.
        kind: of a key; trainings of one kind take as long.
    """

    deadline: float
    kind: Callable[[Key], str]
    longest: dict[str, float] = field(default_factory=dict)  # kind -> seconds

    def ended(self, outcome: Ended) -> None:
        kind = self.kind(outcome.key)
        self.longest[kind] = max(self.longest.get(kind, 0.0), outcome.seconds)

    def begun(
        self, jobs: Iterable[Job], left_out: Callable[[Job], None] | None = None
    ) -> Iterator[Job]:
        """The jobs that there is time for; an empty one only waits. Others are told of those that
        are left out."""
        for job in jobs:
            needed = sum(self.longest.get(self.kind(key), 0.0) for key in job)
            if not job or time.monotonic() + needed < self.deadline:
                yield job
            elif left_out is not None:
                left_out(job)


def check_processes(processes: int | None) -> None:
    if processes is not None and processes < 1:
        raise DataError(f"at least one process is needed, found {processes}")


def begun(
    place: Place,
    task: Work,
    opened: Any,
    corpora: Mapping[str, Corpus],
    jobs: Iterable[Job],
    processes: int,
) -> Generator[Any]:
    """The outcomes of jobs, here or from worker processes."""
    if processes < 2:
        return fits_here(task, opened, jobs)
    for name, corpus in corpora.items():
        corpus.save(place.corpus / name)
    return fits_apart(task, place.corpus, jobs, processes)


def kept(
    place: Place,
    made: Generator[Any],
    total: int,
    missing: int,
    *ended: Callable[[Any], None],
    left_out: Callable[[Job], None] | None = None,
) -> None:
    """Keep what ends well, and tell others of it, and of what failed; what failed, and what is
    missing, is said at the end."""
    failed: list[Ended] = []
    with progress("training", total, clock=False) as advance, closing(made):
        advance(total - missing)
        for outcome in made:
            if outcome.reason:
                failed.append(outcome)
                if left_out is not None:
                    left_out((outcome.key,))
                continue
            place.keep(outcome)
            for tell in ended:
                tell(outcome)
            missing -= 1
            advance(1)
    place.clean()
    if failed:
        first = failed[0]
        raise ModelError(
            f"{len(failed)} of {total} failed, first {first.key.method}, seed {first.key.seed}, "
            f"{first.key.fold}: {first.reason}; what was done is kept"
        )
    if missing:
        raise Unfinished(
            f"the time is over: {total - missing} of {total} are done, {missing} are missing; the "
            "same again goes on with them"
        )
