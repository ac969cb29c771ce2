"""The engine of all papers: read corpora, make missing fits, report on them and show tables."""

from __future__ import annotations

import itertools
import math
import os
import platform
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from dissensus import Corpus
from dissensus.errors import DataError, DissensusError, ModelError, Unfinished, listed
from dissensus.evaluation import (
    FitFolder,
    Key,
    code_commit,
    fits_in_processes,
    fits_in_this_process,
    locked_folder,
    plain,
    processors,
)
from dissensus.progress import progress
from dissensus.tables import Table
from dissensus_papers.framework.reports import Report, kept_report
from dissensus_papers.framework.text import option, written

Fits = tuple[Key, ...]  # that are made at once


class Request(NamedTuple):
    """What a run was asked for."""

    processes: int | None  # one for each processor if None
    until: float  # by the monotonic clock; no fit begins later
    command: str


@dataclass(frozen=True)
class Plan:
    """What a run does in its folder.

    Args:
        run: makes the fits that are missing.
        facts: what all fits of a folder have in common.
    """

    run: Callable[[FitFolder, Request], None]
    facts: Mapping[str, Any] = field(default_factory=dict)


class Paper(ABC):
    """A paper whose tables are reproduced.

    `conditions` and `models` are in the order of tables; a condition has a `name` and a `corpus`.
    """

    name: str  # as users type it
    models: Mapping[str, Any]
    options: Collection[str] = ()  # of `plan`, which users may type

    @property
    def command(self) -> str:
        """What runs it, without conditions."""
        return f"dissensus papers {self.name} DATA -o OUT"

    @property
    @abstractmethod
    def conditions(self) -> Mapping[str, Any]: ...

    @property
    def default(self) -> Collection[str]:
        """Names of the conditions that are run if none is named."""
        return tuple(self.conditions)

    @property
    @abstractmethod
    def n_runs(self) -> int:
        """How many seeds or repetitions the paper has."""

    @abstractmethod
    def read(self, data: Path) -> dict[str, Corpus]:
        """Those of the paper's corpora that a folder contains, by name."""

    @abstractmethod
    def plan(
        self,
        corpora: Mapping[str, Corpus],
        conditions: Sequence[Any],
        out: Path,
        runs: int,
        settings: Sequence[tuple[str, str]],
        **options: Any,
    ) -> Plan:
        """What is to be run. It refuses what cannot succeed before anything is written.

        Args:
            settings: of the methods, name and value as typed, to try something out.
            options: those of this paper.
        """

    @abstractmethod
    def judged(self, folder: Path) -> Report:
        """The report on a folder of fits."""

    def judged_together(self, *folders: Path) -> Report:
        """The report on folders in which conditions were run in parts."""
        raise DataError(f"{self.name}: give one folder")

    @abstractmethod
    def parts(self, report: Report) -> list[Table | str]:
        """The title, the claims and the tables of a report."""

    def shown(self, report: Report, width: int | None = None) -> str:
        """A report as text; `width` of a terminal breaks lines."""
        missing: dict[bool, list[str]] = {}
        for name in self.not_run(report):
            licensed = getattr(self.conditions[name], "licensed", False)
            missing.setdefault(licensed, []).append(name)
        lines = [
            f"Not run yet{', of corpora that are not public' * licensed}: "
            + option(self.command, "conditions", names)
            for licensed, names in missing.items()
        ]
        return written([*self.parts(report), "\n".join(lines)], width)

    def not_run(self, report: Report) -> list[str]:
        """The conditions that the report has nothing of."""
        return [name for name in self.conditions if name not in report["conditions"]]

    def needed(self, conditions: list[Any]) -> list[Any]:
        """These conditions and those that they depend on."""
        return conditions

    def named(self, text: str | None, corpora: Collection[str]) -> list[Any]:
        """The conditions to run.

        Args:
            text: names separated by commas; if None, the defaults whose corpus is there.
            corpora: names of the corpora that are there.
        """
        given = None if text is None else [part.strip() for part in text.split(",")]
        names = self.default if given is None else self._whole_names(given)
        unknown = [name for name in names if name not in self.conditions]
        if unknown:
            there = ", ".join(self.conditions)
            raise DataError(f"no condition {listed(unknown)}; there are {there}")
        wanted = [self.conditions[name] for name in names]
        missing = [condition for condition in wanted if condition.corpus not in corpora]
        if missing and given is not None:
            raise DataError(
                f"{missing[0].name} needs the corpus {missing[0].corpus!r}; it is not in DATA"
            )
        needed = self.needed([each for each in wanted if each.corpus in corpora])
        return [each for each in needed if each.corpus in corpora]

    def _whole_names(self, begun: Sequence[str]) -> list[str]:
        """Names of conditions; "street" stands for all that begin with "street-", if none has
        this name."""
        names: dict[str, None] = {}
        for name in begun:
            longer = [other for other in self.conditions if other.startswith(f"{name}-")]
            names |= dict.fromkeys([name] if name in self.conditions or not longer else longer)
        return list(names)

    def run(
        self,
        corpora: Mapping[str, Corpus],
        conditions: Sequence[Any],
        out: str | Path,
        *,
        runs: int | None = None,
        processes: int | None = None,
        time_limit: float | None = None,
        settings: Sequence[tuple[str, str]] = (),
        command: str = "",
        commit: str = "",
        **options: Any,
    ) -> None:
        """Make the fits that are missing in a folder. The same call resumes a stopped run.

        Args:
            conditions: what `named` returned; a later call may add more.
            runs: number of seeds or repetitions, a later call may have more; as many as in the
                paper if None.
            time_limit: seconds. If fits are missing then, `Unfinished` says how many.
            command: saved with the fits.
        """
        until = math.inf if time_limit is None else time.monotonic() + time_limit
        runs = self.n_runs if runs is None else runs
        if not 1 <= runs <= self.n_runs:
            most = self.n_runs
            raise DataError(f"the paper has {most} runs; ask for 1 to {most}, not {runs}")
        if processes is not None and processes < 1:
            raise DataError(f"at least one process is needed, found {processes}")
        plan = self.plan(corpora, conditions, Path(out), runs, settings, **options)
        with locked_folder(out) as place:
            place.begin({"paper": self.name, **plan.facts}, command, commit or code_commit())
            plan.run(place, Request(processes, until, command))

    def report(self, path: str | Path, *others: str | Path) -> Report:
        """The report on folders of fits, or the one that a file contains, in the paper's order."""
        path = Path(path)
        if others:
            report = plain(self.judged_together(path, *map(Path, others)))
        else:
            report = kept_report(path, self.name) if path.is_file() else plain(self.judged(path))
        return in_order(report, self.conditions, self.models)


