"""SeedBERT (Sampath, Lin & Morency 2022): its Table 4 on public corpora, next to our figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dissensus import Corpus
from dissensus.evaluation import FitFolder, plain
from dissensus_papers.framework.declared import Typed
from dissensus_papers.framework.fitted import FittedPaper, run_fits
from dissensus_papers.framework.paper import Plan, Request
from dissensus_papers.framework.reports import Report, write_json
from dissensus_papers.framework.text import front_page
from dissensus_papers.seedbert.analysis import figures
from dissensus_papers.seedbert.emotions import EMOTIONS_FILE, emotions
from dissensus_papers.seedbert.outcomes import Items, Outcome
from dissensus_papers.seedbert.protocol import (
    CONDITIONS,
    MODELS,
    N_REPEATS,
    SOURCES,
    SeedBertCondition,
    ready,
)
from dissensus_papers.seedbert.report_text import CLAIMS, TABLES

OTHER = (
    "The paper's corpus (500 clips, six emotions) is not public. Our figures are from other "
    "corpora, so only the order of methods can be compared. Texts are read by MiniLM, not BERT, "
    "and the pictures of cifar10h by EfficientNet-Lite0. Conditions whose names end in -paper have "
    "the paper's rate and epochs, the others settings that were chosen on training data."
)


class SeedBert(FittedPaper):
    """Every model in each condition; a fit is one model on all folds of a repetition."""

    name, sources, conditions, models, n_runs = "seedbert", SOURCES, CONDITIONS, MODELS, N_REPEATS
    outcome, claims, sections = Outcome, CLAIMS, TABLES
    figures = staticmethod(figures)

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
        settings: Typed,
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
                stage = [each for each in conditions if (each.kind == "choose") == choosing]
                keys = [key for each in stage for key in each.keys(runs)]
                missing = jobs(place.missing(keys), together)
                run_fits(place, missing, len(keys), task, learned, request)

        typed = {name: text for name, text in settings if name != "training.compile"}
        return Plan(run, {"settings": typed})

    def front(self, report: Report) -> str:
        typed = ", ".join(f"{name}={value}" for name, value in report["settings"].items())
        after = f" ({typed})" if typed else ""
        title = "Sampath, Lin & Morency (2022), SeedBERT"
        return front_page(report, title, OTHER, after=after)


PAPER = SeedBert()
