"""Scales: what an answer can be, and what a distribution over answers and a consensus are.

An answer is stored as a code into `values` (nominal, ordinal), as a number in the scale's own
units (interval), or as a bit mask over `values` (multi-label, 0 is the empty set).
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NotRequired, TypedDict

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.errors import DataError, listed
from dissensus.names import split_names, string_array

LARGEST = 1e100  # of the ends of an interval
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")
MOST_BITS = 62  # values of a multi-label scale whose masks are 64-bit integers


class Scale(ABC):
    """What every scale offers. `n_columns` is the width of a distribution on it."""

    kind: ClassVar[str]
    dtype: ClassVar[type[np.generic]]

    @property
    @abstractmethod
    def n_columns(self) -> int: ...

    @abstractmethod
    def encode(self, answers: Any) -> np.ndarray:
        """Texts or numbers, as users write them, as stored answers; unknown values are an error."""

    @abstractmethod
    def decode(self, answers: np.ndarray) -> list[Any]:
        """Stored answers as users write them."""

    def column(self, answers: np.ndarray) -> Any:
        """Stored answers as an Arrow array: numbers, texts, or lists of values."""
        return pa.array(self.decode(answers))

    @abstractmethod
    def check(self, answers: np.ndarray) -> None:
        """Raise a `DataError` if a stored answer is not on this scale."""

    @abstractmethod
    def one_hot(self, answers: np.ndarray) -> np.ndarray:
        """Each answer as a distribution, (n, n_columns); multi-label: as 0/1 marginals."""

    @abstractmethod
    def consensus(self, distribution: np.ndarray) -> np.ndarray:
        """One answer for each row of a distribution (n, n_columns)."""

    @abstractmethod
    def confidence(self, distribution: np.ndarray, answers: np.ndarray) -> np.ndarray | None:
        """How certain each answer is under its row of a distribution, 0 to 1; None for ratings."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The scale as JSON; `scale_from_dict` reads it back."""


class _Values(Scale):
    """Base class of the scales with a list of values."""

    values: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def n_columns(self) -> int:
        return len(self.values)

    def _set_values(self) -> None:
        values = tuple(str(value) for value in self.values)
        object.__setattr__(self, "values", values)
        if not values:
            raise DataError(f"this {self.kind} scale has no values")
        if len(set(values)) != len(values):
            names = listed(values, 20)
            raise DataError(f"the values of this {self.kind} scale are not distinct: {names}")
        for value in values:
            try:
                value.encode()
            except UnicodeEncodeError:
                raise DataError(
                    f"value {value!r} of this {self.kind} scale contains a lone surrogate "
                    "(half of a character); correct it"
                ) from None

    def encode(self, answers: Any) -> np.ndarray:
        texts = string_array(answers)
        codes = pc.index_in(texts, value_set=pa.array(self.values, texts.type))
        if codes.null_count:
            row = int(pc.index(pc.is_null(codes), True).as_py())
            unknown = texts.filter(pc.is_null(codes)).unique().to_pylist()
            raise DataError(
                f"row {row + 1}: no value {listed(unknown)} on the {self.kind} scale "
                f"of {listed(self.values, 20)}"
            )
        return np.asarray(codes.to_numpy(), dtype=np.int32)

    def check(self, answers: np.ndarray) -> None:
        if answers.dtype.kind not in "iu":
            raise DataError(f"{self.kind} answers are integer codes, found {answers.dtype}")
        if answers.size and not 0 <= answers.min() <= answers.max() < len(self.values):
            raise DataError(
                f"{self.kind} answers are codes 0 to {len(self.values) - 1}, "
                f"found {answers.min()} to {answers.max()}"
            )


class _SingleChoice(_Values):
    """Nominal and ordinal: one value per answer."""

    dtype = np.int32

    def decode(self, answers: np.ndarray) -> list[Any]:
        values = np.array(self.values, dtype=object)
        return list(values[answers])

    def column(self, answers: np.ndarray) -> Any:
        """Texts, or integers if all values are integers."""
        texts = pa.array(self.values, pa.string()).take(pa.array(answers))
        whole = all(_WHOLE.fullmatch(value) for value in self.values)
        return texts.cast(pa.int64()) if whole else texts

    def one_hot(self, answers: np.ndarray) -> np.ndarray:
        return np.eye(len(self.values))[answers]

    def confidence(self, distribution: np.ndarray, answers: np.ndarray) -> np.ndarray | None:
        """The mass of the answer."""
        return np.take_along_axis(distribution, np.asarray(answers)[:, None], axis=1)[:, 0]


