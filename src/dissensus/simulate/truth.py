"""What is known about a simulated crowd: written into a corpus, and read back from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.corpus import Corpus
from dissensus.errors import DataError, listed
from dissensus.simulate.crowd import Crowd, Parts


@dataclass(frozen=True, eq=False)
class Truth:
    """Where the annotators of a simulated corpus look, and what they answer, for any pair.

    Codes are those of the corpus that `truth` was given, pairs that nobody labelled included.
    """

    crowd: Crowd
    parts: Parts
    start: np.ndarray  # (n_items, most parts) where each part lies, -1 where there is none
    stop: np.ndarray
    aspects: tuple[str, ...]

    def focus(self, item: Any, annotator: Any) -> np.ndarray:
        """The probability that the annotator looks at each part, (n_pairs, most parts)."""
        return self.crowd.focus(self.parts, np.asarray(item), np.asarray(annotator))

    def distribution(self, item: Any, annotator: Any) -> np.ndarray:
        """The probability of each answer, (n_pairs, n_values)."""
        return self.crowd.distribution(self.parts, np.asarray(item), np.asarray(annotator))

    def blind_focus(self) -> np.ndarray:
        """The mean of all annotators' focus on each part, (n_items, most parts).

        No attention that ignores who looks agrees better with the annotators.
        """
        return self.crowd.mean_focus(self.parts)

    def blind_distribution(self) -> np.ndarray:
        """The mean of all annotators' answer distributions, (n_items, n_values).

        No prediction that ignores who is asked has a better cross-entropy, and none is right more
        often than its most probable value.
        """
        return self.crowd.mean_distribution(self.parts)

    def accuracies(self, item: Any, annotator: Any) -> tuple[float, float]:
        """What to expect at best on these pairs, knowing the annotator and not knowing them."""
        own = self.distribution(item, annotator)
        blind = self.blind_distribution().argmax(axis=1)[np.asarray(item)]
        return float(own.max(axis=1).mean()), float(own[np.arange(len(own)), blind].mean())


def truth(corpus: Corpus, question: str = "emotion") -> Truth:
    """Read the truth back from a simulated corpus, or from any selection or copy of it.

    Example:
        >>> from dissensus.simulate import text
        >>> corpus = text(n_items=100)
        >>> known = truth(corpus)
        >>> known.focus([0, 0], [3, 4]).round(2).tolist()
        [[1.0, 0.0, 0.0, 0.0], [0.0, 0.94, 0.0, 0.06]]
    """
    scale, aspects = _checked(corpus, question)
    facts, shown = corpus.annotator_attributes, corpus.item_attributes
    crowd = Crowd(
        _stacked([facts[f"focus.{aspect}"] for aspect in aspects]),
        _stacked([facts[f"lean.{value}"] for value in scale.values]),
        np.rint(100 * facts["noise"].to_numpy()).astype(np.int64),
        scale.distance,
    )
    parts = Parts(
        _padded(shown["parts.aspect"], aspects), _padded(shown["parts.value"], scale.values)
    )
    start, stop = (_padded(shown[f"parts.{end}"]) for end in ("start", "stop"))
    return Truth(crowd, parts, start, stop, aspects)


def _checked(corpus: Corpus, question: str) -> tuple[Any, tuple[str, ...]]:
    """The scale and the aspects of a corpus that holds all that `truth` needs."""
    scale = corpus[question].scale
    facts, shown = corpus.annotator_attributes, corpus.item_attributes
    aspects = tuple(name.removeprefix("focus.") for name in facts if name.startswith("focus."))
    needed = ["parts.aspect", "parts.value", "parts.start", "parts.stop"]
    leans = [f"lean.{value}" for value in getattr(scale, "values", ())]
    missing = [name for name in needed if name not in shown]
    missing += [name for name in ("noise", *leans) if name not in facts]
    if missing or not aspects or getattr(scale, "distance", None) is None:
        raise DataError(
            f"{corpus.name}: not simulated, so nobody knows the truth about {question!r}; "
            f"missing {listed(missing or ['focus.ASPECT', 'a distance between values'])}"
        )
    return scale, aspects


def crowd_attributes(crowd: Crowd, aspects: Sequence[str], values: Sequence[str]) -> dict[str, Any]:
    """A crowd as annotators' attributes, from which `truth` makes it again."""
    return (
        {"noise": crowd.noise / 100}
        | {f"lean.{value}": crowd.lean[:, code] for code, value in enumerate(values)}
        | {f"focus.{aspect}": crowd.preference[:, code] for code, aspect in enumerate(aspects)}
    )


def part_attributes(
    parts: Parts,
    aspects: Sequence[str],
    values: Sequence[str],
    start: np.ndarray,
    stop: np.ndarray,
) -> dict[str, Any]:
    """The parts of each item as items' attributes: lists with one entry per part."""
    there = parts.there
    offsets = pa.array(np.append(0, there.sum(axis=1).cumsum()).astype(np.int32))
    columns = {
        "parts.aspect": pa.array(aspects).take(pa.array(parts.aspect[there])),
        "parts.value": pa.array(values).take(pa.array(parts.value[there])),
        "parts.start": pa.array(start[there]),
        "parts.stop": pa.array(stop[there]),
    }
    return {name: pa.ListArray.from_arrays(offsets, flat) for name, flat in columns.items()}


def best_accuracy(distribution: np.ndarray, annotator: np.ndarray, n_annotators: int) -> Any:
    """The mean of each annotator's most probable answers' probability; null without rows."""
    rows = np.bincount(annotator, minlength=n_annotators)
    total = np.bincount(annotator, distribution.max(axis=1), minlength=n_annotators)
    return pa.array(total / np.maximum(rows, 1), mask=rows == 0)


def _stacked(columns: list[Any]) -> np.ndarray:
    return np.stack([column.to_numpy() for column in columns], axis=1)


def _padded(lists: Any, names: Sequence[str] | None = None) -> np.ndarray:
    """Lists of different lengths as a table filled up with -1; names become codes."""
    length = pc.list_value_length(lists).to_numpy()
    flat = lists.flatten()
    if names is not None:
        flat = pc.index_in(flat, value_set=pa.array(names))
    table = np.full((len(length), length.max(initial=0)), -1, dtype=np.int64)
    table[np.arange(table.shape[1]) < length[:, None]] = flat.to_numpy()
    return table
