"""Prediction: the answers to one question, by item and by annotator."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from dissensus.errors import DataError, counted, listed
from dissensus.names import Names, new_codes
from dissensus.prediction.attention import Attention
from dissensus.scales import Interval, MultiLabel, Scale, split_set
from dissensus.tables import html_rows, to_frame

ITEM = ("item", "id", "item_id", "itemid", "example_id", "text_id", "uid", "task")
ANNOTATOR = ("annotator", "annotator_id", "worker", "worker_id", "rater", "user", "coder")
ANSWER = ("answer", "label", "prediction", "predicted", "pred", "value", "output", "rating")
LISTS = ("probabilities", "probs", "distribution", "soft_label", "soft", "scores")
BEFORE = ("share.", "probability.", "prob.", "prob_", "p_", "p.", "p(", "score_", "")
SUM_TOLERANCE = 0.01
MOST_DECIMALS = 6  # of probabilities that are rounded


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

    def without(self, annotators: Sequence[str]) -> Prediction:
        """The same without the answers of these annotators; itself if it has none of them."""
        pairs = self.by_annotator
        if pairs is None or (gone := pairs.annotators.find(list(annotators))).max(initial=-1) < 0:
            return self
        left = np.delete(np.arange(len(pairs.annotators)), gone[gone >= 0])
        code = new_codes(left, len(pairs.annotators))[pairs.annotator]
        rows = np.flatnonzero(code >= 0)
        shares = None if pairs.distribution is None else pairs.distribution[rows]
        names, value = pairs.annotators.take(left), pairs.value[rows]
        fewer = ByAnnotator(pairs.item[rows], code[rows], names, value, shares)
        attention = tuple(each.take(rows) for each in self.attention)
        return replace(self, by_annotator=fewer, attention=attention)

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
        return html_rows(self.to_table(), repr(self).strip("<>"))

    def __repr__(self) -> str:
        pairs = "" if self.by_annotator is None else f"; {self.by_annotator!r}"
        return f"<Prediction: {self.scale.kind}, {counted(len(self.items), 'item')}{pairs}>"


# ---- a table of predicted answers or probabilities, made by any system ----


@dataclass
class _Rows:
    """The rows of a table that can be used."""

    item: list[str] = field(default_factory=list)
    annotator: list[str] = field(default_factory=list)
    answer: list[Any] = field(default_factory=list)  # as the scale stores it
    distribution: list[np.ndarray] = field(default_factory=list)
    skipped: dict[str, list[str]] = field(default_factory=dict)  # why -> examples
    sums: list[float] = field(default_factory=list)  # of probabilities, where they are not 1
    least: float = 0.0  # half of the last digit of probabilities: one of 0 may be as large
    raised: int = 0  # rows with a smaller one

    def leave_out(self, why: str, example: str) -> None:
        self.skipped.setdefault(why, []).append(example)

    def add(self, name: str, who: str, given: Any, shares: Any, scale: Scale) -> None:
        """Add a row, or count why it is left out."""
        distribution, several = None, isinstance(scale, MultiLabel)
        if shares is not None and not any(_is_gap(share) for share in shares):
            distribution = np.array([float(share) for share in shares])
            if len(distribution) != scale.n_columns:
                raise DataError(
                    f"item {name!r}: {len(distribution)} probabilities for {scale.n_columns} values"
                )
            if not (distribution >= 0).all():
                raise DataError(f"item {name!r}: a probability is negative")
            self.raised += bool((distribution < self.least).any())
            if several:
                distribution = distribution.clip(self.least, 1 - self.least)
            else:
                total = float(distribution.sum())
                if not total:
                    return self.leave_out("all probabilities are 0", name)
                self.sums += [total] if abs(total - 1) > SUM_TOLERANCE else []
                distribution = np.maximum(distribution / total, self.least)
                distribution /= distribution.sum()
        answer, why, example = None, "no answer", name
        if (several and given == "") or not _is_gap(given):
            why, example = "an answer that is not on the scale", _text(given)
            with suppress(DataError):
                answer = scale.encode([split_set(given) if several else example])[0]
        if answer is None and distribution is None:
            return self.leave_out(why, example)
        if distribution is None:
            distribution = scale.one_hot(np.array([answer], dtype=scale.dtype))[0].astype(float)
        elif answer is None:
            answer = scale.consensus(distribution[None])[0]
        self.item.append(name)
        self.annotator.append(who)
        self.answer.append(answer)
        self.distribution.append(distribution)
        return None


def prediction_from_table(
    frame: Any,
    scale: Scale,
    *,
    items: Names | None = None,
    annotators: Names | None = None,
    item: str | None = None,
    question: str = "",
) -> tuple[Prediction, list[str]]:
    """The prediction in a table with one row per item, or per item and annotator; and notes on rows
    that are left out.

    Columns are recognised by name: item (or id, or the column with most of `items`), annotator,
    answer (or label, prediction, the question, or the only column with values of the scale), and
    the probability of each value (share.VALUE, probability.VALUE, p_VALUE, or VALUE alone), or one
    column with a list or dictionary of probabilities. Several rows for an item are several draws:
    the members of an ensemble.

    Args:
        items: the known items; rows of others are left out and counted. All are kept if left out.
        annotators: the known annotators, in the same way.
        item: the column of items, if its name is not recognised.
        question: its name, which a column of answers may have.
    """
    columns = _columns(frame)
    item_column = item or _named(columns, ITEM) or _with_items(columns, items)
    if item_column not in columns:
        hint = "" if items is None else f", and none has items of the corpus ({listed(items, 3)})"
        raise DataError(
            f"no column of items such as 'item' or 'id'{hint}; its columns: {listed(columns, 20)}"
        )
    annotator_column, answer_column = _named(columns, ANNOTATOR), _named(columns, ANSWER)
    shares = _share_columns(columns, scale)
    lists = _named(columns, LISTS) if not shares else None
    if answer_column is None and not shares and lists is None:
        free = {
            n: cells for n, cells in columns.items() if n not in (item_column, annotator_column)
        }
        answer_column = _named(free, [question.strip().lower()]) or _with_answers(free, scale)
    if answer_column is None and not shares and lists is None:
        values = listed(getattr(scale, "values", ("a rating",)), 5)
        raise DataError(
            f"no column of answers or of probabilities of {values}; its columns: "
            f"{listed(columns, 20)}"
        )
    known_items = None if items is None else set(items)
    known_annotators = None if annotators is None else set(annotators)
    rounded = [] if isinstance(scale, Interval) else [columns[name] for name in shares]
    rows = _Rows(least=_half_digit(rounded))
    n = len(columns[item_column])
    for at in range(n):
        cell = {name: values[at] for name, values in columns.items()}
        who = "" if annotator_column is None else _text(cell[annotator_column])
        name = _text(cell[item_column])
        if known_items is not None and name not in known_items:
            rows.leave_out("an item that is not in the corpus", name)
        elif annotator_column and known_annotators is not None and who not in known_annotators:
            rows.leave_out("an annotator who is not in the corpus", who)
        else:
            answer = None if answer_column is None else cell[answer_column]
            listed_shares = _listed(cell[lists], scale) if lists else None
            of_values = [cell[column] for column in shares] if shares else listed_shares
            rows.add(name, who, answer, of_values, scale)
    if not rows.item:
        why = "; ".join(f"{why} ({listed(some, 3)})" for why, some in rows.skipped.items())
        raise DataError(f"no row of {n} can be used: {why or 'the table is empty'}")
    roles: dict[str, list[str | None]]
    roles = {"items": [item_column], "annotators": [annotator_column],
             "answers": [answer_column], "probabilities": [*shares, lists]}  # fmt: skip
    used = {role: [name for name in names if name] for role, names in roles.items()}
    others = [name for name in columns if not any(name in names for names in used.values())]
    parts = [f"{role} in {listed(names, 5)}" for role, names in used.items() if names]
    parts += [f"not used: {listed(others, 5)}"] if others else []
    notes = ["; ".join(parts)]
    notes += [
        f"{counted(len(some), 'row')} of {n} left out: {why} ({listed(dict.fromkeys(some), 3)})"
        for why, some in rows.skipped.items()
    ]
    if sums := rows.sums:
        notes.append(
            f"{counted(len(sums), 'row')} of {n}: probabilities sum to {min(sums):.3g} - "
            f"{max(sums):.3g}, not to one; they were divided by their sum"
        )
    if rows.raised:
        notes.append(
            f"{counted(rows.raised, 'row')} of {n} with a probability below {rows.least:g}, half "
            "of the last digit that the file has: taken as that"
        )
    return _predicted(rows, scale, annotator_column is not None), notes


# ---- cells ----


def _half_digit(columns: Sequence[Sequence[Any]]) -> float:
    """Half of the last digit of rounded probabilities; 0 if they are not, or are 0 and 1 only."""
    texts = [str(cell).strip() for cells in columns for cell in cells]
    decimals = [len(text.partition(".")[2].rstrip("0")) for text in texts if "e" not in text]
    most = max(decimals, default=0) if len(decimals) == len(texts) else 0
    return 0.5 * 10.0**-most if 0 < most <= MOST_DECIMALS else 0.0


def _columns(frame: Any) -> dict[str, list[Any]]:
    if hasattr(frame, "to_pydict"):
        return dict(frame.to_pydict())
    if isinstance(frame, Mapping):
        return {str(name): list(values) for name, values in frame.items()}
    if hasattr(frame, "columns"):
        return {str(name): list(frame[name]) for name in frame.columns}
    raise DataError(f"a table of predictions must be a DataFrame, found a {type(frame).__name__}")


def _named(columns: Mapping[str, Any], names: Sequence[str]) -> str | None:
    lower = {column.strip().lower(): column for column in columns}
    return next((lower[name] for name in names if name in lower), None)


def _with_items(columns: Mapping[str, Any], items: Names | None) -> str | None:
    """The column with the most known items, if at least half of its cells are known items."""
    known = set() if items is None else set(items)
    names = {column: [_text(cell) for cell in cells] for column, cells in columns.items()}
    matches = {column: [name for name in cells if name in known] for column, cells in names.items()}
    best = max(matches, key=lambda column: len(set(matches[column])), default=None)
    return best if best is not None and 2 * len(matches[best]) >= len(columns[best]) > 0 else None


def _with_answers(columns: Mapping[str, Any], scale: Scale) -> str | None:
    """The only column that has answers of a scale of values, and nothing else."""
    values = {value.casefold() for value in getattr(scale, "values", ())}
    texts = {name: {_text(cell).casefold() for cell in cells} for name, cells in columns.items()}
    fitting = [name for name, cells in texts.items() if cells - {""} and cells - {""} <= values]
    return fitting[0] if len(fitting) == 1 else None


def _share_columns(columns: Mapping[str, Any], scale: Scale) -> list[str]:
    """The columns of the probabilities of all values; empty if one is missing."""
    values = getattr(scale, "values", [f"bin-{k}" for k in range(scale.n_columns)])
    lower = {column.strip().lower(): column for column in columns}
    for before in BEFORE:
        after = ")" if before.endswith("(") else ""
        names = [f"{before}{value}{after}".lower() for value in values]
        if all(name in lower for name in names):
            return [lower[name] for name in names]
    return []


def _listed(cell: Any, scale: Scale) -> list[Any]:
    if isinstance(cell, str):
        try:
            cell = json.loads(cell.replace("'", '"'))
        except ValueError:
            raise DataError(f"not a list of probabilities: {cell[:40]!r}") from None
    if isinstance(cell, Mapping):
        values = getattr(scale, "values", ())
        by_name = {_text(name): share for name, share in cell.items()}
        return [by_name.get(value, 0.0) for value in values]
    return list(cell)


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else str(value).strip()


def _is_gap(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


# ---- the prediction ----


def _predicted(rows: _Rows, scale: Scale, by_annotator: bool) -> Prediction:
    names = list(dict.fromkeys(rows.item))
    codes = {name: at for at, name in enumerate(names)}
    item = np.array([codes[name] for name in rows.item], dtype=np.int64)
    answer = np.array(rows.answer, dtype=scale.dtype)
    distribution = np.stack(rows.distribution)
    if not by_annotator:
        mean, consensus = _merged(item, answer, distribution, len(names), scale)
        return Prediction(scale, Names(names), mean, consensus, members=_members(item, answer))
    people = list(dict.fromkeys(rows.annotator))
    of_people = {name: at for at, name in enumerate(people)}
    annotator = np.array([of_people[name] for name in rows.annotator], dtype=np.int64)
    keys, pair = np.unique(item * len(people) + annotator, return_inverse=True)
    mean, value = _merged(pair.reshape(-1), answer, distribution, len(keys), scale)
    pairs = ByAnnotator(keys // len(people), keys % len(people), Names(people), value, mean)
    of_items, consensus = _merged(pairs.item, value, mean, len(names), scale)
    return Prediction(scale, Names(names), of_items, consensus, pairs)


def _merged(
    group: np.ndarray, answer: np.ndarray, distribution: np.ndarray, n: int, scale: Scale
) -> tuple[np.ndarray, np.ndarray]:
    """The mean distribution and the consensus of each group; a single answer stays as it is."""
    size = np.bincount(group, minlength=n)
    mean = np.zeros((n, distribution.shape[1]))
    np.add.at(mean, group, distribution)
    mean /= size[:, None]
    if isinstance(scale, Interval):
        consensus = np.bincount(group, answer.astype(float), minlength=n) / size
    else:
        consensus = scale.consensus(mean)
    alone = size[group] == 1
    consensus[group[alone]] = answer[alone]
    return mean, consensus.astype(scale.dtype)


def _members(item: np.ndarray, answer: np.ndarray) -> np.ndarray | None:
    """The draws, (n_draws, n_items), if every item has the same number of them, and several."""
    size = np.bincount(item)
    if size.min() != size.max() or size[0] < 2:
        return None
    order = np.argsort(item, kind="stable")
    return answer[order].reshape(len(size), size[0]).T
