"""Arbitrary small corpora for Hypothesis: every scale and everything a corpus may hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from dissensus import Annotations, Corpus, Interval, MultiLabel, Names, Nominal, Ordinal
from dissensus.contents import Contents
from dissensus.corpus import Focus, LeftOut, Rationales
from dissensus.scales import Scale

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
FACTS: list[st.SearchStrategy[Any]] = [
    TEXT,
    st.integers(-(2**40), 2**40),
    st.floats(allow_nan=False),
    st.booleans(),
]


@st.composite
def scales(draw: st.DrawFn) -> Scale:
    """Any scale; values are any texts."""
    values = tuple(draw(st.lists(TEXT, min_size=1, max_size=4, unique=True)))
    n = len(values)
    distance = np.abs(np.subtract.outer(np.arange(n), np.arange(n))).astype(float)
    low = draw(st.floats(-100, 100))
    return draw(
        st.sampled_from(
            [
                Nominal(values),
                Nominal(values, distance),
                Ordinal(values, tuple(range(n))),
                Interval(low, low + draw(st.floats(0.5, 50)), draw(st.integers(2, 30))),
                MultiLabel(values),
            ]
        )
    )


def _answers(draw: st.DrawFn, scale: Scale, size: int) -> np.ndarray:
    if isinstance(scale, Interval):
        shares = draw(st.lists(st.floats(0, 1), min_size=size, max_size=size))
        spread = scale.low + np.array(shares, float) * (scale.high - scale.low)
        return np.clip(spread, scale.low, scale.high)
    n_values = scale.n_columns
    most = 2**n_values - 1 if isinstance(scale, MultiLabel) else n_values - 1
    return np.array(draw(st.lists(st.integers(0, most), min_size=size, max_size=size)), scale.dtype)


@st.composite
def answered(draw: st.DrawFn, items: Names, people: Names) -> Annotations:
    """Named answers, anonymous ones or counts, with or without the optional columns."""
    kinds = ["anonymous", "counted"] + (["named", "named", "repeated"] if len(people) else [])
    kind = draw(st.sampled_from(kinds))
    named = kind in ("named", "repeated")
    pair = st.tuples(st.integers(0, len(items) - 1), st.integers(0, max(len(people) - 1, 0)))
    pairs = draw(st.lists(pair, max_size=12, unique=kind == "named"))
    item, who = (np.array([p[axis] for p in pairs], np.int64) for axis in (0, 1))
    size, scale = len(pairs), draw(scales())
    counts = draw(st.lists(st.integers(1, 9), min_size=size, max_size=size))
    optional: dict[str, Any] = {
        "response": np.array(draw(st.permutations(range(size))), np.int64),
        "seconds": np.array(draw(st.lists(st.just(np.nan) | st.floats(0, 9), min_size=size,
                                          max_size=size)), float),
        "extra": {draw(TEXT): _column(draw, size)},
    }  # fmt: skip
    chosen = draw(st.sets(st.sampled_from(sorted(optional))))
    return Annotations.from_arrays(
        item,
        who if named else None,
        _answers(draw, scale, size),
        scale,
        items=items,
        annotators=people if named else None,
        count=np.array(counts, np.int64) if kind == "counted" else None,
        repeats="keep" if kind == "repeated" else "error",
        **{name: optional[name] for name in sorted(chosen)},
    )


def _column(draw: st.DrawFn, size: int) -> Any:
    """Facts of one type, some of them missing, as Arrow."""
    kind = draw(st.sampled_from(FACTS))
    values = draw(st.lists(st.none() | kind, min_size=size, max_size=size))
    return pa.array(values) if any(v is not None for v in values) else pa.nulls(size, pa.string())


def _columns(draw: st.DrawFn, size: int) -> dict[str, Any]:
    names = draw(st.lists(TEXT, max_size=2, unique=True))
    return {name: _column(draw, size) for name in names}


def _names(draw: st.DrawFn, least: int, most: int) -> Names:
    texts = draw(st.lists(TEXT, min_size=least, max_size=most, unique=True))
    return Names.range(len(texts)) if draw(st.booleans()) else Names(pa.array(texts, pa.string()))


def _contents(draw: st.DrawFn, n_items: int) -> dict[str, tuple[Contents, np.ndarray]]:
    results: dict[str, tuple[Contents, np.ndarray]] = {}
    for role in draw(st.lists(TEXT, max_size=2, unique=True)):
        if draw(st.booleans()):
            texts = draw(st.lists(st.none() | TEXT, min_size=n_items, max_size=n_items))
            results[role] = Contents.distinct("text", pa.array(texts, pa.string()))
        else:
            levels = draw(st.lists(st.integers(0, 2), min_size=n_items, max_size=n_items))
            results[role] = Contents.distinct("features", np.outer(levels, [1.0, 2.0]))
    return results


def _focus(draw: st.DrawFn, role: str, n_items: int) -> Focus:
    n_axes = draw(st.integers(1, 2))
    ends = st.lists(st.just(np.nan) | st.floats(0, 9), min_size=n_items, max_size=n_items)
    start = np.array([draw(ends) for _ in range(n_axes)], float).T
    return Focus(role, start, start + 1)


def _rationales(draw: st.DrawFn, questions: dict[str, Annotations], roles: list[str]) -> Rationales:
    """Spans that answers were given for; those of anonymous answers are nobody's."""
    spans = [
        (
            requested.item[row],
            -1 if requested.annotator is None else requested.annotator[row],
            question,
        )
        for question, requested in questions.items()
        for row in range(requested.n_rows)
    ]
    chosen = draw(st.lists(st.sampled_from(spans), max_size=8)) if spans else []
    n = len(chosen)
    start = np.array(draw(st.lists(st.floats(0, 9), min_size=n, max_size=n)), float)
    return Rationales(
        np.array([span[0] for span in chosen], np.int64),
        np.array([span[1] for span in chosen], np.int64),
        pa.array([span[2] for span in chosen], pa.string()),
        pa.array([draw(st.sampled_from(roles)) for _ in chosen], pa.string()),
        start,
        start + 1,
        pa.array([draw(TEXT) for _ in chosen], pa.string()),
    )


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    """A corpus with some of everything."""
    items, people = _names(draw, 1, 7), _names(draw, 0, 4)
    names = draw(st.lists(TEXT, max_size=2, unique=True))
    questions = {name: draw(answered(items, people)) for name in names}
    gold = {
        name: Annotations.from_arrays(
            np.arange(len(items)), None, _answers(draw, scale, len(items)), scale, items=items
        )
        for name, scale in ((name, draw(scales())) for name in names if draw(st.booleans()))
    }
    contents = _contents(draw, len(items))
    attributes = _columns(draw, len(items))
    parts = st.lists(st.none() | TEXT, min_size=len(items), max_size=len(items))
    facts: dict[str, Any] = {
        "splits": {draw(TEXT): pa.array(draw(parts), pa.string())} if draw(st.booleans()) else {},
        "group": draw(st.sampled_from([None, *attributes])),
        "left_out": tuple(LeftOut(name, draw(TEXT), draw(st.integers(1, 9))) for name in names),
        "notes": tuple(draw(st.lists(TEXT, max_size=2))),
    }
    if bool(contents) and draw(st.booleans()):
        facts["focus"] = _focus(draw, draw(st.sampled_from(list(contents))), len(items))
    if bool(contents) and draw(st.booleans()):
        facts["rationales"] = _rationales(draw, questions, list(contents))
    return Corpus.build(
        draw(TEXT),
        items,
        questions,
        annotators=people,
        contents=contents,
        item_attributes=attributes,
        annotator_attributes=_columns(draw, len(people)),
        gold=gold,
        **facts,
    )
