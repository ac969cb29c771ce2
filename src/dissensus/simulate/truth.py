"""What is known about simulated annotators, read back from their corpus."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus import Corpus, Rationales
from dissensus.errors import DataError, listed
from dissensus.names import Names
from dissensus.scales import Interval, Nominal
from dissensus.simulate.crowd import (
    HUNDREDTHS,
    Attention,
    Crowd,
    Draws,
    Parts,
    Raters,
    Sizes,
    assign,
    blocks,
    draw_parts,
)


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
    facts, of_items = corpus.annotator_attributes, corpus.item_attributes
    preference = _stacked([facts[f"focus.{aspect}"] for aspect in aspects])
    aspect = _padded(of_items["parts.aspect"], aspects)
    start, stop = (_padded(of_items[f"parts.{end}"]) for end in ("start", "stop"))
    if isinstance(scale, Interval):
        parts = Parts(aspect, np.where(aspect < 0, -1, 0))  # what a part states is its mode
        mode = np.zeros(aspect.shape, dtype=np.int64)
        mode[parts.there] = _hundredths(of_items[f"parts.{question}"].flatten())
        raters = Raters(
            preference, _hundredths(facts[f"bias.{question}"]), _hundredths(facts["spread"])
        )
        return RatingsTruth(raters, parts, start, stop, aspects, mode, scale)
    lean = _stacked([facts[f"lean.{value}"] for value in scale.values])
    crowd = Crowd(preference, lean, _hundredths(facts["noise"]), scale.distance)
    parts = Parts(aspect, _padded(of_items["parts.value"], scale.values))
    return ChoiceTruth(crowd, parts, start, stop, aspects)


def _checked(corpus: Corpus, question: str) -> tuple[Any, tuple[str, ...]]:
    """The scale and the aspects of a corpus that has everything `truth` needs."""
    scale = corpus[question].scale
    facts, of_items = corpus.annotator_attributes, corpus.item_attributes
    aspects = tuple(name.removeprefix("focus.") for name in facts if name.startswith("focus."))
    rated = isinstance(scale, Interval)
    stated = f"parts.{question}" if rated else "parts.value"
    leans = [f"lean.{value}" for value in getattr(scale, "values", ())]
    of_annotators = [f"bias.{question}", "spread"] if rated else ["noise", *leans]
    needed = ["parts.aspect", stated, "parts.start", "parts.stop"]
    missing = [name for name in needed if name not in of_items]
    missing += [name for name in of_annotators if name not in facts]
    has_distance = rated or getattr(scale, "distance", None) is not None
    if missing or not aspects or not has_distance:
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


@dataclass(frozen=True, eq=False)
class SimulatedContents:
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
    show: Callable[[Parts, Nominal, Draws], SimulatedContents],
) -> Corpus:
    """The corpus in which annotators answer one question about the contents that `show` makes."""
    n_items, n_annotators, labels_per_item, n_values, seed = sizes.checked()
    draws, scale = Draws(seed), make_scale(n_values)
    assert scale.distance is not None
    crowd = Crowd.balanced(n_annotators, len(aspects), scale.distance, draws)
    parts = draw_parts(crowd, n_items, n_values, draws)
    contents = show(parts, scale, draws)
    known = ChoiceTruth(crowd, parts, contents.start, contents.stop, aspects)
    item, annotator = assign(sizes, draws)
    looked, answer = crowd.answer(parts, item, annotator, draws)
    distribution = known.distribution(item, annotator, np.float32)
    best = mean_by_annotator(distribution.max(axis=1), annotator, n_annotators)
    leans = {f"lean.{value}": crowd.lean[:, code] for code, value in enumerate(scale.values)}
    return build(
        preset,
        f"{labels_per_item} labels per item, {n_values} values, seed {seed}",
        {question: answers(item, annotator, answer, scale, sizes, distribution)},
        contents,
        known,
        looked,
        part_attributes(known, scale.values),
        {"noise": crowd.noise / 100, **leans, **preferences(crowd, aspects), "best_accuracy": best},
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
    contents: SimulatedContents,
    known: Truth,
    looked: np.ndarray,
    item_attributes: dict[str, Any],
    annotator_attributes: dict[str, Any],
) -> Corpus:
    """The corpus, with the part that each annotator looked at as rationales of each question."""
    one = next(iter(questions.values()))
    annotator = one.annotator_codes("rationales")
    n, n_rows = len(questions), one.n_rows
    columns = one.item, annotator, contents.start[one.item, looked], contents.stop[one.item, looked]
    item, annotator, start, stop = (np.concatenate([column] * n) for column in columns)
    rationales = Rationales(
        item,
        annotator,
        pa.concat_arrays([pa.repeat(question, n_rows) for question in questions]),
        pa.repeat(contents.role, n_rows * n),
        start,
        stop,
        pa.repeat("focus", n_rows * n),
    )
    return Corpus.build(
        f"simulated-{preset}",
        one.items,
        questions,
        annotators=one.annotators,
        contents={contents.role: (contents.contents, contents.content)},
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