@dataclass(frozen=True, eq=False)
class Nominal(_SingleChoice):
    """One of several values without an order.

    Args:
        values: what can be answered, as texts.
        distance: how far apart two values are, (n_values, n_values), for measures that can use
            it, such as neighbours on the circumplex of affect; all are equally far if left out.

    Example:
        >>> Nominal(("no", "yes")).encode(["yes", "no"]).tolist()
        [1, 0]
        >>> Nominal(("no", "yes")).consensus(np.array([[0.3, 0.7]])).tolist()
        [1]
    """

    values: tuple[str, ...]
    distance: np.ndarray | None = None
    kind: ClassVar[str] = "nominal"

    def __post_init__(self) -> None:
        self._set_values()
        if self.distance is None:
            return
        distance = np.asarray(self.distance, dtype=float)
        object.__setattr__(self, "distance", distance)
        n = len(self.values)
        if distance.shape != (n, n):
            raise DataError(f"the distance between {n} values is {n} x {n}, not {distance.shape}")
        if not (np.isfinite(distance).all() and (distance >= 0).all()):
            raise DataError("a distance between values is never negative or nan")
        if not np.array_equal(distance, distance.T) or np.diag(distance).any():
            raise DataError("a distance is symmetric, and 0 from a value to itself")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Nominal) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.kind, self.values))

    def consensus(self, distribution: np.ndarray) -> np.ndarray:
        """The most probable value, the first of those that tie."""
        return most_probable(distribution)

    def to_dict(self) -> dict[str, Any]:
        distance = None if self.distance is None else self.distance.tolist()
        return {"kind": self.kind, "values": list(self.values), "distance": distance}


@dataclass(frozen=True)
class Ordinal(_SingleChoice):
    """One of several levels in order; steps between levels need not be equal.

    Args:
        values: the levels as texts, lowest first: ("-3", "-2", "-1", "1", "2", "3").
        positions: the levels as numbers. If left out: the values themselves if they are
            numbers, or 0, 1, 2, ... if they are words.

    Example:
        >>> Ordinal(("-1", "1", "2")).positions
        (-1.0, 1.0, 2.0)
        >>> Ordinal(("low", "mid", "high")).consensus(np.array([[0.4, 0.2, 0.4]])).tolist()
        [1]
    """

    values: tuple[str, ...]
    positions: tuple[float, ...] = ()
    kind: ClassVar[str] = "ordinal"

    def __post_init__(self) -> None:
        self._set_values()
        spelled = as_numbers(self.values)
        default = range(len(self.values)) if spelled is None else spelled
        positions = tuple(float(p) for p in (self.positions or default))
        object.__setattr__(self, "positions", positions)
        if len(positions) != len(self.values):
            raise DataError(
                f"{len(self.values)} levels have {len(positions)} positions; give one for each"
            )
        if any(b <= a for a, b in zip(positions, positions[1:], strict=False)):
            raise DataError(
                f"the levels of an ordinal scale must rise, found {listed(self.values, 20)}"
            )

    def consensus(self, distribution: np.ndarray) -> np.ndarray:
        """The median level: the lowest one with at least half of the mass at or below it."""
        cumulated = distribution.cumsum(axis=1)
        half = 0.5 * cumulated[:, -1:] * (1 - 1e-9)  # sums of shares are not exact
        return (cumulated >= half).argmax(axis=1)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "values": list(self.values), "positions": list(self.positions)}


