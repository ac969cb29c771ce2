"""Soft-label multi-task learning (Fornaciari et al. 2021): its tables next to our figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dissensus import Corpus
from dissensus.errors import DataError
from dissensus.evaluation import FitFolder, Key
from dissensus.tables import Table
from dissensus_papers.framework.paper import Paper, Plan, Request, run_fits
from dissensus_papers.framework.reports import Report, to_json
from dissensus_papers.soft_labels.analysis import KIND, judged
from dissensus_papers.soft_labels.outcomes import Items, outcomes
from dissensus_papers.soft_labels.protocol import (
    CONDITIONS,
    CORPORA,
    MODELS,
    PRINTED,
    SEEDS,
    TAGS,
    SoftLabelsCondition,
    methods,
    saved_settings,
    with_automatic,
)
from dissensus_papers.soft_labels.report_text import parts


class SoftLabels(Paper):
    """Four models with ten seeds in each condition; a fit is one of them, on all folds."""

    name, models, default, options = KIND, MODELS, PRINTED, ("glove",)
    conditions, n_runs = CONDITIONS, len(SEEDS)
    command = "dissensus papers soft-labels DATA --glove glove/pos_tweets.txt -o OUT"

    def read(self, data: Path) -> dict[str, Corpus]:
        """The corpora of the paper that a folder contains, or the one corpus that it is."""
        from dissensus import datasets

        there = [data / name for name in CORPORA if (data / name).is_dir()]
        corpora = {}
        for path in there or [data]:
            corpus = datasets.read(path)
            if corpus.name not in CORPORA:
                raise DataError(f"{path}: holds {corpus.name!r}, not {' or '.join(CORPORA)}")
            corpora[corpus.name] = corpus
        return corpora

    def plan(
        self,
        corpora: Mapping[str, Corpus],
        conditions: Sequence[SoftLabelsCondition],
        out: Path,
        runs: int,
        settings: Sequence[tuple[str, str]],
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

    def judged(self, folder: Path) -> Report:
        return judged(folder)

    def parts(self, report: Report) -> list[Table | str]:
        return parts(report, self.command)


PAPER = SoftLabels()
named, report, run, shown = PAPER.named, PAPER.report, PAPER.run, PAPER.shown

__all__ = [
    "CONDITIONS", "CORPORA", "PAPER", "PRINTED", "SEEDS", "TAGS", "SoftLabelsCondition", "named",
    "outcomes", "report", "run", "shown", "to_json",
]  # fmt: skip
