"""SeedBERT (Sampath, Lin & Morency 2022): its Table 4 on public corpora, next to our figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dissensus import Corpus
from dissensus.evaluation import FitFolder, plain
from dissensus.tables import Table
from dissensus_papers.framework.declared import read_sources
from dissensus_papers.framework.paper import Paper, Plan, Request, run_fits
from dissensus_papers.framework.reports import Report, to_json, write_json
from dissensus_papers.seedbert.analysis import KIND, judged
from dissensus_papers.seedbert.emotions import EMOTIONS_FILE, emotions
from dissensus_papers.seedbert.outcomes import Items, outcomes
from dissensus_papers.seedbert.protocol import (
    CONDITIONS,
    MODELS,
    N_REPEATS,
    SOURCES,
    SeedBertCondition,
    ready,
)
from dissensus_papers.seedbert.report_text import parts


class SeedBert(Paper):
    """Every model in each condition; a fit is one model on all folds of a repetition."""

    name, conditions, models, n_runs = KIND, CONDITIONS, MODELS, N_REPEATS

    def read(self, data: Path) -> dict[str, Corpus]:
        return read_sources(data, SOURCES)

    def needed(self, conditions: list[SeedBertCondition]) -> list[SeedBertCondition]:
        """These conditions, and those in which their settings are chosen."""
        wanted = {*(each.name for each in conditions), *(each.choosing for each in conditions)}
        return [condition for name, condition in CONDITIONS.items() if name in wanted]

    def not_run(self, report: Report) -> list[str]:
        missing = (name for name in super().not_run(report) if name not in report["again"])
        return [name for name in missing if CONDITIONS[name].kind != "choose"]

    def plan(
        self,
        corpora: Mapping[str, Corpus],
        conditions: Sequence[SeedBertCondition],
        out: Path,
        runs: int,
        settings: Sequence[tuple[str, str]],
        *,
        encoders: Mapping[str, str | dict[str, str]] | None = None,
        together: bool = False,
        **options: Any,
    ) -> Plan:
        """See `Paper.plan`.

        Args:
            corpora: as `read` or `ready` returns them.
            encoders: corpus -> encoder, where it is not that of the corpus's source.
            together: whether all repetitions of a model with one network are one job, to be
                stacked on a GPU.
        """
        from dissensus_papers.seedbert.fits import Task, jobs

        wanted = {condition.corpus for condition in conditions}
        raw = {name: corpus for name, corpus in corpora.items() if name in wanted}
        learned = {name: ready(corpus) for name, corpus in raw.items()}
        items = [Items.of(corpus) for corpus in learned.values()]
        known = emotions(raw)
        task = Task(out, dict(encoders or {}), tuple(settings))

        def run(place: FitFolder, request: Request) -> None:
            for each in items:
                each.keep(place.folder)
            if known:
                write_json(place.folder / EMOTIONS_FILE, plain(known))
            for choosing in (True, False):  # settings have to be chosen first
                keys = [
                    key
                    for each in conditions
                    if (each.kind == "choose") == choosing
                    for key in each.keys(runs)
                ]
                missing = jobs(place.missing(keys), together)
                run_fits(place, missing, len(keys), task, learned, request)

        typed = {name: text for name, text in settings if name != "training.compile"}
        return Plan(run, {"settings": typed})

    def judged(self, folder: Path) -> Report:
        return judged(folder)

    def parts(self, report: Report) -> list[Table | str]:
        return parts(report, self.command)


PAPER = SeedBert()
named, report, run, shown = PAPER.named, PAPER.report, PAPER.run, PAPER.shown

__all__ = [
    "CONDITIONS", "PAPER", "SOURCES", "SeedBertCondition", "named", "outcomes", "report", "run",
    "shown", "to_json",
]  # fmt: skip