@dataclass(frozen=True)
class Interval(Scale):
    """A number between two ends, in the units of the scale.

    A distribution is the mass in each of `n_bins` equal bins, whose middles are `grid`; the ends
    are mapped to [-1, 1].

    Example:
        >>> scale = Interval(0, 10, n_bins=4)
        >>> scale.to_unit(np.array([0.0, 5.0, 10.0])).tolist(), scale.grid.tolist()
        ([-1.0, 0.0, 1.0], [-0.75, -0.25, 0.25, 0.75])
        >>> scale.consensus(np.array([[0.5, 0.5, 0, 0]])).tolist()
        [2.5]
    """

    low: float
    high: float
    n_bins: int = 20
    kind: ClassVar[str] = "interval"
    dtype: ClassVar[type[np.generic]] = np.float64

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", float(self.low))
        object.__setattr__(self, "high", float(self.high))
        if not (np.isfinite([self.low, self.high]).all() and self.low < self.high):
            raise DataError(
                f"the low end of an interval scale must be below the high end, found {self.low:g} "
                f"and {self.high:g}"
            )
        if max(-self.low, self.high) > LARGEST:
            raise DataError(
                f"an interval scale must stay within {LARGEST:g}, so that squares are finite, "
                f"found {self.low:g} to {self.high:g}; are these ratings?"
            )
        if self.n_bins < 2:
            raise DataError(f"a grid must have at least 2 bins, found {self.n_bins}")

    @property
    def n_columns(self) -> int:
        return self.n_bins

    @property
    def grid(self) -> np.ndarray:
        """The middles of the bins, on [-1, 1]."""
        return (2 * np.arange(self.n_bins) + 1) / self.n_bins - 1

    def to_unit(self, answers: np.ndarray) -> np.ndarray:
        """Answers in the scale's units, mapped to [-1, 1]."""
        return (np.asarray(answers, dtype=float) - self.low) / (self.high - self.low) * 2 - 1

    def from_unit(self, positions: np.ndarray) -> np.ndarray:
        """Positions on [-1, 1], mapped to the scale's units."""
        return self.low + (np.asarray(positions, dtype=float) + 1) / 2 * (self.high - self.low)

    def bins(self, answers: np.ndarray) -> np.ndarray:
        """The bin of each answer; an edge belongs to the bin above, the upper end to the last."""
        share = (np.asarray(answers, dtype=float) - self.low) / (self.high - self.low)
        at = np.floor(share * self.n_bins + 1e-9).astype(np.int64)  # 0.29 * 100 is below 29
        return np.clip(at, 0, self.n_bins - 1)

    def encode(self, answers: Any) -> np.ndarray:
        texts = string_array(answers)
        try:
            numbers = pc.cast(pc.utf8_trim_whitespace(texts), pa.float64())
        except pa.ArrowInvalid:  # Arrow parses fewer spellings than Python; name the first bad one
            numbers = pa.array([_number(*pair) for pair in enumerate(texts.to_pylist(), 1)])
        stored = np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)
        self.check(stored)
        return stored

    def decode(self, answers: np.ndarray) -> list[Any]:
        return [float(answer) for answer in answers]

    def check(self, answers: np.ndarray) -> None:
        if answers.dtype.kind not in "fiu":
            raise DataError(f"interval answers are numbers, found {answers.dtype}")
        bad = ~((answers >= self.low) & (answers <= self.high))
        if bad.any():
            row = int(bad.argmax())
            raise DataError(
                f"row {row + 1}: {answers[row]:g} lies outside {self.low:g} to {self.high:g} "
                f"({int(bad.sum())} such answers); declare other ends or leave the row out"
            )

    def one_hot(self, answers: np.ndarray) -> np.ndarray:
        return np.eye(self.n_bins)[self.bins(answers)]

    def consensus(self, distribution: np.ndarray) -> np.ndarray:
        """The mean of the distribution, in the scale's units."""
        mass = distribution.sum(axis=1)
        return self.from_unit(distribution @ self.grid / mass)

    def confidence(self, distribution: np.ndarray, answers: np.ndarray) -> np.ndarray | None:
        """None: a mean is never the answer itself; `spread` says how certain it is."""
        return None

    def spread(self, distribution: np.ndarray) -> np.ndarray:
        """The standard deviation of each row of a distribution, in the scale's units.

        Example:
            >>> scale = Interval(0, 10, n_bins=2)  # with middles at 2.5 and 7.5
            >>> scale.spread(np.array([[0.5, 0.5], [1, 0]])).tolist()
            [2.5, 0.0]
        """
        mass = distribution.sum(axis=1)
        mean = distribution @ self.grid / mass
        variance = (distribution * (self.grid - mean[:, None]) ** 2).sum(axis=1) / mass
        return np.sqrt(variance) * (self.high - self.low) / 2

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "low": self.low, "high": self.high, "n_bins": self.n_bins}


