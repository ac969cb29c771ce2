"""The answers of each group of annotators: how many, which, and how much the group agrees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.agreement import (
    AnnotatorGroups,
    chosen_attributes,
    group_annotators,
    krippendorff_alpha,
)
from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.description.texts import ratings_of, shares_of

MISSING = "(missing)"


@dataclass(frozen=True)
class GroupDescription:
    """The answers of one group of annotators to one question."""

    attribute: str
    group: str  # "(missing)": annotators without the attribute
    annotators: int  # with answers
    answers: int
    items: int  # with answers of the group
    alpha: float  # Krippendorff's, within the group; nan where undefined
    shares: dict[str, float] | None  # of each value among the answers
    ratings: dict[str, float] | None  # mean, sd and quantiles
    suspicious: int  # annotators


def groups_of(corpus: Corpus, attributes: Sequence[str]) -> list[AnnotatorGroups]:
    """The groups by each attribute; "all": every attribute that has groups."""
    return [group_annotators(corpus, name) for name in chosen_attributes(corpus, attributes)]


def describe_groups(
    annotations: Annotations, groups: AnnotatorGroups, suspicious: set[str]
) -> list[GroupDescription]:
    """A row for each group with answers; the last, if any, is of those without the attribute."""
    annotator = annotations.annotator_codes("a description by group")
    odd = np.isin(
        np.arange(annotations.n_annotators), annotations.annotators.find(list(suspicious))
    )
    rows = []
    for code in (*range(len(groups.names)), -1):
        inside = groups.code == code
        own = annotations.take(inside[annotator])
        if not own.n_rows:
            continue
        rows.append(
            GroupDescription(
                attribute=groups.attribute,
                group=groups.names[code] if code >= 0 else MISSING,
                annotators=int((own.per_annotator() > 0).sum()),
                answers=own.n_answers,
                items=int((own.per_item() > 0).sum()),
                alpha=krippendorff_alpha(own),
                shares=shares_of(own),
                ratings=ratings_of(own),
                suspicious=int((odd & inside).sum()),
            )
        )
    return rows
