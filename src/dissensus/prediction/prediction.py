"""Prediction: the answers to one question, by item and by annotator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from dissensus.errors import DataError, counted
from dissensus.frames import html_rows, to_frame
from dissensus.names import Names
from dissensus.prediction.attention import Attention, MemberAttention
from dissensus.prediction.prediction_table import answers_in_table
from dissensus.scales import Interval, Scale


@dataclass(frozen=True, eq=False)
class ByAnnotator:
    """One row per predicted pair of item and annotator."""

    item: np.ndarray  # (n_pairs,) codes into the prediction's items
    annotator: np.ndarray  # (n_pairs,) codes into annotators
    annotators: Names
    value: np.ndarray  # (n_pairs,) the predicted answer, stored as the scale stores answers
    distribution: np.ndarray | None = None  # (n_pairs, n_columns)

    def __repr__(self) -> str:
        return (
            f"<ByAnnotator: {counted(len(self), 'answer')} of "
            f"{counted(len(self.annotators), 'annotator')}>"
        )

    def __len__(self) -> int:
        return len(self.item)


@dataclass(frozen=True, eq=False)
class Prediction:
    """The answers to one question.

    `distribution` has the mass over values (nominal, ordinal) or over the grid (interval), or the
    marginals (multi-label). `consensus` is one answer per item, in the units of the scale: the most
    probable value, the median level, the mean, or the values above one half.
    """

    scale: Scale
    items: Names
    distribution: np.ndarray  # (n_items, n_columns)
    consensus: np.ndarray  # (n_items,)
    by_annotator: ByAnnotator | None = None
    attention: tuple[Attention, ...] = ()  # of pairs, on request, one for each role
    members: np.ndarray | None = None  # (n_members, n_items) answers of an ensemble's members
    disagreement: np.ndarray | None = None  # (n_items,) 0 to 1, if a method learns it
    member_attention: tuple[MemberAttention, ...] = ()  # on request, one for each role
    gives: Literal["share", "probability"] = "share"  # of annotators, or that a value is the truth
    index: Any = None  # of the DataFrame that was predicted; not saved
    trained: np.ndarray | None = None  # (n_items,) whether an item was in training

    def __post_init__(self) -> None:
        expected = (len(self.items), self.scale.n_columns)
        if self.distribution.shape != expected:
            raise DataError(
                f"the distribution must have the shape {expected}, found {self.distribution.shape}"
            )
        if self.consensus.shape != expected[:1]:
            raise DataError(f"{expected[0]} items but {len(self.consensus)} answers")
        if self.disagreement is not None and self.disagreement.shape != expected[:1]:
            raise DataError(
                f"{expected[0]} items but {len(self.disagreement)} entries in disagreement"
            )

        if self.attention and self.by_annotator is None:
            raise DataError("attention is of annotators, but none were predicted")
        for attention in self.attention:
            assert self.by_annotator is not None
            attention.check(self.by_annotator.item, expected[0])

    @classmethod
    def from_table(cls, frame: Any, scale: Scale, item: str | None = None) -> Prediction:
        """Predictions of any system, such as an LLM, from a DataFrame, Arrow table or dictionary.

        Columns are recognised by name: item (or id), annotator (if rows are of annotators), answer
        (or label, prediction), and the probability of each value (share.VALUE, p_VALUE, VALUE), or
        one column of lists. Several rows for an item are several draws: `members`.

        Args:
            item: the column of items, if its name is not recognised.

        Example:
            >>> from dissensus import Nominal
            >>> frame = {"id": ["t1", "t2"], "label": ["yes", "no"], "p_no": [0.2, 0.9],
            ...          "p_yes": [0.8, 0.1]}
            >>> Prediction.from_table(frame, Nominal(("no", "yes"))).distribution.tolist()
            [[0.2, 0.8], [0.9, 0.1]]
        """
        return prediction_from_table(frame, scale, item=item)[0]

    def to_table(self, by: Literal["item", "annotator"] = "item") -> Any:
        """An Arrow table with names, for pandas (`.to_pandas()`), polars or a file.

        Columns are item, annotator (if rows are pairs), answer, confidence and the share of each
        value. Confidence is the share of the answer; of a set of values, that of the least certain
        one. Ratings have the standard deviation `sd` instead, and the share of each bin of the
        grid.

        Example:
            >>> from dissensus import Nominal
            >>> prediction = Prediction(
            ...     Nominal(("no", "yes")), Names(["t1"]), np.array([[0.2, 0.8]]), np.array([1])
            ... )
            >>> prediction.to_table().to_pylist()
            [{'item': 't1', 'answer': 'yes', 'confidence': 0.8, 'share.no': 0.2, 'share.yes': 0.8}]
        """
        pairs, shares = self.by_annotator, None
        if by not in ("item", "annotator"):
            raise DataError(f"by must be 'item' or 'annotator', found {by!r}")
        if by == "item":
            columns: dict[str, Any] = {"item": self.items.array}
            value, shares = self.consensus, self.distribution
        elif pairs is None:
            raise DataError("no answers of annotators were predicted; use by='item'")
        else:
            columns = {
                "item": self.items.array.take(pa.array(pairs.item)),
                "annotator": pairs.annotators.array.take(pa.array(pairs.annotator)),
            }
            value, shares = pairs.value, pairs.distribution
        columns["answer"] = self.scale.column(value)
        bins = [f"bin-{k}" for k in range(self.scale.n_columns)]
        names = getattr(self.scale, "values", bins)
        if shares is not None:
            if isinstance(self.scale, Interval):
                columns["sd"] = self.scale.spread(shares)
            else:
                columns["confidence"] = self.scale.confidence(shares, value)
            columns |= {f"{self.gives}.{name}": shares[:, at] for at, name in enumerate(names)}
        if by == "item" and self.disagreement is not None:
            columns["disagreement"] = self.disagreement
        return pa.table(columns)

    def to_pandas(self, by: Literal["item", "annotator"] = "item") -> Any:
        """A pandas DataFrame with the columns of `to_table`.

        If a DataFrame was predicted, rows for its items have its index, so that
        `frame.join(prediction.to_pandas())` works.
        """
        return to_frame(self.to_table(by), self.index if by == "item" else None)

    def _repr_html_(self) -> str:
        """The first items, for notebooks."""
        return html_rows(self.to_table(), repr(self).strip("<>"))

    def __repr__(self) -> str:
        pairs = "" if self.by_annotator is None else f"; {self.by_annotator!r}"
        return f"<Prediction: {self.scale.kind}, {counted(len(self.items), 'item')}{pairs}>"


def prediction_from_table(
    frame: Any,
    scale: Scale,
    *,
    items: Names | None = None,
    annotators: Names | None = None,
    item: str | None = None,
) -> tuple[Prediction, list[str]]:
    """The prediction in a table, as `Prediction.from_table`; and notes on rows that are left out,
    such as those of items or annotators that are not among the known ones."""
    answers, notes = answers_in_table(frame, scale, items=items, annotators=annotators, item=item)
    pairs = None if answers.pairs is None else ByAnnotator(*answers.pairs)
    of_items = answers.items, answers.distribution, answers.consensus
    return Prediction(scale, *of_items, pairs, members=answers.members), notes
