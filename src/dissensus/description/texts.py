"""Scales, answers, ratings and contents as short texts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dissensus.agreement.per_part import answers_per_value
from dissensus.annotations import AnnotationBlocks, Annotations
from dissensus.scales import Interval, Scale

MOST_TEXT = 100  # characters of an item's text
QUANTILES = {"lowest": 0.0, "25 %": 0.25, "median": 0.5, "75 %": 0.75, "highest": 1.0}


def scale_text(scale: Scale) -> str:
    """A scale as a short text.

    Example:
        >>> from dissensus import Nominal
        >>> scale_text(Interval(-10, 10)), scale_text(Nominal(("no", "yes")))
        ('interval: -10..10', 'nominal: no, yes')
    """
    if isinstance(scale, Interval):
        return f"{scale.kind}: {scale.low:g}..{scale.high:g}"
    values = getattr(scale, "values", ())
    shown = ", ".join(values[:20])
    return f"{scale.kind}: {shown}" + (f", ... ({len(values)})" if len(values) > 20 else "")


def value_text(value: Any) -> str:
    """An answer as text: a set with plus signs, a number without trailing zeros."""
    if isinstance(value, tuple):
        return " + ".join(value) if value else "(none)"
    return f"{value:g}" if isinstance(value, float) else str(value)


def one_line(text: str, most: int = MOST_TEXT) -> str:
    """The beginning of a text, in one line and without control characters; the focus is included.

    Example:
        >>> one_line("so\\n  good!"), one_line("a long and winding [[road]] to it", most=20)
        ('so good!', '...nding [[road]]...')
    """
    if len(text) > 50 * most:  # the rest cannot be shown
        focus = text.find("]]") + 2 if "[[" in text else 0
        begin = max(focus - 25 * most, 0)
        text = text[begin : begin + 50 * most]
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    if len(text) <= most:
        return text
    stop = text.find("]]") + 2 if "[[" in text else 0
    if stop <= most - 3:
        return text[: most - 3].rstrip() + "..."
    begin = max(stop - (most - 6), 0)
    return f"...{text[begin:stop].lstrip()}..."


def ratings_of(annotations: Annotations) -> dict[str, float] | None:
    """Mean, standard deviation and quantiles of ratings; None for other or no answers."""
    if not isinstance(annotations.scale, Interval) or not annotations.n_rows:
        return None
    rating, weight = annotations.answer, annotations.weight
    mean = np.average(rating, weights=weight)
    free = weight.sum() - 1
    sd = math.sqrt(weight @ (rating - mean) ** 2 / free) if free > 0 else math.nan
    levels = list(QUANTILES.values())
    quantiles = np.quantile(rating, levels, weights=weight, method="inverted_cdf").tolist()
    return {"mean": float(mean), "sd": sd, **dict(zip(QUANTILES, quantiles, strict=True))}


def shares_of(annotations: Annotations | AnnotationBlocks) -> dict[str, float] | None:
    """The share of answers with each value; on a multi-label scale they may sum to more than 1."""
    scale = annotations.scale
    if isinstance(scale, Interval) or not annotations.n_rows:
        return None
    if isinstance(annotations, Annotations):
        counts = answers_per_value(annotations)
    else:
        counts = np.sum([answers_per_value(block) for _, block in annotations], axis=0)
    shares = counts / annotations.n_answers
    return dict(zip(getattr(scale, "values", ()), shares.tolist(), strict=True))
