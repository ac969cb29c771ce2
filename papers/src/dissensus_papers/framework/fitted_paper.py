"""A paper that trains by a protocol of its own; each fit is saved when it ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from dissensus.corpus import Corpus
from dissensus.evaluation import code_commit
from dissensus.evaluation.execution.folder import FitFolder, locked_folder
from dissensus.evaluation.execution.processes import Work
from dissensus.evaluation.fit import Key
from dissensus_papers.framework.conditions import named_conditions
from dissensus_papers.framework.outcomes import Outcome
from dissensus_papers.framework.paper import Report, Study
from dissensus_papers.framework.reports import report_on
from dissensus_papers.framework.runs import Agenda, check_numbers, deadline, run_fits


class ItemFacts(Protocol):
    """What a report needs to know of items; it is saved with the fits."""

    def keep(self, folder: Path) -> None:
        """Write it; refuse a folder that has other facts of the same items."""
        ...


@dataclass(frozen=True, eq=False)
class Plan:
    """What a run of a paper needs.

    Args:
        items: facts about the items of each corpus or condition.
        corpora: as methods learn from them.
        opened: what the task needs in this process; worker processes open `corpora` themselves.
        agenda: which fits are missing in a folder, and their order.
        facts: what all fits of a folder have in common.
    """

    items: Sequence[ItemFacts]
    corpora: Mapping[str, Corpus]
    task: Work
    opened: Any
    agenda: Callable[[FitFolder], Agenda]
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class FittedPaper:
    """A paper with fits of its own, see `Paper`.

    Args:
        conditions: all of them, by name, in the order of tables.
        models: what is trained in them, likewise.
        n_runs: how many seeds or repetitions the paper has.
        plan: from corpora, conditions, the folder, the number of runs, settings and options to
            what is to be run. It refuses what cannot succeed before anything is written.
        outcomes: the outcomes of all fits that are done in a folder.
        judged: from a folder to the report on it.
        kind: of a fit; fits of one kind take the same time.
        default: names of the conditions that are run if none is named; all if empty.
        needed: from the conditions that were named to these and those that they depend on.
    """

    name: str
    conditions: Mapping[str, Any]
    models: Mapping[str, Any]
    n_runs: int
    read: Callable[[Path], dict[str, Corpus]]
    plan: Callable[..., Plan]
    outcomes: Callable[[Path], Sequence[Outcome]]
    judged: Callable[[Path], Report]
    shown: Callable[..., str]
    kind: Callable[[Key], str] = lambda key: key.fold
    default: Sequence[str] = ()
    needed: Callable[[list[Any]], list[Any]] = list
    studies: Mapping[str, Study] = field(default_factory=dict)

    def named(self, text: str | None, corpora: Sequence[str]) -> list[Any]:
        default = self.default or tuple(self.conditions)
        named = named_conditions(self.conditions, text, default, corpora)
        return [condition for condition in self.needed(named) if condition.corpus in corpora]

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
        until = deadline(time_limit)
        runs = self.n_runs if runs is None else runs
        check_numbers(runs, self.n_runs, processes)
        plan = self.plan(corpora, conditions, Path(out), runs, settings, **options)
        with locked_folder(out) as place:
            place.begin({"paper": self.name, **plan.facts}, command, commit or code_commit())
            for items in plan.items:
                items.keep(place.folder)
            run_fits(
                place,
                plan.agenda(place),
                plan.task,
                plan.opened,
                plan.corpora,
                processes=processes,
                until=until,
                kind=self.kind,
                done=self.outcomes,
            )

    def report(self, path: str | Path) -> Report:
        return report_on(path, self.name, self.conditions, self.models, self.judged)
