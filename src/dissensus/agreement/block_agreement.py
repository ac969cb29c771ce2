"""Agreement counted in blocks of items: from disk, or on the workers of a cluster."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from dissensus.agreement.benchmarks import benchmark_word
from dissensus.agreement.confidence import (
    ENOUGH,
    ConfidenceInterval,
    Moments,
    interval_over_items,
    jackknife_from,
)
from dissensus.agreement.measure import Measure, Summable
from dissensus.agreement.registry import MEASURES, entries_of
from dissensus.agreement.results import MeasureResult, QuestionAgreement, about
from dissensus.agreement.score_interval import joined
from dissensus.agreement.weights import Weights
from dissensus.annotations import AnnotationBlocks, Annotations, SplitAnnotations, packed
from dissensus.cluster import SentBlock, results, sent_blocks
from dissensus.errors import DataError, listed

Totals = dict[str, list[np.ndarray]]  # by measure
MOST_ROWS = 5_000_000  # that are loaded where a few items decide


@dataclass(eq=False)
class BlockAgreement:
    """Measures of one question that are formulas of sums over items.

    Args:
        measures: names of `MEASURES`; all that are sums over items if left out. Kappas of pairs of
            annotators are counted only if they are named, and not on a cluster.
        client: of Dask, whose workers have a block or several each; here if left out.
    """

    question: str
    annotations: Annotations | AnnotationBlocks
    measures: Sequence[str] | None = None
    weights: Weights = None
    client: Any | None = None

    @cached_property
    def blocks(self) -> AnnotationBlocks:
        if isinstance(self.annotations, AnnotationBlocks):
            return self.annotations
        n_workers = 1 if self.client is None else len(self.client.nthreads())
        return SplitAnnotations.of(self.annotations, n_workers)

    @cached_property
    def entries(self) -> dict[str, Measure]:
        """The measures that are wanted; one that cannot be counted in blocks is refused."""
        wanted = entries_of(self.measures, self.weights)
        why_not = {name: self._why_not(one) for name, one in wanted.items()}
        other = [name for name, why in why_not.items() if why is not None]
        if self.measures and other:
            able = [name for name, one in MEASURES.items() if self._why_not(one) is None]
            raise DataError(
                f"{other[0]}: {why_not[other[0]]}; in blocks of items there are "
                f"{listed(able) if able else 'no measures of them'}"
            )
        return {
            name: one
            for name, one in wanted.items()
            if why_not[name] is None and (self.measures or not one.by_pairs)
        }

    def _why_not(self, measure: Measure) -> str | None:
        """None, or why a measure cannot be counted in these blocks."""
        if measure.by_pairs and self.client is not None:
            return "pairs of annotators are not counted on a cluster"
        return measure.why_not_in_blocks(self.blocks)

    def summarise(self, intervals: bool = False, benchmark: str | None = None) -> QuestionAgreement:
        """Every measure, with its interval if that is wanted."""
        names = list(self.entries)
        given = names, self.weights
        totals = _summed(self._each(_totals, *given))
        values = self._values(totals)
        ends: dict[str, ConfidenceInterval] = {}
        if intervals:
            parts = list(self._each(_moments, *given, totals, values))
            ends = {name: self._interval(name, values[name], parts) for name in names}
        found = [
            MeasureResult(
                name,
                value,
                ends.get(name),
                self._why_nan(self.entries[name]) if math.isnan(value) else None,
                None,
                self._word(name, value, benchmark),
            )
            for name, value in values.items()
        ]
        return QuestionAgreement(**about(self.blocks, self.question), measures=found)

    def values(self) -> dict[str, float]:
        """Every measure without anything else; nan where undefined."""
        return self._values(_summed(self._each(_totals, list(self.entries), self.weights)))

    def _values(self, totals: Totals) -> dict[str, float]:
        first = self.blocks.block(0)
        return {
            name: _estimate(first, measure).value(totals[name])
            for name, measure in self.entries.items()
        }

    def _word(self, name: str, value: float, benchmark: str | None) -> str | None:
        if benchmark is None:
            return None
        known = self.entries[name].is_kappa and not math.isnan(value)
        return benchmark_word(value, benchmark) if known else ""

    def _interval(
        self, name: str, value: float, parts: list[dict[str, Moments]]
    ) -> ConfidenceInterval:
        moments = Moments(*map(sum, zip(*(part[name] for part in parts), strict=True)))
        measure = self.entries[name]
        if not moments.n_deciding >= ENOUGH and self.blocks.n_rows <= MOST_ROWS:
            return interval_over_items(measure, self._whole)
        return jackknife_from(value, moments, measure.bounds, of_pairs=measure.by_pairs)

    @cached_property
    def _whole(self) -> Annotations:
        """All answers at once."""
        return joined(*(block for _, block in self.blocks))

    def _why_nan(self, measure: Measure) -> str:
        """The first reason that all blocks give."""
        each = [[reason(block) for reason in measure.reasons] for _, block in self.blocks]
        common = (set(reasons) for reasons in zip(*each, strict=True))
        known = (reasons.pop() for reasons in common if len(reasons) == 1)
        return next((why for why in known if why is not None), "the formula divides by zero")

    # ---- in blocks ----

    def _each(self, function: Callable[..., Any], *given: Any) -> Iterable[Any]:
        """Call a function of each block, here or where the block is."""
        if self.client is None:
            return (function(block, *given) for _, block in self.blocks)
        return results(self.client, self._sent, function, *given)

    @cached_property
    def _sent(self) -> list[SentBlock]:
        return list(sent_blocks(self.client, packed(self.blocks)))


def _estimate(block: Annotations, measure: Measure) -> Summable:
    return cast(Summable, (measure.prepare_block or measure.prepare)(block))


def _totals(block: Annotations, names: list[str], weights: Weights) -> Totals:
    entries = entries_of(names, weights)
    return {name: _estimate(block, measure).totals() for name, measure in entries.items()}


def _summed(parts: Iterable[Totals]) -> Totals:
    """The totals of all parts, added one after another."""
    totals: Totals = {}
    for part in parts:
        for name, sums in part.items():
            if name not in totals:
                totals[name] = [np.array(one, dtype=float) for one in sums]
                continue
            for total, one in zip(totals[name], sums, strict=True):
                total += one
    return totals


def _moments(
    block: Annotations,
    names: list[str],
    weights: Weights,
    totals: Totals,
    values: dict[str, float],
) -> dict[str, Moments]:
    answered = np.flatnonzero(block.per_item())
    return {
        name: Moments.of(
            _estimate(block, measure).without_each(totals[name])[answered] - values[name]
        )
        for name, measure in entries_of(names, weights).items()
    }
