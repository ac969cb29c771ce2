"""Build a corpus from simulated annotators and contents, with everything known about both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus, Rationales
from dissensus.names import Names
from dissensus.scales import Nominal
from dissensus.simulate.crowd import Crowd, Draws, Parts, assign
from dissensus.simulate.truth import crowd_attributes, mean_by_annotator, part_attributes


@dataclass(frozen=True, eq=False)
class Shown:
    """One content per item, and where its parts are in it."""

    role: str
    contents: Contents
    content: np.ndarray  # (n_items,) codes
    aspects: tuple[str, ...]  # what a part can be about
    parts: Parts
    start: np.ndarray  # (n_items, most parts), or with two axes (n_items, most parts, 2)
    stop: np.ndarray

    def rationales(
        self,
        questions: tuple[str, ...],
        item: np.ndarray,
        annotator: np.ndarray,
        looked: np.ndarray,
    ) -> Rationales:
        """The part that was looked at in each row, once for each question."""

        def tiled(column: np.ndarray) -> np.ndarray:
            return np.concatenate([column] * len(questions))

        n_rows = len(item)
        return Rationales(
            tiled(item),
            tiled(annotator),
            pa.concat_arrays([pa.repeat(question, n_rows) for question in questions]),
            pa.repeat(self.role, n_rows * len(questions)),
            tiled(self.start[item, looked]),
            tiled(self.stop[item, looked]),
            pa.repeat("focus", n_rows * len(questions)),
        )


def labelled(
    preset: str,
    question: str,
    shown: Shown,
    crowd: Crowd,
    scale: Nominal,
    labels_per_item: int,
    draws: Draws,
    seed: int,
) -> Corpus:
    """The corpus in which the annotators answer one question about the contents."""
    n_items, n_annotators = len(shown.parts), len(crowd)
    item, annotator = assign(n_items, n_annotators, labels_per_item, draws)
    looked, answer = crowd.answer(shown.parts, item, annotator, draws)
    distribution = crowd.distribution(shown.parts, item, annotator, np.float32)
    annotations = Annotations.from_arrays(
        item,
        annotator,
        answer,
        scale,
        items=Names.range(n_items),
        annotators=annotator_names(n_annotators),
        extra={"distribution": as_lists(distribution)},
    )
    return Corpus.build(
        f"simulated-{preset}",
        annotations.items,
        {question: annotations},
        annotators=annotations.annotators,
        contents={shown.role: (shown.contents, shown.content)},
        item_attributes=part_attributes(
            shown.parts, shown.aspects, scale.values, shown.start, shown.stop
        ),
        annotator_attributes=crowd_attributes(crowd, shown.aspects, scale.values)
        | {"best_accuracy": mean_by_annotator(distribution.max(axis=1), annotator, n_annotators)},
        rationales=shown.rationales((question,), item, annotator, looked),
        notes=(
            f"simulated: preset {preset}, {n_items} items, {n_annotators} annotators, "
            f"{labels_per_item} labels per item, {len(scale.values)} values, seed {seed}",
        ),
    )


def annotator_names(n_annotators: int) -> Names:
    """The names "annotator-01", "annotator-02", ..., of one length."""
    digits = len(str(n_annotators))
    return Names([f"annotator-{number:0{digits}}" for number in range(1, n_annotators + 1)])


def as_lists(table: np.ndarray) -> Any:
    """A table as one Arrow column, a row in each entry."""
    return pa.FixedSizeListArray.from_arrays(pa.array(table.ravel()), table.shape[1])
