"""Read a table of predicted answers or probabilities, made by any system."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from dissensus.errors import DataError, counted, listed
from dissensus.names import Names
from dissensus.scales import Interval, MultiLabel, Scale, split_set

ITEM = ("item", "id", "item_id", "itemid", "example_id", "text_id", "uid", "task")
ANNOTATOR = ("annotator", "annotator_id", "worker", "worker_id", "rater", "user", "coder")
ANSWER = ("answer", "label", "prediction", "predicted", "pred", "value", "output", "rating")
LISTS = ("probabilities", "probs", "distribution", "soft_label", "soft", "scores")
BEFORE = ("share.", "probability.", "prob.", "prob_", "p_", "p.", "p(", "score_", "")
SUM_TOLERANCE = 0.01


class TablePairs(NamedTuple):
    """Answers of annotators, a row each; codes into the items and the annotators."""

    item: np.ndarray
    annotator: np.ndarray
    annotators: Names
    value: np.ndarray
    distribution: np.ndarray


class TableAnswers(NamedTuple):
    """What a table says about items, as `Prediction` stores it."""

    items: Names
    distribution: np.ndarray
    consensus: np.ndarray
    pairs: TablePairs | None = None
    members: np.ndarray | None = None


@dataclass
class _Rows:
    """The rows of a table that can be used."""

    item: list[str] = field(default_factory=list)
    annotator: list[str] = field(default_factory=list)
    answer: list[Any] = field(default_factory=list)  # as the scale stores it
    distribution: list[np.ndarray] = field(default_factory=list)
    skipped: dict[str, list[str]] = field(default_factory=dict)  # why -> examples


def answers_in_table(
    frame: Any,
    scale: Scale,
    *,
    items: Names | None = None,
    annotators: Names | None = None,
    item: str | None = None,
) -> tuple[TableAnswers, list[str]]:
    """The answers in a table with one row per item, or per item and annotator; and notes.

    Columns are recognised by name: item (or id, or the column with most of `items`), annotator,
    answer (or label, prediction), and the probability of each value (share.VALUE,
    probability.VALUE, p_VALUE, or VALUE alone), or one column with a list or dictionary of
    probabilities. Several rows for an item are several draws: the members of an ensemble.

    Args:
        items: the known items; rows of others are left out and counted. All are kept if left out.
        annotators: the known annotators, in the same way.
        item: the column of items, if its name is not recognised.
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
        values = listed(getattr(scale, "values", ("a rating",)), 5)
        raise DataError(
            f"no column of answers or of probabilities of {values}; its columns: "
            f"{listed(columns, 20)}"
        )
    known_items = None if items is None else set(items)
    known_annotators = None if annotators is None else set(annotators)
    rows = _Rows()
    sums: list[float] = []
    n = len(columns[item_column])
    for at in range(n):
        cell = {name: values[at] for name, values in columns.items()}
        who = "" if annotator_column is None else _text(cell[annotator_column])
        name = _text(cell[item_column])
        if known_items is not None and name not in known_items:
            rows.skipped.setdefault("an item that is not in the corpus", []).append(name)
        elif annotator_column and known_annotators is not None and who not in known_annotators:
            rows.skipped.setdefault("an annotator who is not in the corpus", []).append(who)
        else:
            answer = None if answer_column is None else cell[answer_column]
            listed_shares = _listed(cell[lists], scale) if lists else None
            of_values = [cell[column] for column in shares] if shares else listed_shares
            _add(rows, name, who, answer, of_values, scale, sums)
    if not rows.item:
        why = "; ".join(f"{why} ({listed(some, 3)})" for why, some in rows.skipped.items())
        raise DataError(f"no row of {n} can be used: {why or 'the table is empty'}")
    notes = [
        f"{counted(len(some), 'row')} of {n} left out: {why} ({listed(dict.fromkeys(some), 3)})"
        for why, some in rows.skipped.items()
    ]
    if sums:
        notes.append(
            f"{counted(len(sums), 'row')} of {n}: probabilities sum to {min(sums):.3g} - "
            f"{max(sums):.3g}, not to one; they were divided by their sum"
        )
    return _predicted(rows, scale, annotator_column is not None), notes


