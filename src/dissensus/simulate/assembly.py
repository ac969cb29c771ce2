"""Build a corpus from simulated annotators and contents, with everything known about both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus, Rationales
from dissensus.names import Names
from dissensus.scales import Nominal
from dissensus.simulate.crowd import Attention, Crowd, Draws, Parts, Sizes, assign, draw_parts
from dissensus.simulate.truth import ChoiceTruth, Truth


@dataclass(frozen=True, eq=False)
class Shown:
    """One content per item, and where its parts are in it."""

    role: str
    contents: Contents
    content: np.ndarray  # (n_items,) codes
    start: np.ndarray  # (n_items, most parts), or with two axes (n_items, most parts, 2)
    stop: np.ndarray


def labelled(
    preset: str,
    question: str,
    sizes: Sizes,
    make_scale: Callable[[int], Nominal],
    aspects: tuple[str, ...],
    show: Callable[[Parts, Nominal, Draws], Shown],
) -> Corpus:
    """The corpus in which annotators answer one question about the contents that `show` makes."""
    n_items, n_annotators, labels_per_item, n_values, seed = sizes.checked()
    draws, scale = Draws(seed), make_scale(n_values)
    assert scale.distance is not None
    crowd = Crowd.balanced(n_annotators, len(aspects), scale.distance, draws)
    parts = draw_parts(crowd, n_items, n_values, draws)
    shown = show(parts, scale, draws)
    known = ChoiceTruth(crowd, parts, shown.start, shown.stop, aspects)
    item, annotator = assign(sizes, draws)
    looked, answer = crowd.answer(parts, item, annotator, draws)
    distribution = known.distribution(item, annotator, np.float32)
    best = mean_by_annotator(distribution.max(axis=1), annotator, n_annotators)
    leans = {f"lean.{value}": crowd.lean[:, code] for code, value in enumerate(scale.values)}
    return build(
        preset,
        f"{labels_per_item} labels per item, {n_values} values, seed {seed}",
        {question: answers(item, annotator, answer, scale, sizes, distribution)},
        shown,
        known,
        looked,
        part_attributes(known, scale.values),
        {
            "noise": crowd.noise / 100,
            **leans,
            **preferences(crowd, aspects),
            "best_accuracy": best,
        },
    )


def answers(
    item: np.ndarray,
    annotator: np.ndarray,
    answer: np.ndarray,
    scale: Any,
    sizes: Sizes,
    distribution: np.ndarray,
    **more: Any,
) -> Annotations:
    """The answers to a question, with the distribution from which each was drawn."""
    digits = len(str(sizes.n_annotators))
    names = [f"annotator-{number:0{digits}}" for number in range(1, sizes.n_annotators + 1)]
    lists = pa.FixedSizeListArray.from_arrays(pa.array(distribution.ravel()), scale.n_columns)
    return Annotations.from_arrays(
        item,
        annotator,
        answer,
        scale,
        items=Names.range(sizes.n_items),
        annotators=Names(names),
        extra={"distribution": lists},
        **more,
    )


def build(
    preset: str,
    note: str,
    questions: dict[str, Annotations],
    shown: Shown,
    known: Truth,
    looked: np.ndarray,
    item_attributes: dict[str, Any],
    annotator_attributes: dict[str, Any],
) -> Corpus:
    """The corpus, with the part that each annotator looked at as rationales of each question."""
    one = next(iter(questions.values()))
    annotator = one.annotator_codes("rationales")
    n, n_rows = len(questions), one.n_rows
    columns = one.item, annotator, shown.start[one.item, looked], shown.stop[one.item, looked]
    item, annotator, start, stop = (np.concatenate([column] * n) for column in columns)
    rationales = Rationales(
        item,
        annotator,
        pa.concat_arrays([pa.repeat(question, n_rows) for question in questions]),
        pa.repeat(shown.role, n_rows * n),
        start,
        stop,
        pa.repeat("focus", n_rows * n),
    )
    return Corpus.build(
        f"simulated-{preset}",
        one.items,
        questions,
        annotators=one.annotators,
        contents={shown.role: (shown.contents, shown.content)},
        item_attributes=item_attributes,
        annotator_attributes=annotator_attributes,
        rationales=rationales,
        notes=(
            f"simulated: preset {preset}, {len(known.parts)} items, {len(known.crowd)} "
            f"annotators, {note}",
        ),
    )


def preferences(crowd: Attention, aspects: Sequence[str]) -> dict[str, Any]:
    """The preferences of annotators as attributes, from which `truth` rebuilds them."""
    return {f"focus.{aspect}": crowd.preference[:, code] for code, aspect in enumerate(aspects)}


def part_attributes(known: Truth, values: Sequence[str]) -> dict[str, Any]:
    """The parts of each item as items' attributes: lists with one entry per part."""
    parts, there = known.parts, known.parts.there
    columns = {
        "parts.aspect": pa.array(known.aspects).take(pa.array(parts.aspect[there])),
        "parts.value": pa.array(values).take(pa.array(parts.value[there])),
        "parts.start": _places(known.start[there]),
        "parts.stop": _places(known.stop[there]),
    }
    return {name: part_lists(parts, flat) for name, flat in columns.items()}


def part_lists(parts: Parts, flat: Any) -> Any:
    """Values of the existing parts, as one list per item."""
    offsets = np.append(0, parts.there.sum(axis=1).cumsum()).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), flat)


def _places(ends: np.ndarray) -> Any:
    """Numbers, or a short list for each if there are two axes."""
    flat = pa.array(ends.ravel())
    return flat if ends.ndim == 1 else pa.FixedSizeListArray.from_arrays(flat, ends.shape[1])


def mean_by_annotator(numbers: np.ndarray, annotator: np.ndarray, n_annotators: int) -> Any:
    """The mean of each annotator's numbers, one per row; null without rows."""
    rows = np.bincount(annotator, minlength=n_annotators)
    total = np.bincount(annotator, numbers, minlength=n_annotators)
    return pa.array(total / np.maximum(rows, 1), mask=rows == 0)
