"""The engine of all papers: read corpora, make missing fits, report on them and show tables."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dissensus import Corpus
from dissensus.errors import DataError, listed
from dissensus.evaluation import FitFolder, code_commit, locked_folder, plain
from dissensus.tables import Table
from dissensus_papers.framework.claims import Claim, judged_claims
from dissensus_papers.framework.declared import Source, Typed, read_sources
from dissensus_papers.framework.reports import Report, kept_report
from dissensus_papers.framework.text import option, written


class Request(NamedTuple):
    """What a run was asked for."""

    processes: int | None  # one for each processor if None
    until: float  # by the monotonic clock; no fit begins later
    command: str


class Plan(NamedTuple):
    """What a run does in its folder.

    Args:
        run: makes the fits that are missing.
        facts: what all fits of a folder have in common.
    """

    run: Callable[[FitFolder, Request], None]
    facts: Mapping[str, Any] = {}


class Paper(ABC):
    """A paper whose tables are reproduced.

    `conditions` and `models` are in the order of tables; a condition has a `name` and a `corpus`.
    """

    name: str  # as users type it
    sources: Mapping[str, Source]
    models: Mapping[str, Any]
    claims: Sequence[Any]  # of the paper, and our additional questions
    options: Collection[str] = ()  # of `plan`, which users may type
    digits: int = 3  # of figures

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

    def read(self, data: Path) -> dict[str, Corpus]:
        """Those of the paper's corpora that a folder contains, by name."""
        return read_sources(data, self.sources)

    @abstractmethod
    def plan(
        self,
        corpora: Mapping[str, Corpus],
        conditions: Sequence[Any],
        out: Path,
        runs: int,
        settings: Typed,
        **options: Any,
    ) -> Plan:
        """What is to be run. It refuses what cannot succeed before anything is written.

        Args:
            settings: of the methods, name and value as typed, to try something out.
            options: those of this paper.
        """

    @abstractmethod
    def judged(self, *folders: Path) -> Report:
        """The report on a folder of fits, or on several in which conditions were run in parts."""

    @abstractmethod
    def front(self, report: Report) -> str:
        """The title of a report, and how it was made."""

    @abstractmethod
    def tables(self, report: Report) -> Iterable[Table | str]: ...

    def tested(self, claim: Any) -> Claim:
        """A claim with its tests in a report."""
        return claim

    def parts(self, report: Report) -> list[Table | str]:
        """The title, the claims with the tests that decide them, and the tables of a report."""
        claims = judged_claims(map(self.tested, self.claims), report, self.command, self.digits)
        return [self.front(report), *claims, *self.tables(report)]

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
            text: names separated by commas; if None, the defaults whose corpus is there. "street"
                stands for all that begin with "street-", if none has this name.
            corpora: names of the corpora that are there.
        """
        names = dict.fromkeys(self.default if text is None else ())
        for name in () if text is None else (part.strip() for part in text.split(",")):
            longer = [other for other in self.conditions if other.startswith(f"{name}-")]
            names |= dict.fromkeys([name] if name in self.conditions or not longer else longer)
        unknown = [name for name in names if name not in self.conditions]
        if unknown:
            there = ", ".join(self.conditions)
            raise DataError(f"no condition {listed(unknown)}; there are {there}")
        wanted = [self.conditions[name] for name in names]
        missing = [condition for condition in wanted if condition.corpus not in corpora]
        if missing and text is not None:
            raise DataError(
                f"{missing[0].name} needs the corpus {missing[0].corpus!r}; it is not in DATA"
            )
        needed = self.needed([each for each in wanted if each.corpus in corpora])
        return [each for each in needed if each.corpus in corpora]

    def run(
        self,
        corpora: Mapping[str, Corpus],
        conditions: Sequence[Any],
        out: str | Path,
        *,
        runs: int | None = None,
        processes: int | None = None,
        time_limit: float | None = None,
        settings: Typed = (),
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
        folders = [Path(path), *map(Path, others)]
        if folders[0].is_file() and not others:
            report = kept_report(folders[0], self.name)
        else:
            report = plain(self.judged(*folders))
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
