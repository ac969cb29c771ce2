"""Rows on the workers of a Dask cluster, each with the answers to some of the items.

A pass sends what is known of annotators to every worker and adds up what workers count for them.
Answers are sent once, posteriors return once, at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dissensus.aggregation.rows import Expected, Rows, joined, rounded
from dissensus.annotations import AnnotationBlocks, Annotations, SplitAnnotations, packed
from dissensus.cluster import SentBlock, results, sent, sent_blocks


@dataclass(eq=False)
class ClusterRows:
    """Rows of which each worker has a part."""

    n_values: int
    n_annotators: int
    client: Any  # of Dask
    parts: list[SentBlock]  # a future of `Rows` each

    @classmethod
    def of(
        cls,
        annotations: Annotations | AnnotationBlocks,
        purpose: str,
        known: np.ndarray,
        client: Any,
    ) -> ClusterRows:
        """Send a part of the items to each worker."""
        if isinstance(annotations, Annotations):
            annotations = SplitAnnotations.of(annotations, len(client.nthreads()))
        parts = []
        for items, block, worker in sent_blocks(client, packed(annotations)):
            labels = None
            if (known[items] >= 0).any():
                labels = sent(client, known[items], worker)
            rows = client.submit(_rows, block, labels, purpose, workers=[worker], pure=False)
            parts.append(SentBlock(items, rows, worker))
        return cls(annotations.scale.n_columns, annotations.n_annotators, client, parts)

    @property
    def n_cells(self) -> int:
        return self.n_annotators * self.n_values

    def voted(self) -> Expected:
        return rounded(joined(Expected(*sums) for sums in self._each(_voted)))

    def expected(
        self,
        kernel: str,
        parameters: np.ndarray,
        prior: np.ndarray | tuple[Any, ...],
        watch: bool,
    ) -> Expected:
        given = kernel, prior, watch
        sums = results(self.client, self.parts, _expected, *given, shared=parameters)
        return rounded(joined(Expected(*one) for one in sums))

    def keep(self) -> None:
        self._each(Rows.keep)

    def restore(self) -> None:
        self._each(Rows.restore)

    def distribution(self) -> np.ndarray:
        return np.concatenate(self._each(Rows.distribution))

    def close(self) -> None:
        self.parts.clear()

    def _each(self, function: Callable[..., Any], *given: Any) -> list[Any]:
        """Call a function of each part where the part is."""
        return results(self.client, self.parts, function, *given)


# ---- in a worker ----


def _rows(block: Annotations, known: np.ndarray | None, purpose: str) -> Rows:
    known = np.full(block.n_items, -1, dtype=np.int64) if known is None else known
    return Rows.of(block, purpose, known, threads=1)


def _voted(rows: Rows) -> tuple[Any, ...]:
    return tuple(rows.sum_of_votes())


def _expected(
    rows: Rows, parameters: np.ndarray, kernel: str, prior: Any, watch: bool
) -> tuple[Any, ...]:
    return tuple(rows.sum_of_expected(kernel, parameters, prior, watch))