@dataclass(frozen=True)
class MultiLabel(_Values):
    """Any set of values, stored as a bit mask; a distribution has one marginal per value.

    Users write a set as a list of texts, or as one text with commas. Masks of more than 62 values
    are Python integers of any size, in arrays of objects; `has_value` and `set_sizes` read both.

    Example:
        >>> scale = MultiLabel(("joy", "fear", "anger"))
        >>> scale.encode([["joy", "anger"], "fear", []]).tolist()
        [5, 2, 0]
        >>> scale.decode(np.array([5, 0]))
        [('joy', 'anger'), ()]
    """

    values: tuple[str, ...]
    kind: ClassVar[str] = "multi-label"

    def __post_init__(self) -> None:
        self._set_values()

    @property
    def dtype(self) -> type[np.generic]:  # type: ignore[override]
        return np.int64 if len(self.values) <= MOST_BITS else np.object_

    def encode(self, answers: Any) -> np.ndarray:
        bit = {value: 1 << code for code, value in enumerate(self.values)}
        masks = np.zeros(len(answers), dtype=self.dtype)
        if isinstance(answers, pa.Array | pa.ChunkedArray):
            answers = answers.to_pylist()
        for row, answer in enumerate(answers):
            if answer is None or isinstance(answer, float):  # nan: a gap in a table
                raise DataError(f"row {row + 1} has no answer; leave such rows out")
            chosen = split_set(answer)
            unknown = [value for value in chosen if value not in bit]
            if unknown:
                raise DataError(
                    f"row {row + 1}: no value {listed(unknown)} on the multi-label scale of "
                    f"{listed(self.values, 20)}"
                )
            masks[row] = sum(bit[value] for value in set(chosen))
        return masks

    def decode(self, answers: np.ndarray) -> list[Any]:
        chosen = self.one_hot(np.asarray(answers)).astype(bool)
        return [tuple(v for v, on in zip(self.values, row, strict=True) if on) for row in chosen]

    def check(self, answers: np.ndarray) -> None:
        large = answers.dtype == object and all(isinstance(mask, int) for mask in answers)
        if answers.dtype.kind not in "iu" and not large:
            raise DataError(f"multi-label answers are integer bit masks, found {answers.dtype}")
        if answers.size and not 0 <= answers.min() <= answers.max() < 1 << len(self.values):
            raise DataError(
                f"multi-label answers are masks 0 to {(1 << len(self.values)) - 1}, "
                f"found {answers.min()} to {answers.max()}"
            )

    def one_hot(self, answers: np.ndarray) -> np.ndarray:
        answers = np.asarray(answers)
        if self.dtype is np.object_:
            return _bits(answers, len(self.values)).astype(float)
        return ((answers[:, None] >> np.arange(len(self.values))) & 1).astype(float)

    def pack(self, chosen: np.ndarray) -> np.ndarray:
        """The masks of sets, given as booleans (n, n_values)."""
        if self.dtype is np.object_:
            packed = np.packbits(chosen, axis=1, bitorder="little")
            return masks_of_bytes([row.tobytes() for row in packed])
        return np.asarray((chosen << np.arange(len(self.values))).sum(axis=1), dtype=np.int64)

    def consensus(self, distribution: np.ndarray) -> np.ndarray:
        """The set of values whose marginal is above one half."""
        return self.pack(distribution > 0.5)

    def column(self, answers: np.ndarray) -> Any:
        return pa.array(map(list, self.decode(answers)), pa.list_(pa.string()))

    def confidence(self, distribution: np.ndarray, answers: np.ndarray) -> np.ndarray | None:
        """That of the least certain value: its marginal if it is in the set, else the rest."""
        chosen = self.one_hot(answers) > 0
        return np.where(chosen, distribution, 1 - distribution).min(axis=1)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "values": list(self.values)}


def has_value(answers: np.ndarray, code: Any) -> np.ndarray:
    """1 for masks that have the value of this code, else 0; codes may be an array."""
    if answers.dtype == object:
        code = np.asarray(code).astype(object)
    return np.asarray((answers >> code) & 1).astype(np.int64, copy=False)


def set_sizes(answers: np.ndarray) -> np.ndarray:
    """How many values each mask has."""
    if answers.dtype == object:
        return np.asarray(np.frompyfunc(int.bit_count, 1, 1)(answers)).astype(np.int64)
    return np.asarray(np.bitwise_count(answers))