def in_order(report: Report, conditions: Collection[str], models: Collection[str]) -> Report:
    """A report with its conditions and models in the paper's order; JSON files are sorted."""
    ordered = {}
    for name in (name for name in conditions if name in report["conditions"]):
        kept = report["conditions"][name]
        sides = {
            side: {model: kept[side][model] for model in models if model in kept[side]}
            for side in ("models", "against")
        }
        ordered[name] = kept | sides
    return report | {"conditions": ordered}


# ---- fits by a protocol of the paper ----


class FitTask(ABC):
    """Everything that the results of fits depend on, except the corpora.

    An outcome is a `SavedOutcome`.
    """

    outcome: ClassVar[type[Any]]

    @abstractmethod
    def open(self, corpora: dict[str, Corpus]) -> Any:
        """What fits share in a process."""

    @abstractmethod
    def fit(self, opened: Any, job: Fits) -> Sequence[Any]:
        """The outcomes of a job."""

    def opened(self, folder: Path) -> Any:
        return self.open({path.name: Corpus.load(path) for path in sorted(folder.iterdir())})

    def done(self, opened: Any, job: Fits) -> Iterator[Any]:
        """The outcomes of a job; an error of the data or settings is kept in each of them."""
        began = time.monotonic()
        try:
            with quick():
                outcomes = self.fit(opened, job)
        except (DissensusError, RuntimeError) as error:
            outcomes = [self.died(key, str(error).splitlines()[0]) for key in job]
        seconds = round((time.monotonic() - began) / max(len(job), 1), 2)
        for each in outcomes:
            yield replace(each, seconds=seconds, machine=machine())

    def died(self, key: Key, why: str) -> Any:
        return self.outcome(*key, reason=why)


def run_fits(
    place: FitFolder,
    jobs: Sequence[Fits],
    total: int,
    task: FitTask,
    corpora: Mapping[str, Corpus],
    request: Request,
) -> None:
    """Make the fits that are missing in a folder, and save each when it ends.

    Args:
        jobs: in order; no job begins after the time limit.
        total: number of fits, those that are done included.
    """
    missing = sum(map(len, jobs))
    wanted = processors() if request.processes is None else request.processes
    n = min(wanted, max(len(jobs), 1))
    in_time = itertools.takewhile(lambda job: time.monotonic() < request.until, jobs)
    if n > 1:
        for name, corpus in corpora.items():
            corpus.save(place.corpus / name)
        fits = fits_in_processes(task, place.corpus, in_time, n)
    else:
        fits = fits_in_this_process(task, task.open(dict(corpora)), in_time)
    failed = []
    with progress("training", total, clock=False) as advance, closing(fits):
        advance(total - missing)
        for outcome in fits:
            if outcome.reason:
                failed.append(outcome)
                continue
            place.keep(outcome)
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


def machine() -> str:
    """What trains here, for the record."""
    import torch

    if torch.cuda.is_available():
        return f"{torch.cuda.get_device_name()}, torch {torch.__version__}"
    return f"{platform.machine()}, {os.cpu_count()} cores, torch {torch.__version__}"


@contextmanager
def quick() -> Iterator[None]:
    """Products of matrices in TensorFloat-32, where there is a GPU."""
    import torch

    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
