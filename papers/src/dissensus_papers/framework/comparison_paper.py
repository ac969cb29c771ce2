"""A paper whose tables compare methods on corpora: each condition is one `evaluation.compare`."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dissensus.corpus import Corpus
from dissensus.errors import DataError, Unfinished
from dissensus.evaluation import code_commit, compare
from dissensus.evaluation.execution.folder import FRONT, locked_folder
from dissensus.evaluation.results import ComparisonFields
from dissensus.folders import read_json
from dissensus_papers.framework import comparison_report, comparison_tables, merged_report
from dissensus_papers.framework.comparison_tables import Summary
from dissensus_papers.framework.conditions import (
    ComparisonCondition,
    in_order,
    named_conditions,
)
from dissensus_papers.framework.corpora import Source, read_sources
from dissensus_papers.framework.measurements import MeasuredCondition, measure
from dissensus_papers.framework.models import Model, Typed
from dissensus_papers.framework.outcomes import write_whole
from dissensus_papers.framework.paper import Report, Study
from dissensus_papers.framework.reports import report_on
from dissensus_papers.framework.runs import check_numbers
from dissensus_papers.framework.verdicts import BetterThan, Claim

AnyCondition = ComparisonCondition | MeasuredCondition


@dataclass(frozen=True, eq=False)
class ComparisonPaper:
    """A paper of methods x corpora x metrics, see `Paper`.

    Args:
        title: authors, year and name.
        blocks: all conditions, in the order of tables; measurements stand below comparisons.
        claims: a comparison of two models (`BetterThan`), or a text and a function from the report
            to a verdict.
        summaries: tables that are written from the whole report, below those of conditions.
        notes: what a reader has to know, such as where it departs from the paper.
        digits: of figures.
    """

    name: str
    title: str
    sources: Mapping[str, Source]
    models: Mapping[str, Model]
    blocks: Sequence[AnyCondition]
    claims: Sequence[BetterThan | Claim] = ()
    summaries: Sequence[Summary] = ()
    notes: str = ""
    digits: int = 3
    studies: Mapping[str, Study] = field(default_factory=dict)

    @property
    def conditions(self) -> dict[str, AnyCondition]:
        return {condition.name: condition for condition in self.blocks}

    @property
    def comparisons(self) -> dict[str, ComparisonCondition]:
        return {c.name: c for c in self.blocks if isinstance(c, ComparisonCondition)}

    @property
    def measurements(self) -> dict[str, MeasuredCondition]:
        return {c.name: c for c in self.blocks if isinstance(c, MeasuredCondition)}

    def read(self, data: Path) -> dict[str, Corpus]:
        return read_sources(data, self.sources)

    def named(self, text: str | None, corpora: Sequence[str]) -> list[AnyCondition]:
        return named_conditions(self.conditions, text, self.conditions, corpora)

    def run(
        self,
        corpora: Mapping[str, Corpus],
        conditions: Sequence[AnyCondition],
        out: str | Path,
        *,
        runs: int | None = None,
        processes: int | None = None,
        time_limit: float | None = None,
        settings: Typed = (),
        command: str = "",
        commit: str = "",
    ) -> None:
        began = time.monotonic()
        most = max(len(condition.seeds) for condition in self.blocks)
        check_numbers(most if runs is None else runs, most, processes)
        methods = {
            condition.name: self._methods(condition, settings)
            for condition in conditions
            if isinstance(condition, ComparisonCondition)
        }
        with locked_folder(out) as place:
            place.begin({"paper": self.name}, command, commit or code_commit())
            for at, condition in enumerate(conditions):
                corpus = self.sources[condition.corpus].prepared(corpora[condition.corpus])
                left = None if time_limit is None else time_limit - (time.monotonic() - began)
                try:
                    if isinstance(condition, MeasuredCondition):
                        seeds = condition.seeds[:runs]
                        measure(place.folder, condition, corpus, seeds, settings, left)
                        continue
                    folder = comparison_report.folder_of(place.folder, condition.name)
                    comparison_report.keep_figures(place.folder, condition, corpus)
                    compare(
                        corpus,
                        methods[condition.name],
                        out=folder,
                        folds=condition.folds and condition.folds(corpus),
                        seeds=seeds_in(folder, condition.seeds[:runs]),
                        questions=condition.questions,
                        metrics=condition.metrics,
                        densities=condition.densities,
                        trials=condition.trials,
                        scoring=condition.scoring,
                        by=condition.by,
                        processes=processes,
                        budget=left,
                        command=command,
                    )
                except Unfinished as unfinished:
                    later = ", ".join(other.name for other in conditions[at + 1 :])
                    not_begun = f" Not begun: {later}." if later else ""
                    raise Unfinished(f"{condition.name}: {unfinished}{not_begun}") from None

    def _methods(self, condition: ComparisonCondition, typed: Typed) -> dict[str, Any]:
        """The methods of a condition; a typed setting that none of them has is refused."""
        from dissensus.methods.framework.settings import settings_of

        methods = {name: self.models[name].built(condition.settings, typed)
                   for name in condition.models}  # fmt: skip
        names = {name for method in methods.values() for name in settings_of(method)}
        unknown = [name for name, _ in typed if name not in names]
        if unknown:
            raise DataError(f"{condition.name}: no model has a setting {unknown[0]!r}")
        return methods

    def report(self, path: str | Path) -> Report:
        def judged(folder: Path) -> Report:
            return comparison_report.judged(
                folder, self.name, [*self.comparisons.values()], self.claims, self.measurements
            )

        report = report_on(path, self.name, self.comparisons, self.models, judged)
        return merged_report.without_tests_over_seeds(report)

    def merged(self, kept: Report, new: Report) -> Report:
        """A kept report continued: conditions of the new one are added to it or replace its own."""
        counted = {name for name, each in self.comparisons.items() if not each.not_counted}
        report = merged_report.merged(kept, new, counted)
        return in_order(report, self.comparisons, self.models)

    def shown(self, report: Report, width: int | None = None) -> str:
        return comparison_tables.shown(
            report,
            self.title,
            self.notes,
            self.models,
            self.comparisons,
            self.claims,
            measurements=self.measurements,
            summaries=self.summaries,
            digits=self.digits,
            width=width,
        )


def seeds_in(folder: Path, seeds: tuple[int, ...]) -> tuple[int, ...]:
    """The seeds to compare with in a folder, which may have been begun with more or fewer.

    `compare` refuses other seeds than a folder was begun with. The first seeds of a list are no
    other comparison than the whole list, so the folder is changed to expect these seeds, unless
    it is finished with more.
    """
    if not (folder / f"{FRONT}.json").exists():
        return seeds
    content = read_json(folder, FRONT, ComparisonFields)
    there = tuple(content["facts"]["seeds"])
    n = min(len(there), len(seeds))
    if there[:n] != seeds[:n]:
        return seeds  # which `compare` refuses
    if len(there) > n and (folder / "results.json").exists():
        return there
    content["facts"]["seeds"] = list(seeds)
    text = json.dumps(content, ensure_ascii=False, indent=1)
    write_whole(folder / f"{FRONT}.json", lambda new: new.write_text(text, encoding="utf-8"))
    return seeds
