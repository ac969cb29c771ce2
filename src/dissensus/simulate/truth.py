"""What is known about simulated annotators, read back from their corpus."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.corpus import Corpus
from dissensus.errors import DataError, listed
from dissensus.scales import Interval
from dissensus.simulate.crowd import HUNDREDTHS, Attention, Crowd, Parts, Raters, blocks


@dataclass(frozen=True, eq=False)
class Truth(ABC):
    """Where the annotators of a simulated corpus look, and what they answer, for any pair.

    Codes are those of the corpus that `truth` received. Pairs without an answer are included.
    """

    crowd: Attention
    parts: Parts
    start: np.ndarray  # (n_items, most parts), boxes (..., 2): where each is, -1 for none
    stop: np.ndarray
    aspects: tuple[str, ...]
    measure: ClassVar[str]  # what `best` returns

    def focus(self, item: Any, annotator: Any) -> np.ndarray:
        """The probability that the annotator looks at each part, (n_pairs, most parts)."""
        return self.crowd.focus(self.parts, np.asarray(item), np.asarray(annotator))

    def blind_focus(self) -> np.ndarray:
        """The mean of all annotators' focus on each part, (n_items, most parts).

        No attention agrees better with the annotators without knowing the annotator.
        """
        return self.crowd.mean_focus(self.parts)

    @abstractmethod
    def distribution(self, item: Any, annotator: Any, dtype: Any = np.float64) -> np.ndarray:
        """The probability of each answer, or the mass in each bin of the scale, (n_pairs, n)."""

    @abstractmethod
    def blind_distribution(self) -> np.ndarray:
        """The mean of all annotators' distributions, (n_items, n).

        Without knowing the annotator, no prediction has a better cross-entropy, and none is right
        more often than its most probable value.
        """

    @abstractmethod
    def best(self, item: Any, annotator: Any) -> tuple[float, float]:
        """The best expected `measure` on these pairs, with and without knowing the annotator."""


@dataclass(frozen=True, eq=False)
class ChoiceTruth(Truth):
    """The truth where an answer is one of several values."""

    crowd: Crowd
    measure: ClassVar[str] = "accuracy"

    def distribution(self, item: Any, annotator: Any, dtype: Any = np.float64) -> np.ndarray:
        return self.crowd.distribution(self.parts, np.asarray(item), np.asarray(annotator), dtype)

    def blind_distribution(self) -> np.ndarray:
        return self.crowd.mean_distribution(self.parts)

    def best(self, item: Any, annotator: Any) -> tuple[float, float]:
        own = self.distribution(item, annotator)
        blind = self.blind_distribution().argmax(axis=1)[np.asarray(item)]
        return float(own.max(axis=1).mean()), float(own[np.arange(len(own)), blind].mean())


@dataclass(frozen=True, eq=False)
class RatingsTruth(Truth):
    """The truth where an answer is a rating from -1 to 1."""

    crowd: Raters
    mode: np.ndarray  # (n_items, most parts) hundredths
    scale: Interval
    measure: ClassVar[str] = "mean absolute error"

    def density(self, item: Any, annotator: Any) -> np.ndarray:
        """The probability of each rating from -1 to 1 in steps of .01, (n_pairs, 201)."""
        return self.crowd.density(self.parts, self.mode, np.asarray(item), np.asarray(annotator))

    def distribution(self, item: Any, annotator: Any, dtype: Any = np.float64) -> np.ndarray:
        item, annotator = np.asarray(item), np.asarray(annotator)
        mass = np.empty((len(item), self.scale.n_bins), dtype=dtype)
        for rows in blocks(len(item), self.scale.n_bins):
            pairs = item[rows], annotator[rows]
            below = self.crowd.below(self._tops, self.parts, self.mode, *pairs)
            mass[rows] = np.diff(below, axis=1, prepend=0.0)
        return mass

    @property
    def _tops(self) -> np.ndarray:
        """The highest rating in each bin, in hundredths."""
        bins = self.scale.bins(HUNDREDTHS / 100)
        return HUNDREDTHS[np.searchsorted(bins, np.arange(self.scale.n_bins), side="right") - 1]

    def blind_density(self) -> np.ndarray:
        """The mean of all annotators' densities, (n_items, 201).

        Without knowing the annotator, none has a lower mean absolute error than its median.
        """
        return self._blind_by_kind()[self._kinds[1]]

    def blind_distribution(self) -> np.ndarray:
        cumulated = np.pad(self._blind_by_kind().cumsum(axis=1), ((0, 0), (1, 0)))
        at = np.append(0, np.searchsorted(HUNDREDTHS, self._tops) + 1)
        return np.diff(cumulated[:, at], axis=1)[self._kinds[1]]

    def best(self, item: Any, annotator: Any) -> tuple[float, float]:
        own, blind = self.errors_of(np.asarray(item), np.asarray(annotator))
        return float(own.mean()), float(blind.mean())

    def errors_of(self, item: np.ndarray, annotator: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The expected absolute error of the medians of p and of the blind density, per pair.

        Computed once for each annotator and kind of item.
        """
        _, kind = self._kinds
        key = kind[item] * len(self.crowd) + annotator
        _, first, same = np.unique(key, return_index=True, return_inverse=True)
        blind = _medians(self._blind_by_kind())[kind]
        errors = np.empty((2, len(first)))
        for rows in blocks(len(first), len(HUNDREDTHS)):
            pairs = item[first[rows]], annotator[first[rows]]
            density = self.density(*pairs)
            for row, middle in enumerate((_medians(density), blind[pairs[0]])):
                away = np.abs(HUNDREDTHS - middle[:, None]) / 100
                errors[row, rows] = (density * away).sum(axis=1)
        own, without_annotator = errors[:, same.reshape(-1)]
        return own, without_annotator

    @property
    def _kinds(self) -> tuple[np.ndarray, np.ndarray]:
        """An item of each kind, (n_kinds,), and each item's kind: same aspects, same modes."""
        aspect, mode = self.parts.aspect, np.where(self.parts.there, self.mode, 0)
        key = np.zeros(len(aspect), dtype=np.int64)
        for column in (*aspect.T, *mode.T):
            _, code = np.unique(column, return_inverse=True)
            _, key = np.unique(key * (code.max(initial=0) + 1) + code, return_inverse=True)
        _, first, kind = np.unique(key, return_index=True, return_inverse=True)
        return first, kind.reshape(-1)

    def _blind_by_kind(self) -> np.ndarray:
        first, _ = self._kinds
        n, mean = len(self.crowd), np.empty((len(first), len(HUNDREDTHS)))
        for rows in blocks(len(first), n * len(HUNDREDTHS)):
            item = first[rows].repeat(n)
            density = self.density(item, np.tile(np.arange(n), len(item) // n))
            mean[rows] = density.reshape(-1, n, len(HUNDREDTHS)).mean(axis=1)
        return mean


def _medians(density: np.ndarray) -> np.ndarray:
    """The lowest rating with at least half of the mass at or below it, in hundredths."""
    return HUNDREDTHS[(density.cumsum(axis=1) >= 0.5 * (1 - 1e-9)).argmax(axis=1)]


def truth(corpus: Corpus, question: str | None = None) -> Truth:
    """Read the truth back from a simulated corpus, or from any selection or copy of it.

    Args:
        question: its name; the first of the corpus if left out.

    Example:
        >>> from dissensus.simulate import text
        >>> corpus = text(n_items=100)
        >>> known = truth(corpus)
        >>> known.focus([0, 0], [3, 4]).round(2).tolist()
        [[1.0, 0.0, 0.0, 0.0], [0.0, 0.94, 0.0, 0.06]]
    """
    question = next(iter(corpus.questions), "") if question is None else question
    scale, aspects = _checked(corpus, question)
    facts, shown = corpus.annotator_attributes, corpus.item_attributes
    preference = _stacked([facts[f"focus.{aspect}"] for aspect in aspects])
    aspect = _padded(shown["parts.aspect"], aspects)
    start, stop = (_padded(shown[f"parts.{end}"]) for end in ("start", "stop"))
    if isinstance(scale, Interval):
        parts = Parts(aspect, np.where(aspect < 0, -1, 0))  # what a part states is its mode
        mode = np.zeros(aspect.shape, dtype=np.int64)
        mode[parts.there] = _hundredths(shown[f"parts.{question}"].flatten())
        raters = Raters(
            preference, _hundredths(facts[f"bias.{question}"]), _hundredths(facts["spread"])
        )
        return RatingsTruth(raters, parts, start, stop, aspects, mode, scale)
    lean = _stacked([facts[f"lean.{value}"] for value in scale.values])
    crowd = Crowd(preference, lean, _hundredths(facts["noise"]), scale.distance)
    parts = Parts(aspect, _padded(shown["parts.value"], scale.values))
    return ChoiceTruth(crowd, parts, start, stop, aspects)


def _checked(corpus: Corpus, question: str) -> tuple[Any, tuple[str, ...]]:
    """The scale and the aspects of a corpus that has everything `truth` needs."""
    scale = corpus[question].scale
    facts, shown = corpus.annotator_attributes, corpus.item_attributes
    aspects = tuple(name.removeprefix("focus.") for name in facts if name.startswith("focus."))
    rated = isinstance(scale, Interval)
    stated = f"parts.{question}" if rated else "parts.value"
    leans = [f"lean.{value}" for value in getattr(scale, "values", ())]
    of_annotators = [f"bias.{question}", "spread"] if rated else ["noise", *leans]
    needed = ["parts.aspect", stated, "parts.start", "parts.stop"]
    missing = [name for name in needed if name not in shown]
    missing += [name for name in of_annotators if name not in facts]
    measured = rated or getattr(scale, "distance", None) is not None
    if missing or not aspects or not measured:
        raise DataError(
            f"{corpus.name}: is not a simulated corpus, so the truth about {question!r} is not "
            f"known; missing {listed(missing or ['focus.ASPECT', 'a distance between values'])}"
        )
    return scale, aspects


def _hundredths(column: Any) -> np.ndarray:
    return np.rint(100 * column.to_numpy()).astype(np.int64)


def _stacked(columns: list[Any]) -> np.ndarray:
    return np.stack([column.to_numpy() for column in columns], axis=1)


def _padded(lists: Any, names: Sequence[str] | None = None) -> np.ndarray:
    """Lists of different lengths as a table padded with -1; names become codes."""
    length = pc.list_value_length(lists).to_numpy()
    flat = lists.flatten()
    if names is not None:
        flat = pc.index_in(flat, value_set=pa.array(names))
    numbers = (flat.flatten() if pa.types.is_fixed_size_list(flat.type) else flat).to_numpy()
    there = np.arange(length.max(initial=0)) < length[:, None]
    axes = (flat.type.list_size,) if pa.types.is_fixed_size_list(flat.type) else ()
    table = np.full((*there.shape, *axes), -1, dtype=np.int64)
    table[there] = numbers.reshape(-1, *axes)
    return table