def by_value(answers: np.ndarray, n_values: int) -> Iterator[np.ndarray]:
    """`has_value` of each value in turn."""
    if answers.dtype != object:
        yield from (has_value(answers, code) for code in range(n_values))
    else:
        packed = np.ascontiguousarray(_packed(answers, n_values).T)
        for code in range(n_values):
            yield (packed[code // 8] >> code % 8 & 1).astype(np.int64)


def shared_sizes(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """How many values two masks have in common; of (n, 1) and (1, m) masks, each two."""
    if a.dtype != object or a.shape[1:] != (1,) or b.shape[:-1] != (1,):
        return set_sizes(a & b)
    n_values = max(int(masks.max(initial=0)).bit_length() for masks in (a, b))
    first, second = (_bits(masks.ravel(), n_values) for masks in (a, b))
    n_products = first.sum(axis=0, dtype=np.int64) @ second.sum(axis=0, dtype=np.int64)
    if 50 * n_products > len(first) * n_values * len(second):
        return np.asarray(first.astype(np.float32) @ second.astype(np.float32).T).astype(np.int64)
    from scipy.sparse import csr_array

    few = csr_array(first, dtype=np.int64) @ csr_array(second, dtype=np.int64).T
    return np.asarray(few.toarray())


def _bits(masks: np.ndarray, n_values: int) -> np.ndarray:
    """Masks of any size, (n_masks, n_values) of 0 and 1."""
    return np.unpackbits(_packed(masks, n_values), axis=1, count=n_values, bitorder="little")


def _packed(masks: np.ndarray, n_values: int) -> np.ndarray:
    width = (n_values + 7) // 8
    each = (int(mask).to_bytes(width, "little") for mask in masks)
    return np.frombuffer(b"".join(each), np.uint8).reshape(len(masks), width)


def mask_bytes(answers: np.ndarray, scale: MultiLabel) -> list[bytes]:
    """Masks of any size as bytes, for files."""
    width = (len(scale) + 7) // 8
    return [int(mask).to_bytes(width, "little") for mask in answers]


def masks_of_bytes(packed: Sequence[bytes]) -> np.ndarray:
    """Read back what `mask_bytes` wrote."""
    masks = np.empty(len(packed), dtype=object)
    masks[:] = [int.from_bytes(each, "little") for each in packed]
    return masks


def most_probable(distribution: np.ndarray) -> np.ndarray:
    """The column of each row (n, n_columns) with most mass, the first of those that tie.

    Masses that differ by less than a relative 1e-9 tie: sums and products differ by as much if
    their order changes, and the order of rows must not matter.

    Example:
        >>> most_probable(np.array([[0.1, 0.1 + 0.2, 0.3], [0.1, 0.3, 0.1 + 0.2]])).tolist()
        [1, 1]
    """
    top = distribution.max(axis=1, keepdims=True)
    return (distribution >= top * (1 - 1e-9)).argmax(axis=1)


SCALES: dict[str, type[Scale]] = {
    scale.kind: scale for scale in (Nominal, Ordinal, Interval, MultiLabel)
}


class ScaleFields(TypedDict):
    """What `Scale.to_dict` writes."""

    kind: str
    values: NotRequired[list[str]]
    distance: NotRequired[list[list[float]] | None]
    positions: NotRequired[list[float]]
    low: NotRequired[float]
    high: NotRequired[float]
    n_bins: NotRequired[int]


def scale_from_dict(content: Mapping[str, Any]) -> Scale:
    """Read back what `Scale.to_dict` wrote."""
    fields = {key: value for key, value in content.items() if key != "kind"}
    for key in ("values", "positions"):
        if key in fields:
            fields[key] = tuple(fields[key])
    if content.get("kind") not in SCALES:
        raise DataError(f"no kind of scale {content.get('kind')!r}; there are {listed(SCALES)}")
    return SCALES[content["kind"]](**fields)


def parse_scale(text: str, answers: Sequence[str] = ()) -> Scale:
    """A scale as users write it on the command line.

    Args:
        answers: the distinct answers, which give the values or the ends if the text has none.

    Example:
        >>> parse_scale("interval:0:10"), parse_scale("ordinal:low,mid,high").values
        (Interval(low=0.0, high=10.0, n_bins=20), ('low', 'mid', 'high'))
        >>> parse_scale('nominal:no,"yes, mostly"').values
        ('no', 'yes, mostly')
        >>> parse_scale("ordinal", answers=["10", "9"]).values
        ('9', '10')
    """
    kind, _, rest = text.partition(":")
    kind = {"multilabel": "multi-label"}.get(kind.strip().lower(), kind.strip().lower())
    if kind not in SCALES:
        raise DataError(
            f"no scale {text!r}; write nominal, ordinal, interval or multi-label, "
            "or with its values: nominal:no,yes  ordinal:1,2,3  interval:0:10"
        )
    if kind == "interval":
        ends = as_numbers(rest.split(":")) if rest else as_numbers(answers)
        if not ends or (rest and len(ends) != 2):
            texts = repr(rest) if rest else listed(answers) or "nothing"
            raise DataError(f"an interval scale runs between two numbers, found {texts}")
        return Interval(ends[0], ends[1]) if rest else Interval(min(ends), max(ends))
    values = split_names(rest) if rest else list(answers)
    if rest and "" in values:
        raise DataError(f"a value is blank in the scale {text!r}; leave out a comma")
    if kind == "ordinal" and not rest and len(values) > 1 and as_numbers(values) is None:
        raise DataError(
            f"an ordinal scale of words needs their order, found {listed(values)}; write all of "
            "them, the lowest first, as in ordinal:low,mid,high"
        )
    if kind == "multi-label":
        values = values if rest else [v for text in answers for v in split_set(text)]
        return MultiLabel(tuple(sorted_values(set(values)) if not rest else values))
    return (Nominal if kind == "nominal" else Ordinal)(
        tuple(values if rest else sorted_values(values))
    )


def infer_scale(answers: Sequence[str]) -> Scale:
    """The most plausible scale of these distinct answers, for a table that does not declare one.

    Words are nominal; so are two whole numbers. Three to twenty whole numbers are ordinal.
    Other numbers are an interval from the lowest to the highest answer.

    Example:
        >>> infer_scale(["yes", "no"]).kind, infer_scale(["1", "2", "3"]).kind
        ('nominal', 'ordinal')
        >>> infer_scale(["0.5", "2"])
        Interval(low=0.5, high=2.0, n_bins=20)
    """
    numbers = as_numbers(answers)
    if numbers is None or len(set(numbers)) <= 2 and all(n == int(n) for n in numbers):
        return Nominal(tuple(sorted_values(answers)))
    spelled_once = len(set(numbers)) == len(numbers)  # not both "1" and "1.0"
    if spelled_once and len(numbers) <= 20 and all(n == int(n) for n in numbers):
        return Ordinal(tuple(sorted_values(answers)))
    low, high = min(numbers), max(numbers)
    return Interval(low, high) if low < high else Nominal(tuple(sorted_values(answers)))


def sorted_values(values: Any) -> list[str]:
    """Values in their natural order: numbers by size, texts by alphabet."""
    texts = list(values)
    numbers = as_numbers(texts)
    if numbers is None:
        return sorted(texts)
    return [text for _, text in sorted(zip(numbers, texts, strict=True))]


def as_numbers(texts: Any) -> list[float] | None:
    """The texts as finite numbers, or None if one of them is not a finite number."""
    numbers = []
    for text in texts:
        try:
            number = float(text)
        except (TypeError, ValueError):
            return None
        if not math.isfinite(number) or "_" in str(text):  # float("1_0") is 10
            return None
        numbers.append(number)
    return numbers


def _number(row: int, text: str | None) -> float | None:
    numbers = None if text is None else as_numbers([text])
    if text is not None and numbers is None:
        raise DataError(f"row {row}: {text!r} is not a number")
    return None if numbers is None else numbers[0]


def split_set(answer: Any) -> list[str]:
    """A multi-label answer as a list of values; a text is split at commas."""
    if isinstance(answer, str):
        return [value.strip() for value in answer.split(",") if value.strip()]
    return [str(value) for value in answer]


# ---- scales and answers as short texts ----


def scale_text(scale: Scale) -> str:
    """A scale as a short text.

    Example:
        >>> scale_text(Interval(-10, 10)), scale_text(Nominal(("no", "yes")))
        ('interval: -10..10', 'nominal: no, yes')
    """
    if isinstance(scale, Interval):
        return f"{scale.kind}: {scale.low:g}..{scale.high:g}"
    values = getattr(scale, "values", ())
    first = ", ".join(values[:20])
    return f"{scale.kind}: {first}" + (f", ... ({len(values)})" if len(values) > 20 else "")


def answer_text(value: Any) -> str:
    """An answer as text: a set with plus signs, a number without trailing zeros."""
    if isinstance(value, tuple):
        return " + ".join(value) if value else "(none)"
    return f"{value:g}" if isinstance(value, float) else str(value)
