"""Prediction and Predictions: what every method answers, and all that metrics read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.errors import DataError, listed
from dissensus.folders import read_json, read_table, reading, write_json, write_table, writing
from dissensus.names import Names
from dissensus.scales import Scale, scale_from_dict


@dataclass(frozen=True, eq=False)
class ByAnnotator:
    """One row per asked pair of item and annotator."""

    item: np.ndarray  # (n_pairs,) codes into the prediction's items
    annotator: np.ndarray  # (n_pairs,) codes into annotators
    annotators: Names
    value: np.ndarray  # (n_pairs,) the answer expected, stored as the scale stores answers
    distribution: np.ndarray | None = None  # (n_pairs, n_columns)

    def __len__(self) -> int:
        return len(self.item)


@dataclass(frozen=True, eq=False)
class Attention:
    """Where a method looked for each asked pair: a weight per position of the content."""

    role: str
    weight: np.ndarray  # (n_positions,) of all pairs, one after another
    places: np.ndarray  # (n_positions, n_axes, 2) from-to of each position in its content
    offsets: np.ndarray  # (n_pairs + 1,) where each pair's positions begin


@dataclass(frozen=True, eq=False)
class MemberAttention:
    """Where each member of an ensemble looked in each item: weights that are never negative and
    add up to 1 of members that pool by attention, else how much each position speaks for (above
    0) or against (below 0) what the member answers."""

    role: str
    weight: np.ndarray  # (n_members, n_positions) of all items, one after another
    places: np.ndarray  # (n_positions, n_axes, 2) from-to of each position in its content
    offsets: np.ndarray  # (n_items + 1,) where each item's positions begin


@dataclass(frozen=True, eq=False)
class Prediction:
    """The answers to one question.

    `distribution` holds mass over values (nominal, ordinal), over the grid (interval), or the
    marginals (multi-label); `consensus` is the one answer that stands for it, in the scale's
    own units: the most probable value, the median level, the mean, the values above one half.
    """

    scale: Scale
    items: Names
    distribution: np.ndarray  # (n_items, n_columns)
    consensus: np.ndarray  # (n_items,)
    by_annotator: ByAnnotator | None = None
    attention: Attention | None = None
    members: np.ndarray | None = None  # (n_members, n_items) answers of an ensemble's members
    disagreement: np.ndarray | None = None  # (n_items,) 0 none to 1, where a method learns it
    member_attention: tuple[MemberAttention, ...] = ()  # on request, one for each role

    def __post_init__(self) -> None:
        expected = (len(self.items), self.scale.n_columns)
        if self.distribution.shape != expected:
            raise DataError(f"a distribution of {expected} is {self.distribution.shape}")
        if self.consensus.shape != expected[:1]:
            raise DataError(f"{expected[0]} items but {len(self.consensus)} answers")
        if self.disagreement is not None and self.disagreement.shape != expected[:1]:
            raise DataError(
                f"{expected[0]} items but {len(self.disagreement)} entries in disagreement"
            )


class Predictions(Mapping[str, Prediction]):
    """What a method answers to each question it was asked; saved as a folder of Parquet."""

    def __init__(self, by_question: Mapping[str, Prediction], method: str, corpus: str) -> None:
        self._by_question = dict(by_question)
        self.method = method  # the name of the method that answered
        self.corpus = corpus  # the name of the corpus it was asked about

    def __getitem__(self, question: str) -> Prediction:
        if question not in self._by_question:
            raise DataError(f"no prediction for {question!r}; there is {listed(self)}")
        return self._by_question[question]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_question)

    def __len__(self) -> int:
        return len(self._by_question)

    def joint(self, *questions: str) -> dict[str, np.ndarray]:
        """The annotators' values for questions learned together, row for row.

        Returns:
            `item`, `annotator` and one array of values per question, (n_pairs,).
        """
        asked = [self[question].by_annotator for question in questions]
        rows = [pairs for pairs in asked if pairs is not None]
        if len(rows) < len(asked) or not rows:
            raise DataError("a joint prediction needs annotators' answers to every question")
        keys = [p.item.astype(np.int64) * max(len(p.annotators), 1) + p.annotator for p in rows]
        shared = keys[0]
        for key in keys[1:]:
            shared = np.intersect1d(shared, key)
        found = [np.argsort(key)[np.searchsorted(np.sort(key), shared)] for key in keys]
        joined = {"item": rows[0].item[found[0]], "annotator": rows[0].annotator[found[0]]}
        return joined | {q: p.value[f] for q, p, f in zip(questions, rows, found, strict=True)}

    def save(self, path: str | Path) -> None:
        """Write a folder, whole or not at all."""
        with writing(path, "predictions") as folder:
            fronts = []
            for number, (question, prediction) in enumerate(self.items()):
                fronts.append(_write_prediction(folder, number, question, prediction))
            front = {"method": self.method, "corpus": self.corpus, "questions": fronts}
            write_json(folder, "predictions", front)

    @classmethod
    def load(cls, path: str | Path) -> Predictions:
        """Read a folder that `save` wrote."""
        folder = Path(path)
        front = read_json(folder, "predictions")
        with reading(folder):
            by_question = {
                q["name"]: _read_prediction(folder, n, q) for n, q in enumerate(front["questions"])
            }
            return cls(by_question, front["method"], front["corpus"])


def _write_prediction(
    folder: Path, number: int, question: str, prediction: Prediction
) -> dict[str, Any]:
    of_items = {
        "item": prediction.items.array,
        "consensus": prediction.consensus,
        "distribution": _matrix(prediction.distribution),
    }
    if prediction.disagreement is not None:
        of_items["disagreement"] = prediction.disagreement
    write_table(folder / f"question-{number}.items.parquet", of_items)
    pairs = prediction.by_annotator
    if pairs is not None:
        columns: dict[str, Any] = {
            "item": pairs.item,
            "annotator": pa.DictionaryArray.from_arrays(
                pa.array(pairs.annotator, pa.int32()), pairs.annotators.array
            ),
            "value": pairs.value,
        }
        if pairs.distribution is not None:
            columns["distribution"] = _matrix(pairs.distribution)
        write_table(folder / f"question-{number}.pairs.parquet", columns)
        names = {"name": pairs.annotators.array}
        write_table(folder / f"question-{number}.annotators.parquet", names)
    seen = prediction.attention
    if seen is not None:
        axes = seen.places.reshape(len(seen.places), 2 * seen.places.shape[1])
        attention = {"weight": seen.weight, "place": _matrix(axes)}
        write_table(folder / f"question-{number}.attention.parquet", attention)
        offsets = {"offset": seen.offsets}
        write_table(folder / f"question-{number}.attention-offsets.parquet", offsets)
    if prediction.members is not None:
        members = {"answer": _matrix(prediction.members.T)}
        write_table(folder / f"question-{number}.members.parquet", members)
    for place, looked in enumerate(prediction.member_attention):
        axes = looked.places.reshape(len(looked.places), 2 * looked.places.shape[1])
        attention = {"weight": _matrix(looked.weight.T), "place": _matrix(axes)}
        write_table(folder / f"question-{number}.member-attention-{place}.parquet", attention)
        offsets = {"offset": looked.offsets}
        write_table(folder / f"question-{number}.member-offsets-{place}.parquet", offsets)
    return {
        "name": question,
        "scale": prediction.scale.to_dict(),
        "pairs": pairs is not None,
        "attention": None if seen is None else seen.role,
        "members": prediction.members is not None,
        "member attention": [looked.role for looked in prediction.member_attention],
    }


def _read_prediction(folder: Path, number: int, front: dict[str, Any]) -> Prediction:
    def table(part: str) -> dict[str, Any]:
        read = read_table(folder / f"question-{number}.{part}.parquet")
        return {name: read[name].combine_chunks() for name in read.column_names}

    items = table("items")
    pairs = attention = members = None
    if front["pairs"]:
        rows = table("pairs")
        names, who = Names(table("annotators")["name"]), rows["annotator"]
        pairs = ByAnnotator(
            rows["item"].to_numpy(),
            names.codes(who.dictionary)[who.indices.to_numpy()],  # Parquet may reorder it
            names,
            rows["value"].to_numpy(),
            _array(rows["distribution"]) if "distribution" in rows else None,
        )
    if front["attention"] is not None:
        seen = table("attention")
        places = _array(seen["place"])
        attention = Attention(
            front["attention"],
            seen["weight"].to_numpy(),
            places.reshape(len(places), places.shape[1] // 2, 2),
            table("attention-offsets")["offset"].to_numpy(),
        )
    if front["members"]:
        members = _array(table("members")["answer"]).T
    looked = []
    for place, role in enumerate(front.get("member attention", [])):
        seen = table(f"member-attention-{place}")
        places = _array(seen["place"])
        looked.append(
            MemberAttention(
                role,
                _array(seen["weight"]).T,
                places.reshape(len(places), places.shape[1] // 2, 2),
                table(f"member-offsets-{place}")["offset"].to_numpy(),
            )
        )
    return Prediction(
        scale_from_dict(front["scale"]),
        Names(items["item"]),
        _array(items["distribution"]),
        items["consensus"].to_numpy(),
        pairs,
        attention,
        members,
        items["disagreement"].to_numpy() if "disagreement" in items else None,
        tuple(looked),
    )


def _matrix(values: np.ndarray) -> Any:
    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, values.shape[1])


def _array(column: Any) -> np.ndarray:
    width = column.type.list_size
    return np.asarray(column.flatten().to_numpy(zero_copy_only=False)).reshape(-1, width)