# ---- cells ----


def _columns(frame: Any) -> dict[str, list[Any]]:
    """The columns of a DataFrame, an Arrow table or a dictionary, as lists."""
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
    """The probabilities in a list or dictionary, or in its text."""
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


def _add(
    rows: _Rows,
    name: str,
    who: str,
    given: Any,
    shares: Sequence[Any] | None,
    scale: Scale,
    sums: list[float],
) -> None:
    """Add a row, or count why it is left out."""
    distribution = None
    if shares is not None and not any(_is_gap(share) for share in shares):
        distribution = np.array([float(share) for share in shares])
        if len(distribution) != scale.n_columns:
            raise DataError(
                f"item {name!r}: {len(distribution)} probabilities for {scale.n_columns} values"
            )
        if not (distribution >= 0).all():
            raise DataError(f"item {name!r}: a probability is negative")
        if isinstance(scale, MultiLabel):
            distribution = distribution.clip(0, 1)
        else:
            total = float(distribution.sum())
            if not total:
                rows.skipped.setdefault("all probabilities are 0", []).append(name)
                return
            sums += [total] if abs(total - 1) > SUM_TOLERANCE else []
            distribution = distribution / total
    answer = None
    if not (isinstance(scale, MultiLabel) and given == "") and _is_gap(given):
        if distribution is None:
            rows.skipped.setdefault("no answer", []).append(name)
            return
        answer = scale.consensus(distribution[None])[0]
    else:
        try:
            spelled = split_set(given) if isinstance(scale, MultiLabel) else _text(given)
            answer = scale.encode([spelled])[0]
        except DataError:
            if distribution is None:
                rows.skipped.setdefault("an answer that is not on the scale", []).append(
                    _text(given)
                )
                return
            answer = scale.consensus(distribution[None])[0]
    if distribution is None:
        distribution = scale.one_hot(np.array([answer], dtype=scale.dtype))[0].astype(float)
    rows.item.append(name)
    rows.annotator.append(who)
    rows.answer.append(answer)
    rows.distribution.append(distribution)


# ---- the prediction ----


def _predicted(rows: _Rows, scale: Scale, by_annotator: bool) -> TableAnswers:
    names = list(dict.fromkeys(rows.item))
    codes = {name: at for at, name in enumerate(names)}
    item = np.array([codes[name] for name in rows.item], dtype=np.int64)
    answer = np.array(rows.answer, dtype=scale.dtype)
    distribution = np.stack(rows.distribution)
    if not by_annotator:
        mean, consensus, _ = _merged(item, answer, distribution, len(names), scale)
        return TableAnswers(Names(names), mean, consensus, members=_members(item, answer))
    people = list(dict.fromkeys(rows.annotator))
    of_people = {name: at for at, name in enumerate(people)}
    annotator = np.array([of_people[name] for name in rows.annotator], dtype=np.int64)
    keys, pair = np.unique(item * len(people) + annotator, return_inverse=True)
    mean, value, _ = _merged(pair.reshape(-1), answer, distribution, len(keys), scale)
    pairs = TablePairs(keys // len(people), keys % len(people), Names(people), value, mean)
    of_items, consensus, _ = _merged(pairs.item, value, mean, len(names), scale)
    return TableAnswers(Names(names), of_items, consensus, pairs)


def _merged(
    group: np.ndarray, answer: np.ndarray, distribution: np.ndarray, n: int, scale: Scale
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
    return mean, consensus.astype(scale.dtype), size


def _members(item: np.ndarray, answer: np.ndarray) -> np.ndarray | None:
    """The draws, (n_draws, n_items), if every item has the same number of them, and several."""
    size = np.bincount(item)
    if size.min() != size.max() or size[0] < 2:
        return None
    order = np.argsort(item, kind="stable")
    return answer[order].reshape(len(size), size[0]).T
