"""What is known of a measure of agreement besides its formula."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dissensus.annotations import Annotations


@dataclass(frozen=True)
class Measure:
    """A measure of agreement, the scales it is for, and what it means in a line."""

    function: Callable[[Annotations], float]
    scales: tuple[str, ...]  # kinds of scales
    description: str
