"""Options: what a user can state about a table; what is None is recognised from the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dissensus.annotations import Repeats
from dissensus.scales import Scale


@dataclass(frozen=True)
class Options:
    """The arguments of `readers.read`, as every reader gets them.

    Example:
        >>> Options(item="task", answer=("label",)).columns_named
        {'item': 'task', 'answer': ('label',)}
    """

    format: str | None = None  # as the user named it: of the file, or "long" or "wide"
    item: str | None = None
    item_parts: tuple[str, ...] = ()  # columns that name the item together, as `item`
    annotator: str | None = None
    annotators: tuple[str, ...] | None = None  # the columns of a wide table, one per annotator
    answer: tuple[str, ...] | None = None  # a question each, named after the column
    text: tuple[str, ...] | None = None  # a role each, named after the column if several
    question: str | None = None  # the column that names the question
    gold: str | None = None
    scale: Scale | str | Mapping[str, Scale | str] | None = None  # a mapping: by question
    repeats: Repeats = "error"
    encoding: str | None = None
    name: str | None = None  # of the corpus
    corpus: str | None = None  # which one, if the source contains several
    merge_variants: bool = False
    missing: tuple[str, ...] = ()  # further words for a missing answer
    features: tuple[str, ...] = ()  # patterns of columns
    columns_only: bool = False  # no roles: a row is an item, and every column an attribute

    @property
    def columns_named(self) -> dict[str, str | tuple[str, ...]]:
        """The columns that the user named, by what they are."""
        parts = ("item", "annotator", "annotators", "answer", "text", "question", "gold")
        return {part: getattr(self, part) for part in parts if getattr(self, part) is not None}
