"""A measure as a sentence for a paper."""

from __future__ import annotations

import math
from typing import Any

from dissensus.agreement.confidence import ConfidenceInterval
from dissensus.agreement.registry import measure_named, why_unfit
from dissensus.agreement.summary import Over, interval, why_undefined
from dissensus.annotations import Annotations
from dissensus.conversion import annotations_of
from dissensus.errors import counted

NAMES = {  # as papers write them; others as in `MEASURES`
    "percent": "observed agreement",
    "krippendorff-alpha": "Krippendorff's alpha",
    "fleiss-kappa": "Fleiss' kappa",
    "conger-kappa": "Conger's kappa",
    "randolph-kappa": "Randolph's kappa",
    "gwet-ac1": "Gwet's AC1",
    "gwet-ac2": "Gwet's AC2",
    "cohen-kappa": "mean pairwise Cohen's kappa",
    "scott-pi": "mean pairwise Scott's pi",
    "spearman": "mean pairwise Spearman's rho",
    "kendall": "mean pairwise Kendall's tau-b",
    "cronbach-alpha": "Cronbach's alpha",
}


def sentence(
    annotations: Annotations | Any, measure: str = "krippendorff-alpha", over: Over = "items"
) -> str:
    """A measure with its interval, the number of items, answers and annotators, for a paper.

    Args:
        annotations: or a corpus or table with one question, as `read` reads it.
        over: what the `interval` is over: items, or items and "raters".

    Example:
        >>> rows = [(f"t{i}", name, "yes" if i % 3 else "no")
        ...         for i in range(30) for name in ("ann", "bob")]
        >>> rows += [("t30", "ann", "yes"), ("t30", "bob", "no")]
        >>> sentence(Annotations.from_rows(rows))
        "Krippendorff's alpha = 0.93, 95 % CI [0.62, 0.99] over items, for these 2 annotators (31
        items, 62 answers)"
    """
    annotations = annotations_of(annotations)
    known = measure_named(measure)
    name = NAMES.get(measure, measure)
    unfit = why_unfit(known, annotations)
    value = math.nan if unfit else known.function(annotations)
    if math.isnan(value):
        return f"{name} is undefined: {why_undefined(measure, annotations)}"
    n_annotators = None
    if annotations.annotator is not None:
        n_annotators = int((annotations.per_annotator() > 0).sum())
    n_items = int((annotations.per_item() > 0).sum())
    ends = interval(measure, annotations, over=over)
    return written(measure, value, ends, n_items, annotations.n_answers, n_annotators, over)


def written(
    measure: str,
    value: float,
    ends: ConfidenceInterval,
    n_items: int,
    n_answers: int,
    n_annotators: int | None,
    over: Over = "items",
) -> str:
    """The sentence of a value and its interval.

    Args:
        n_annotators: None if annotators are unknown.
    """
    what, size = f"{NAMES.get(measure, measure)} = {value:.2f}", f"{n_items:,} items, "
    annotators = "" if n_annotators is None else counted(n_annotators, "annotator")
    answers = f"{n_answers:,} answers"
    given = f"{answers} by {annotators}" if annotators else answers
    if math.isnan(ends.low):
        few = "too few annotators" if over == "raters" and (n_annotators or 0) < 3 else "too few"
        return f"{what} ({size}{given}; {few} for an interval)"
    what += f", 95 % CI [{ends.low:.2f}, {ends.high:.2f}] over items"
    if over == "raters":
        return f"{what} and annotators ({size}{given})"
    these = f", for these {annotators}" if annotators else ""
    return f"{what}{these} ({size}{answers})"
