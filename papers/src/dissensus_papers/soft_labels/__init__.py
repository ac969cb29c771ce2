"""Soft-label multi-task learning (Fornaciari et al. 2021): its tables next to our figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dissensus import Corpus
from dissensus.errors import DataError
from dissensus.evaluation import FitFolder, Key
from dissensus_papers.framework.declared import Source, Typed
from dissensus_papers.framework.fitted import FittedPaper, run_fits
from dissensus_papers.framework.paper import Plan, Request
from dissensus_papers.framework.reports import Report
from dissensus_papers.framework.text import front_page
from dissensus_papers.soft_labels.outcomes import Items, Outcome, figures, in_every_model
from dissensus_papers.soft_labels.protocol import (
    CONDITIONS,
    CORPORA,
    MODELS,
    PRINTED,
    SEEDS,
    SoftLabelsCondition,
    methods,
    saved_settings,
    with_automatic,
)
from dissensus_papers.soft_labels.report_text import CLAIMS, TABLES

WORDS = (
    "Word vectors are GloVe with 100 numbers, not 300, and character vectors start at random: "
    "the paper's files of both are not public."
)


class SoftLabels(FittedPaper):
    """Four models with ten seeds in each condition; a fit is one of them, on all folds."""

    name, conditions, models, default = "soft-labels", CONDITIONS, MODELS, PRINTED
    sources, n_runs, options = {name: Source(name) for name in CORPORA}, len(SEEDS), ("glove",)
    outcome, claims, sections = Outcome, CLAIMS, TABLES
    counted, figures = staticmethod(in_every_model), staticmethod(figures)
    command = "dissensus papers soft-labels DATA --glove glove/pos_tweets.txt -o OUT"

    def read(self, data: Path) -> dict[str, Corpus]:
        """The corpora of the paper that a folder contains, or the one corpus that it is."""
        from dissensus import datasets

        if any((data / name).is_dir() for name in CORPORA):
            return super().read(data)
        corpus = datasets.read(data)
        if corpus.name not in CORPORA:
            raise DataError(f"{data}: holds {corpus.name!r}, not {' or '.join(CORPORA)}")
        return {corpus.name: corpus}

    def plan(
        self,
        corpora: Mapping[str, Corpus],
        conditions: Sequence[SoftLabelsCondition],
        out: Path,
        runs: int,
        settings: Typed,
        *,
        glove: str | Path | None = None,
        stack: bool = True,
        **options: Any,
    ) -> Plan:
        """See `Paper.plan`.

        Args:
            glove: a file of word vectors for POS tags (`make glove`).
            stack: whether folds of stems are stacked on a GPU.
        """
        from dissensus.encoders import WordsEncoder
        from dissensus_papers.soft_labels.fits import Task

        if glove is not None:
            _ = WordsEncoder(str(glove)).table  # refuses what cannot be read
        ready = {name: with_automatic(corpus) for name, corpus in corpora.items()}
        task = Task({c.name: methods(c, glove, settings) for c in conditions}, stack)
        keys = [
            Key(m, seed, each.name) for each in conditions for seed in SEEDS[:runs] for m in MODELS
        ]
        items = []
        for each in conditions:
            known = {m: saved_settings(method) for m, method in task.methods[each.name].items()}
            items.append(Items.of(ready[each.corpus], each, known, glove))

        def run(place: FitFolder, request: Request) -> None:
            for each in items:
                each.keep(place.folder)
            missing = [(key,) for key in place.missing(keys)]
            run_fits(place, missing, len(keys), task, ready, request)

        return Plan(run)

    def front(self, report: Report) -> str:
        n, left_out = len(report["seeds"]), report["left_out"]
        more = f"{left_out} more fits are done, but not with every model; they are not counted."
        models = [m for block in report["conditions"].values() for m in block["models"].values()]
        tagged = any(str(m["settings"].get("encoder")).startswith("tagger:") for m in models)
        runs = f"{n} run{'s' * (n != 1)}, seeds {', '.join(map(str, report['seeds']))}; "
        title = "Fornaciari et al. (2021), soft-label multi-task learning"
        return front_page(report, title, more * bool(left_out), WORDS * tagged, before=runs)


PAPER = SoftLabels()
