"""The fields of a corpus, and checks that they are consistent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from dissensus.annotations import Annotations
from dissensus.annotations.annotations import arrow
from dissensus.contents import Contents
from dissensus.errors import DataError, did_you_mean, listed
from dissensus.names import Names, OfNames, same


def check_questions(name: str, known: Mapping[str, Any], questions: Iterable[str]) -> None:
    """Refuse questions that a corpus of this name does not have; the message lists its own."""
    unknown = [question for question in questions if question not in known]
    if unknown:
        raise DataError(
            f"{name}: no question {listed(unknown)}{did_you_mean(unknown[0], known)}; it has "
            f"{listed(known, 20)}"
        )


class LeftOut(NamedTuple):
    """Answers of the source that are not in the corpus, and why."""

    question: str
    reason: str
    answers: int


@dataclass(frozen=True, eq=False)
class Focus:
    """The part of a content that an item is about, half-open, in the units of its places.

    Characters of a text or seconds of a clip need one axis, a box in a picture two (row, column).
    """

    role: str
    start: np.ndarray  # (n_items, n_axes); nan: the item is about the whole content
    stop: np.ndarray  # (n_items, n_axes)

    def take(self, codes: np.ndarray) -> Focus:
        return Focus(self.role, self.start[codes], self.stop[codes])


@dataclass(frozen=True, eq=False)
class Rationales:
    """What annotators marked: one row per span, half-open.

    One axis for characters of a text, seconds or frames; two (row, column) for a box in a picture.
    If roles have different numbers of axes, the missing ones are nan.
    """

    item: np.ndarray  # (n_spans,) codes
    annotator: np.ndarray  # (n_spans,) codes, -1: unknown
    question: Any  # (n_spans,) Arrow strings, as are role and kind
    role: Any
    start: np.ndarray  # (n_spans, n_axes) in the units of the role's places; (n_spans,): one axis
    stop: np.ndarray  # (n_spans, n_axes)
    kind: Any

    def __post_init__(self) -> None:
        for end in ("start", "stop"):
            places = np.asarray(getattr(self, end))
            object.__setattr__(self, end, places[:, None] if places.ndim == 1 else places)

    def __len__(self) -> int:
        return len(self.item)

    def take(self, rows: np.ndarray) -> Rationales:
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        at = pa.array(rows)
        texts = {name: getattr(self, name).take(at) for name in ("question", "role", "kind")}
        arrays = ("item", "annotator", "start", "stop")
        return Rationales(**{name: getattr(self, name)[rows] for name in arrays}, **texts)


@dataclass(frozen=True, eq=False)
class Joint:
    """Answers to several questions in one row per response."""

    item: np.ndarray  # (n_rows,) codes
    annotator: np.ndarray | None  # (n_rows,) codes
    answers: dict[str, np.ndarray]  # question -> (n_rows,)


@dataclass(frozen=True, eq=False)
class CorpusFields(OfNames):
    """The fields of a corpus, checked against one another; `Corpus` adds methods."""

    name: str
    items: Names
    annotators: Names
    questions: dict[str, Annotations]
    contents: dict[str, Contents] = field(default_factory=dict)  # by role
    content: dict[str, np.ndarray] = field(default_factory=dict)  # role -> (n_items,), -1 absent
    item_attributes: dict[str, Any] = field(default_factory=dict)  # name -> Arrow (n_items,)
    annotator_attributes: dict[str, Any] = field(default_factory=dict)  # Arrow (n_annotators,)
    gold: dict[str, Annotations] = field(default_factory=dict)  # gold labels by question
    focus: Focus | None = None
    rationales: Rationales | None = None
    splits: dict[str, Any] = field(default_factory=dict)  # scheme -> Arrow strings, null: in none
    group: str | None = None  # the item attribute whose groups a split keeps together
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()  # what was recognised or decided while reading
    columns: dict[str, str] = field(default_factory=dict)  # "item", "annotator" or role -> column

    def check_questions(self, questions: Iterable[str]) -> None:
        """Refuse questions that the corpus does not have; the message lists those it has."""
        check_questions(self.name, self.questions, questions)

    def check(self) -> None:
        """Refuse fields that are not consistent."""
        n_items = self.n_items
        for role, codes in self.content.items():
            if codes.shape != (n_items,):
                raise DataError(f"{self.name}: {n_items} items but {len(codes)} codes of {role!r}")
            if codes.dtype.kind not in "iu":
                raise DataError(f"{self.name}: codes of {role!r} are {codes.dtype}, not integers")
            if codes.size and not -1 <= codes.min() <= codes.max() < len(self.contents[role]):
                raise DataError(f"{self.name}: codes of {role!r} point outside its contents")
        self._check_lengths()
        if self.group is not None and self.group not in self.item_attributes:
            raise DataError(
                f"{self.name}: no item attribute {self.group!r} to group by; "
                f"there are {listed(self.item_attributes)}"
            )
        focus = self.focus
        if focus is not None and focus.role not in self.contents:
            raise DataError(f"{self.name}: focus on {focus.role!r}, which has no contents")
        shapes = {focus.start.shape, focus.stop.shape} if focus is not None else set()
        if len(shapes) > 1 or any((len(s), *s[:1]) != (2, n_items) for s in shapes):
            raise DataError(f"{self.name}: a focus has one row for each of {n_items} items")
        if self.rationales is not None:
            _check_rationales(self.name, self.rationales, n_items, self.n_annotators)

    def _check_lengths(self) -> None:
        for role, contents in self.contents.items():
            contents.check(role)
        lengths = {
            "item attribute": (self.n_items, self.item_attributes),
            "split": (self.n_items, self.splits),
            "annotator attribute": (self.n_annotators, self.annotator_attributes),
        }
        for what, (n, columns) in lengths.items():
            for key, values in columns.items():
                if len(values) != n:
                    raise DataError(
                        f"{self.name}: {what} {key!r} has {len(values)} entries, not {n}"
                    )
                plain_column(values, key)

    def equals(self, other: CorpusFields) -> bool:
        """Whether both have the same content, including names, order and notes."""
        return same(self, other)


def plain_column(values: Any, what: str) -> Any:
    """A column of attributes as texts, numbers, booleans or lists of them; dates become texts."""
    values = arrow(values)
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if _is_plain(values.type):
        return values
    try:
        return values.cast(pa.float32() if values.type == pa.float16() else pa.string())
    except (pa.ArrowException, OverflowError):
        kind = f"{what!r} is of type {values.type}"
        raise DataError(f"attribute {kind}; write texts, numbers or dates") from None


def _is_plain(kind: Any) -> bool:
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return _is_plain(kind.value_type)
    numbers = (pa.null(), pa.bool_(), pa.float32(), pa.float64(), pa.string(), pa.large_string())
    return kind in numbers or pa.types.is_integer(kind)


def _check_rationales(name: str, spans: Rationales, n_items: int, n_annotators: int) -> None:
    n_spans = len(spans)
    for column, values in vars(spans).items():
        if len(values) != n_spans:
            raise DataError(f"{name}: {n_spans} rationales but {len(values)} entries in {column!r}")
    if spans.start.ndim != 2 or spans.start.shape != spans.stop.shape:
        raise DataError(
            f"{name}: rationales start and stop on the same axes, found shapes "
            f"{spans.start.shape} and {spans.stop.shape}"
        )
    for what, ends in (("start", spans.start), ("stop", spans.stop)):
        if ends.dtype.kind not in "iuf":
            raise DataError(f"{name}: rationales {what} at {ends.dtype}, which are no numbers")
    of = (("item", spans.item, 0, n_items), ("annotator", spans.annotator, -1, n_annotators))
    for what, codes, least, n in of:
        if codes.dtype.kind not in "iu" or (codes < least).any() or (codes >= n).any():
            raise DataError(f"{name}: rationales have {what} codes from {least} to {n - 1}, whole")
