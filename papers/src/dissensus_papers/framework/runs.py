"""Run the fits of a paper in several processes. Each is saved when it ends; a run can resume."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from dissensus.corpus import Corpus
from dissensus.errors import DataError, DissensusError, ModelError, Unfinished
from dissensus.evaluation.execution.folder import FitFolder
from dissensus.evaluation.execution.processes import (
    Work,
    fits_in_processes,
    fits_in_this_process,
    processors,
)
from dissensus.evaluation.fit import Job, Key
from dissensus.progress import progress
from dissensus_papers.framework.outcomes import Outcome


class Agenda(Protocol):
    """The fits of a run: how many, how many are missing, and their order."""

    @property
    def total(self) -> int: ...

    @property
    def n_missing(self) -> int: ...

    def jobs(self) -> Iterator[Job]:
        """The next fits; an empty job while all that is left waits for others."""
        ...

    def ended(self, outcome: Any) -> None:
        """A fit was saved."""
        ...

    def left_out(self, job: Job) -> None:
        """A job failed, or there is no time for it."""
        ...


@dataclass(eq=False)
class InTurn:
    """Fits that wait for nothing, one after another."""

    missing: Sequence[Key]
    total: int

    @property
    def n_missing(self) -> int:
        return len(self.missing)

    def jobs(self) -> Iterator[Job]:
        return ((key,) for key in self.missing)

    def ended(self, outcome: Any) -> None:
        pass

    def left_out(self, job: Job) -> None:
        pass


@dataclass
class Pace:
    """How long fits take, and whether there is time for one more.

    Args:
        deadline: by the monotonic clock.
        kind: of a key; fits of one kind take the same time.
    """

    deadline: float
    kind: Callable[[Key], str]
    longest: dict[str, float] = field(default_factory=dict)  # kind -> seconds

    def ended(self, outcome: Outcome) -> None:
        kind = self.kind(outcome.key)
        self.longest[kind] = max(self.longest.get(kind, 0.0), outcome.seconds)

    def begun(self, jobs: Iterable[Job], left_out: Callable[[Job], None]) -> Iterator[Job]:
        """The jobs that there is time for; an empty one only waits."""
        for job in jobs:
            needed = sum(self.longest.get(self.kind(key), 0.0) for key in job)
            if not job or time.monotonic() + needed < self.deadline:
                yield job
            else:
                left_out(job)


def check_numbers(runs: int, most: int, processes: int | None) -> None:
    """Refuse numbers of runs and of processes that cannot be."""
    if not 1 <= runs <= most:
        raise DataError(f"the paper has {most} runs; ask for 1 to {most}, not {runs}")
    if processes is not None and processes < 1:
        raise DataError(f"at least one process is needed, found {processes}")


def deadline(time_limit: float | None) -> float:
    """By the monotonic clock; infinite without a limit."""
    return math.inf if time_limit is None else time.monotonic() + time_limit


def run_fits(
    place: FitFolder,
    agenda: Agenda,
    task: Work,
    opened: Any,
    corpora: Mapping[str, Corpus],
    *,
    processes: int | None,
    until: float,
    kind: Callable[[Key], str],
    done: Callable[[Path], Iterable[Outcome]],
) -> None:
    """Make the fits that are missing in a folder, and save each when it ends.

    Args:
        opened: what the task needs in this process; workers open `corpora` themselves.
        processes: at work at once; None is one for each processor.
        until: the deadline, by the monotonic clock.
        kind: of a key; fits of one kind take the same time.
        done: the outcomes in a folder, to know how long fits take.
    """
    pace = Pace(until, kind)
    for outcome in done(place.folder) if until < math.inf else ():
        pace.ended(outcome)
    n = min(processors() if processes is None else processes, max(agenda.n_missing, 1))
    jobs = pace.begun(agenda.jobs(), agenda.left_out)
    if n > 1:
        for name, corpus in corpora.items():
            corpus.save(place.corpus / name)
        fits = fits_in_processes(task, place.corpus, jobs, n)
    else:
        fits = fits_in_this_process(task, opened, jobs)
    _save(place, agenda, pace, fits)


def _save(place: FitFolder, agenda: Agenda, pace: Pace, fits: Generator[Any]) -> None:
    """Save what ends well; say at the end what failed and what is missing."""
    total, missing = agenda.total, agenda.n_missing
    failed: list[Outcome] = []
    with progress("training", total, clock=False) as advance, closing(fits):
        advance(total - missing)
        for outcome in fits:
            if outcome.reason:
                failed.append(outcome)
                agenda.left_out((outcome.key,))
                continue
            place.keep(outcome)
            pace.ended(outcome)
            agenda.ended(outcome)
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
            f"Time limit reached: {total - missing} of {total} fits done. Run the same command "
            "again to resume."
        )


def reason(error: DissensusError | RuntimeError) -> str:
    """Why a fit failed, in one line."""
    return str(error).splitlines()[0]
