"""Why a measure is undefined, in words."""

from __future__ import annotations

import numpy as np

from dissensus.agreement.icc import crossed, equal_means, same_number
from dissensus.annotations import Annotations

NOBODY_TOGETHER = "no two annotators answered the same item"


def no_answers(annotations: Annotations) -> str | None:
    return None if annotations.n_rows else "there are no answers"


def no_pairs(annotations: Annotations) -> str | None:
    if (annotations.voters() >= 2).any():
        return None
    several = (annotations.per_item() >= 2).any()
    return NOBODY_TOGETHER if several else "no item has two answers"


def one_value(annotations: Annotations) -> str | None:
    return "the scale has one value only" if annotations.scale.n_columns < 2 else None


def one_item(annotations: Annotations) -> str | None:
    return "only one item has answers" if np.count_nonzero(annotations.per_item()) < 2 else None


def all_equal(annotations: Annotations) -> str | None:
    alike = annotations.n_rows and (annotations.answer == annotations.answer[0]).all()
    return "all answers are the same" if alike else None


def all_paired_equal(annotations: Annotations) -> str | None:
    paired = annotations.take(annotations.voters()[annotations.item] >= 2)
    return "all answers to items with two or more are the same" if all_equal(paired) else None


def nobody_together(annotations: Annotations) -> str | None:
    """Whether no two annotators answered one item; `no_pairs` where there are no repeats."""
    annotator = annotations.annotator_codes("finding common items")
    low = np.full(annotations.n_items, annotations.n_annotators)
    high = np.full(annotations.n_items, -1)
    np.minimum.at(low, annotations.item, annotator)
    np.maximum.at(high, annotations.item, annotator)
    return None if (low < high).any() else NOBODY_TOGETHER


def no_pair_varies(annotations: Annotations) -> str | None:
    return "every two annotators gave one and the same answer to all items they share"


def no_value_varies(annotations: Annotations) -> str | None:
    return "for every value, every two annotators chose alike on all items they share"


def no_pair_correlates(annotations: Annotations) -> str | None:
    return "no two annotators share two items that they rate differently"


def not_crossed(annotations: Annotations) -> str | None:
    if crossed(annotations):
        return None
    why = "not every annotator rated every item once"
    once = "" if annotations.repeated is None else "; read one with --repeats first, last or mean"
    return f"{why}{once}"


def one_annotator(annotations: Annotations) -> str | None:
    n = np.count_nonzero(annotations.per_annotator())
    return "only one annotator has answers" if n < 2 else None


def same_means(annotations: Annotations) -> str | None:
    return "all items have the same mean rating" if equal_means(annotations) else None


def not_same_number(annotations: Annotations) -> str | None:
    return None if same_number(annotations) else "items have different numbers of ratings"
