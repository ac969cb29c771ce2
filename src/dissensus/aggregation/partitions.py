"""Partitions: where the rows of annotations are counted."""

from __future__ import annotations

from typing import Any

import numpy as np

from dissensus.aggregation.cluster_rows import ClusterRows
from dissensus.aggregation.disk_rows import DiskRows
from dissensus.aggregation.rows import AnyRows, Rows
from dissensus.annotations import AnnotationBlocks, Annotations


def rows_of(
    annotations: Annotations | AnnotationBlocks,
    purpose: str,
    known: np.ndarray,
    cluster: Any | None = None,
) -> AnyRows:
    """The rows of annotations in memory, of blocks in files, or on the workers of a cluster.

    Args:
        known: the code of each item's known label, -1 where there is none, (n_items,).
        cluster: a Dask client.
    """
    if cluster is not None:
        return ClusterRows.of(annotations, purpose, known, cluster)
    if isinstance(annotations, AnnotationBlocks):
        return DiskRows.of_blocks(annotations, purpose, known)
    return Rows.of(annotations, purpose, known)
