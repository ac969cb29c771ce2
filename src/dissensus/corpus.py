"""Corpus: what was shown, what was asked, who answered, and what else is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.errors import DataError, listed
from dissensus.folders import read_json, read_table, reading, write_json, write_table, writing
from dissensus.names import Names
from dissensus.scales import scale_from_dict


class LeftOut(NamedTuple):
    """Answers that the source holds and the corpus does not, and why."""

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
    """What people pointed at: one row per marked span, half-open.

    One axis for characters of a text, seconds or frames; two (row, column) for a box in a picture.
    Where roles differ in axes, those that a role lacks are nan.
    """

    item: np.ndarray  # (n_spans,) codes
    annotator: np.ndarray  # (n_spans,) codes, -1: nobody in particular
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
        return Rationales(
            self.item[rows],
            self.annotator[rows],
            self.question.take(at),
            self.role.take(at),
            self.start[rows],
            self.stop[rows],
            self.kind.take(at),
        )


@dataclass(frozen=True, eq=False)
class Joint:
    """Answers to several questions that were given together: one row per person and time."""

    item: np.ndarray  # (n_rows,) codes
    annotator: np.ndarray | None  # (n_rows,) codes
    answers: dict[str, np.ndarray]  # question -> (n_rows,)


@dataclass(frozen=True, eq=False)
class Corpus:
    """Contents, items, questions with their annotations, and facts about items and annotators.

    Every selection gives another Corpus; nothing is changed in place. All questions share one
    list of items and one of annotators. Build one with `Corpus.build`, or with `dissensus.read`.
    """

    name: str
    items: Names
    annotators: Names
    questions: dict[str, Annotations]
    contents: dict[str, Contents] = field(default_factory=dict)  # by role
    content: dict[str, np.ndarray] = field(default_factory=dict)  # role -> (n_items,), -1 absent
    item_attributes: dict[str, Any] = field(default_factory=dict)  # name -> Arrow (n_items,)
    annotator_attributes: dict[str, Any] = field(default_factory=dict)  # Arrow (n_annotators,)
    gold: dict[str, Annotations] = field(default_factory=dict)  # labels from elsewhere
    focus: Focus | None = None
    rationales: Rationales | None = None
    splits: dict[str, Any] = field(default_factory=dict)  # scheme -> Arrow strings, null: in none
    group: str | None = None  # the item attribute that a split must not cut through
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()  # what was recognised or decided while reading

    @classmethod
    def build(
        cls,
        name: str,
        items: Any,
        questions: dict[str, Annotations],
        *,
        annotators: Names | None = None,
        contents: dict[str, tuple[Contents, np.ndarray]] | None = None,
        item_attributes: dict[str, Any] | None = None,
        annotator_attributes: dict[str, Any] | None = None,
        gold: dict[str, Annotations] | None = None,
        **facts: Any,
    ) -> Corpus:
        """A corpus from its parts, checked; annotations may come with name lists of their own.

        Args:
            items: every item's name; questions and gold may be about some of them.
            annotators: every annotator; left out, those of the questions in order.
            contents: role -> (contents, a code per item), as `Contents.distinct` gives them.
            facts: focus, rationales, splits, group, left_out, notes.

        Example:
            >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no")]
            >>> asked = {"offensive": Annotations.from_rows(rows)}
            >>> texts = {"text": Contents.distinct("text", ["so good!"])}
            >>> corpus = Corpus.build("mine", ["t1"], asked, contents=texts)
            >>> corpus["offensive"].n_rows, corpus.annotators[1]
            (2, 'bob')
        """
        items = items if isinstance(items, Names) else Names(items)
        if annotators is None:
            annotators = _union([a.annotators for a in questions.values()])
        contents = contents or {}
        splits = {name: _arrow(values) for name, values in facts.pop("splits", {}).items()}
        corpus = cls(
            name,
            items,
            annotators,
            {key: asked.on(items, annotators) for key, asked in questions.items()},
            {role: held for role, (held, _) in contents.items()},
            {role: np.asarray(codes, np.int32) for role, (_, codes) in contents.items()},
            {key: _arrow(values) for key, values in (item_attributes or {}).items()},
            {key: _arrow(values) for key, values in (annotator_attributes or {}).items()},
            {key: label.on(items, Names.range(0)) for key, label in (gold or {}).items()},
            splits=splits,
            **facts,
        )
        corpus._check()
        return corpus

    def _check(self) -> None:
        n_items, n_annotators = len(self.items), len(self.annotators)
        for role, codes in self.content.items():
            if codes.shape != (n_items,):
                raise DataError(f"{self.name}: {n_items} items but {len(codes)} codes of {role!r}")
            if codes.size and not -1 <= codes.min() <= codes.max() < len(self.contents[role]):
                raise DataError(f"{self.name}: codes of {role!r} point outside its contents")
        lengths = [
            *(("item attribute", n_items, *pair) for pair in self.item_attributes.items()),
            *(("split", n_items, *pair) for pair in self.splits.items()),
            *(
                ("annotator attribute", n_annotators, *pair)
                for pair in self.annotator_attributes.items()
            ),
        ]
        for what, expected, key, values in lengths:
            if len(values) != expected:
                raise DataError(
                    f"{self.name}: {what} {key!r} has {len(values)} entries, not {expected}"
                )
        if self.group is not None and self.group not in self.item_attributes:
            raise DataError(
                f"{self.name}: no item attribute {self.group!r} to group by; "
                f"there are {listed(self.item_attributes)}"
            )
        if self.focus is not None:
            if self.focus.role not in self.contents:
                raise DataError(f"{self.name}: focus on {self.focus.role!r}, which has no contents")
            shapes = {self.focus.start.shape, self.focus.stop.shape}
            if len(shapes) > 1 or {(len(shape), *shape[:1]) for shape in shapes} != {(2, n_items)}:
                raise DataError(f"{self.name}: a focus has one row for each of {n_items} items")
        if self.rationales is not None:
            _check_rationales(self.name, self.rationales)

    # ---- what it holds ----

    @property
    def n_items(self) -> int:
        return len(self.items)

    @property
    def n_annotators(self) -> int:
        return len(self.annotators)

    def __getitem__(self, question: str) -> Annotations:
        self.check_questions([question])
        return self.questions[question]

    def check_questions(self, questions: Iterable[str]) -> None:
        """Refuse questions that were not asked, naming those that were."""
        strange = [question for question in questions if question not in self.questions]
        if strange:
            raise DataError(
                f"{self.name}: no question {listed(strange)}; it has {listed(self.questions, 20)}"
            )

    def joint(self, *questions: str) -> Joint:
        """Answers that were given together: joined by response, else by (item, annotator)."""
        self.check_questions(questions)
        asked = [self.questions[question] for question in questions]
        by_response = all(annotations.response is not None for annotations in asked)
        keys = [_join_key(annotations, by_response) for annotations in asked]
        shared = keys[0]
        for key in keys[1:]:
            shared = np.intersect1d(shared, key)
        rows = []
        for key, question in zip(keys, questions, strict=True):
            distinct, first = np.unique(key, return_index=True)
            if len(distinct) < len(key):
                raise DataError(
                    f"{self.name}: a response answers {question!r} twice; the answers cannot be "
                    "paired"
                    if by_response
                    else f"{self.name}: an annotator answered {question!r} twice on one item; "
                    "without a response column the answers cannot be paired"
                )
            rows.append(first[np.searchsorted(distinct, shared)])
        who = asked[0].annotator
        return Joint(
            asked[0].item[rows[0]],
            None if who is None else who[rows[0]],
            {q: a.answer[r] for q, a, r in zip(questions, asked, rows, strict=True)},
        )

    def text_of(self, item: int) -> str:
        """The texts of an item, for people to read; the focus stands in [[ ]]."""
        parts = []
        for role, held in self.contents.items():
            code = self.content[role][item]
            if code < 0:
                continue
            value = held[code] if held.kind == "text" else f"<{held.kind}>"
            if self.focus is not None and self.focus.role == role and held.kind == "text":
                start, stop = self.focus.start[item, 0], self.focus.stop[item, 0]
                if start == start:
                    a, b = int(start), int(stop)
                    value = f"{value[:a]}[[{value[a:b]}]]{value[b:]}"
            parts.append(value)
        return " | ".join(parts)

    # ---- selections ----

    def select(
        self,
        *,
        items: Any | None = None,
        annotators: Any | None = None,
        questions: Sequence[str] | None = None,
    ) -> Corpus:
        """Only these items (names, codes or a mask), annotators (likewise) and questions.

        Selecting items keeps every annotator's name, so that codes stay what they were;
        contents that no item shows any more are gone.
        """
        corpus = self
        if questions is not None:
            self.check_questions(questions)
            corpus = replace(
                corpus,
                questions={q: corpus.questions[q] for q in questions},
                gold={q: gold for q, gold in corpus.gold.items() if q in questions},
                rationales=_of_questions(corpus.rationales, questions),
                left_out=tuple(row for row in corpus.left_out if row.question in questions),
            )
        if annotators is not None:
            corpus = corpus._select_annotators(_codes(annotators, self.annotators, "annotator"))
        if items is not None:
            corpus = corpus._select_items(_codes(items, self.items, "item"))
        return corpus

    def without(self, *, annotators: Any | None = None, items: Any | None = None) -> Corpus:
        """Everything but these annotators or items; nothing of them stays."""
        keep_people, keep_items = np.ones(self.n_annotators, bool), np.ones(self.n_items, bool)
        if annotators is not None:
            keep_people[_codes(annotators, self.annotators, "annotator")] = False
        if items is not None:
            keep_items[_codes(items, self.items, "item")] = False
        return self.select(
            annotators=None if annotators is None else keep_people,
            items=None if items is None else keep_items,
        )

    def part(self, name: str, scheme: str = "official") -> Corpus:
        """One part of an official split, such as "train" or "dev"."""
        return self.select(items=self.in_part(name, scheme))

    def parts(self, scheme: str = "official") -> list[str]:
        """The names of the parts of an official split; empty if there is no such split."""
        if scheme not in self.splits:
            return []
        found = self.splits[scheme].unique().to_pylist()
        order = {"train": 0, "dev": 1, "validation": 1, "test": 2}
        return sorted((p for p in found if p is not None), key=lambda p: (order.get(p, 3), p))

    def in_part(self, name: str, scheme: str = "official") -> np.ndarray:
        """Which items are in this part, (n_items,) booleans."""
        if name not in self.parts(scheme):
            there = listed(self.parts(scheme)) or "no official split"
            raise DataError(f"{self.name}: no part {name!r}; there is {there}")
        chosen = pc.fill_null(pc.equal(self.splits[scheme], name), False)
        return np.asarray(chosen.to_numpy(zero_copy_only=False), dtype=bool)

    def units(self, by: str | None = None) -> np.ndarray:
        """A code per item; items with the same code belong on one side of a split.

        Args:
            by: "content", "item" or an item attribute; left out, the corpus's grouping attribute
                or else "content". An item without content, or whose attribute is missing, stands
                alone.
        """
        by = by or self.group or "content"
        if by == "item":
            return np.arange(self.n_items)
        if by == "content":
            if not self.content:
                return np.arange(self.n_items)
            codes = np.stack(list(self.content.values()), axis=1)
            units = np.unique(codes, axis=0, return_inverse=True)[1].reshape(-1)
            return _alone(units, codes.max(axis=1) < 0)
        if by not in self.item_attributes:
            raise DataError(
                f"{self.name}: cannot split by {by!r}; there are 'content', 'item' and the "
                f"item attributes {listed(self.item_attributes, 20)}"
            )
        encoded = self.item_attributes[by].dictionary_encode()
        missing = encoded.is_null().to_numpy(zero_copy_only=False)
        units = pc.fill_null(encoded.indices, 0).to_numpy(zero_copy_only=False)
        return _alone(units, missing)

    def split(
        self, test_share: float = 0.2, by: str | None = None, seed: int = 0
    ) -> tuple[Corpus, Corpus]:
        """Two corpora, train and test, such that what belongs together stays together.

        Args:
            test_share: the share of items wanted in the second.
            by: as in `units`; left out, the grouping attribute or the content.
        """
        if not 0 < test_share < 1:
            raise DataError(f"test_share lies between 0 and 1, found {test_share}")
        units = self.units(by)
        sizes = np.bincount(units)
        test = _drawn(sizes, test_share * self.n_items, seed)[units]
        if not test.any() or test.all():
            raise DataError(
                f"{self.name}: {self.n_items} items in {int((sizes > 0).sum())} groups cannot be "
                f"split with a share of {test_share}"
            )
        return self.select(items=~test), self.select(items=test)

    def drop_labels(self, share: float, seed: int = 0) -> Corpus:
        """Leave out this share of every annotator's answers, at random.

        What an annotator said about an item is dropped from every question or from none, and the
        share is one of such pairs. Anonymous answers are dropped one by one, those of one
        response together. A rationale goes with the answer that it was given for.
        """
        if not 0 <= share < 1:
            raise DataError(f"the share to drop lies from 0 to below 1, found {share}")
        people = _unlucky(self.questions, _pair_of, share, seed)
        responses = _unlucky(self.questions, _response_of, share, seed)
        kept = {}
        for question, asked in self.questions.items():
            if (pair := _pair_of(asked)) is not None:
                kept[question] = asked.take(~np.isin(pair, people))
            elif (response := _response_of(asked)) is not None:
                kept[question] = asked.take(~np.isin(response, responses))
            else:
                kept[question] = _thinned(asked, share, seed)
        rationales = _of_answers(self.rationales, self.questions, kept)
        return replace(self, questions=kept, rationales=rationales)

    def _select_items(self, codes: np.ndarray) -> Corpus:
        at = pa.array(codes)
        items = self.items.take(codes)
        contents, content = {}, {}
        for role, held in self.contents.items():
            shown, new = np.unique(self.content[role][codes], return_inverse=True)
            absent = int(shown.size > 0 and shown[0] < 0)
            contents[role] = held.take(shown[absent:])
            content[role] = (new.reshape(-1) - absent).astype(np.int32)
        rationales = self.rationales
        if rationales is not None:
            new_code = np.full(self.n_items, -1, dtype=np.int64)
            new_code[codes] = np.arange(len(codes))
            rationales = rationales.take(new_code[rationales.item] >= 0)
            rationales = replace(rationales, item=new_code[rationales.item])
        return replace(
            self,
            items=items,
            contents=contents,
            content=content,
            questions={q: a.select_items(codes, items) for q, a in self.questions.items()},
            gold={q: a.select_items(codes, items) for q, a in self.gold.items()},
            item_attributes={k: v.take(at) for k, v in self.item_attributes.items()},
            splits={k: v.take(at) for k, v in self.splits.items()},
            focus=None if self.focus is None else self.focus.take(codes),
            rationales=rationales,
        )

    def _select_annotators(self, codes: np.ndarray) -> Corpus:
        at = pa.array(codes)
        annotators = self.annotators.take(codes)
        rationales = self.rationales
        if rationales is not None:
            new_code = np.full(self.n_annotators + 1, -2, dtype=np.int64)
            new_code[codes] = np.arange(len(codes))
            new_code[-1] = -1  # nobody in particular stays
            rationales = rationales.take(new_code[rationales.annotator] >= -1)
            rationales = replace(rationales, annotator=new_code[rationales.annotator])
        return replace(
            self,
            annotators=annotators,
            questions={
                q: replace(a, annotators=annotators)
                if a.annotator is None
                else a.select_annotators(codes, annotators)
                for q, a in self.questions.items()
            },
            annotator_attributes={k: v.take(at) for k, v in self.annotator_attributes.items()},
            rationales=rationales,
        )

    # ---- a folder of Parquet and JSON ----

    def save(self, path: str | Path) -> None:
        """Write the corpus as a folder, whole or not at all; `Corpus.load` reads it back."""
        with writing(path, "corpus") as folder:
            _write_corpus(self, folder)

    @classmethod
    def load(cls, path: str | Path) -> Corpus:
        """Read a folder that `save` wrote."""
        return _read_corpus(Path(path))

    def equals(self, other: Corpus) -> bool:
        """Whether both hold the same, names, order, notes and all."""
        return (
            (self.name, self.group, self.left_out, self.notes)
            == (other.name, other.group, other.left_out, other.notes)
            and self.items == other.items
            and self.annotators == other.annotators
            and _all_equal(self.questions, other.questions)
            and _all_equal(self.gold, other.gold)
            and _all_equal(self.contents, other.contents)
            and _all_equal(self.item_attributes, other.item_attributes)
            and _all_equal(self.annotator_attributes, other.annotator_attributes)
            and _all_equal(self.splits, other.splits)
            and list(self.content) == list(other.content)
            and all(np.array_equal(v, other.content[k]) for k, v in self.content.items())
            and _same_fields(self.focus, other.focus)
            and _same_fields(self.rationales, other.rationales)
        )


# ---- helpers ----


def _union(lists: list[Names]) -> Names:
    """The names of all lists, each once, in order of first appearance."""
    lists = [names for names in lists if len(names)]
    if not lists:
        return Names.range(0)
    if all(names == lists[0] for names in lists):
        return lists[0]
    arrays = [names.array.cast(pa.string()) for names in lists]
    return Names(pa.concat_arrays(arrays).unique())


def _arrow(values: Any) -> Any:
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if not isinstance(values, pa.Array):
        values = pa.array(values, from_pandas=True)  # nan is a fact that is missing
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


def _codes(chosen: Any, names: Names, what: str) -> np.ndarray:
    """Codes from a mask, codes or names."""
    if isinstance(chosen, np.ndarray) and chosen.dtype == bool:
        if chosen.shape != (len(names),):
            raise DataError(f"a mask over {len(names)} {what}s has {chosen.size} entries")
        return np.flatnonzero(chosen)
    if isinstance(chosen, np.ndarray) and chosen.dtype.kind in "iu":
        codes = chosen
        if codes.size and not 0 <= codes.min() <= codes.max() < len(names):
            raise DataError(f"{what} codes run from 0 to {len(names) - 1}")
    else:
        codes = names.codes(chosen if isinstance(chosen, str) else list(chosen), what)
    if len(np.unique(codes)) != len(codes):
        raise DataError(f"an {what} was chosen twice")
    return codes


def _join_key(annotations: Annotations, by_response: bool) -> np.ndarray:
    if by_response and annotations.response is not None:
        return annotations.response
    return _pairs(annotations.item, annotations.who("joining questions"))


def _pairs(item: np.ndarray, annotator: np.ndarray) -> np.ndarray:
    """One number per pair of item and annotator."""
    return item.astype(np.int64) << 32 | annotator.astype(np.int64)


def _of_questions(rationales: Rationales | None, questions: Sequence[str]) -> Rationales | None:
    if rationales is None:
        return None
    kept = pc.is_in(rationales.question, value_set=pa.array(list(questions), pa.string()))
    return rationales.take(np.asarray(kept.to_numpy(zero_copy_only=False), dtype=bool))


def _of_answers(
    rationales: Rationales | None, before: dict[str, Annotations], after: dict[str, Annotations]
) -> Rationales | None:
    """The rationales without those whose answer was there before and is not any more."""
    if rationales is None:
        return None
    pair = np.where(rationales.annotator < 0, -1, _pairs(rationales.item, rationales.annotator))
    gone = np.zeros(len(rationales), bool)
    for question, asked in before.items():
        had, has = _pair_of(asked), _pair_of(after[question])
        if had is not None and has is not None:
            about = np.asarray(pc.equal(rationales.question, question))
            gone |= about & np.isin(pair, np.setdiff1d(had, has))
    return rationales.take(~gone)


def _check_rationales(name: str, spans: Rationales) -> None:
    n_spans = len(spans)
    for column, values in vars(spans).items():
        if len(values) != n_spans:
            raise DataError(f"{name}: {n_spans} rationales but {len(values)} entries in {column!r}")
    if spans.start.ndim != 2 or spans.start.shape != spans.stop.shape:
        raise DataError(
            f"{name}: rationales start and stop on the same axes, found shapes "
            f"{spans.start.shape} and {spans.stop.shape}"
        )


def _alone(units: np.ndarray, lonely: np.ndarray) -> np.ndarray:
    """The units, but for the lonely items, each of which becomes a unit of its own."""
    units = units.astype(np.int64)
    units[lonely] = units.max(initial=-1) + 1 + np.arange(lonely.sum())
    return units


def _drawn(sizes: np.ndarray, target: float, seed: int) -> np.ndarray:
    """Random units whose sizes sum to about `target`, (n_units,) booleans."""
    chosen = np.zeros(len(sizes), bool)
    order = np.random.default_rng(seed).permutation(len(sizes))
    n_first = int(np.searchsorted(np.cumsum(sizes[order]), target + 0.5, side="right"))
    chosen[order[:n_first]] = True
    gap = target - sizes[chosen].sum()
    for unit in order[n_first:]:  # smaller ones that still fit
        if gap <= 0:
            break
        if sizes[unit] <= gap + 0.5:
            chosen[unit] = True
            gap -= sizes[unit]
    left = np.flatnonzero(~chosen)
    if gap > 0.5 and left.size:  # rather one too large than far too few
        nearest = left[np.abs(sizes[left] - gap).argmin()]
        chosen[nearest] = abs(sizes[nearest] - gap) < gap
    return chosen


def _pair_of(annotations: Annotations) -> np.ndarray | None:
    """One number per pair of item and annotator; None where nobody knows who."""
    who = annotations.annotator
    return None if who is None else _pairs(annotations.item, who)


def _response_of(annotations: Annotations) -> np.ndarray | None:
    """The responses of anonymous answers; None where they have none."""
    alone = annotations.annotator is not None or annotations.count is not None
    return None if alone else annotations.response


def _unlucky(
    questions: dict[str, Annotations],
    key_of: Callable[[Annotations], np.ndarray | None],
    share: float,
    seed: int,
) -> np.ndarray:
    """The keys that are dropped: this share of every annotator's, the same in all questions."""
    found = [key for asked in questions.values() if (key := key_of(asked)) is not None]
    if not found:
        return np.zeros(0, np.int64)
    keys = np.unique(np.concatenate(found))
    who = keys & 0xFFFFFFFF if key_of is _pair_of else np.zeros(len(keys), np.int64)
    order = np.lexsort((_luck(keys, seed), who))  # every annotator's keys, the unluckiest first
    n = np.bincount(who)
    rank = np.arange(len(who)) - np.repeat(np.cumsum(n) - n, n)
    return keys[order[rank < np.round(share * n)[who[order]]]]


def _thinned(annotations: Annotations, share: float, seed: int) -> Annotations:
    """Anonymous answers without this share of them."""
    generator = np.random.default_rng(seed)
    if annotations.count is not None:
        left = annotations.count - generator.binomial(annotations.count, share)
        return replace(annotations, count=left).take(left > 0)
    n_dropped = round(share * annotations.n_rows)
    return annotations.take(np.sort(generator.permutation(annotations.n_rows)[n_dropped:]))


def _luck(keys: np.ndarray, seed: int) -> np.ndarray:
    """A random number per key, whichever other keys there are."""
    with np.errstate(over="ignore"):
        x = keys.astype(np.uint64) + np.uint64(seed + 1) * np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)  # splitmix64
    return x ^ (x >> np.uint64(31))


def _all_equal(mine: dict[str, Any], others: dict[str, Any]) -> bool:
    return list(mine) == list(others) and all(v.equals(others[k]) for k, v in mine.items())


def _same_fields(mine: Any, other: Any) -> bool:
    if mine is None or other is None:
        return mine is other
    for name, value in vars(mine).items():
        theirs = getattr(other, name)
        if isinstance(value, np.ndarray):
            if not np.array_equal(value, theirs, equal_nan=value.dtype.kind == "f"):
                return False
        elif not (value.equals(theirs) if isinstance(value, pa.Array) else value == theirs):
            return False
    return True


# ---- writing and reading ----


def _write_corpus(corpus: Corpus, folder: Path) -> None:
    items: dict[str, Any] = {} if corpus.items.is_range else {"name": corpus.items.array}
    items |= {f"content.{role}": codes for role, codes in corpus.content.items()}
    items |= {f"attribute.{key}": values for key, values in corpus.item_attributes.items()}
    items |= {f"split.{key}": values for key, values in corpus.splits.items()}
    if corpus.focus is not None:
        items |= _axes("focus.start.", corpus.focus.start)
        items |= _axes("focus.stop.", corpus.focus.stop)
    write_table(folder / "items.parquet", items)
    people: dict[str, Any] = {} if corpus.annotators.is_range else {"name": corpus.annotators.array}
    people |= {f"attribute.{key}": values for key, values in corpus.annotator_attributes.items()}
    write_table(folder / "annotators.parquet", people)
    for number, held in enumerate(corpus.contents.values()):
        write_table(folder / f"content-{number}.parquet", {"value": held.values})
    for number, asked in enumerate(corpus.questions.values()):
        write_table(folder / f"question-{number}.parquet", _answer_columns(asked))
    for number, label in enumerate(corpus.gold.values()):
        write_table(folder / f"gold-{number}.parquet", _answer_columns(label))
    if corpus.rationales is not None:
        spans = dict(vars(corpus.rationales))
        spans |= _axes("start.", spans.pop("start")) | _axes("stop.", spans.pop("stop"))
        write_table(folder / "rationales.parquet", spans)
    write_json(
        folder,
        "corpus",
        {
            "name": corpus.name,
            "n_items": corpus.n_items,
            "n_annotators": corpus.n_annotators,
            "tables": [n for n, columns in (("items", items), ("annotators", people)) if columns],
            "contents": [{"role": r, "kind": c.kind} for r, c in corpus.contents.items()],
            "questions": [_question_front(q, a) for q, a in corpus.questions.items()],
            "gold": [_question_front(q, a) for q, a in corpus.gold.items()],
            "focus": corpus.focus and corpus.focus.role,
            "rationales": corpus.rationales is not None,
            "group": corpus.group,
            "left_out": [(row.question, row.reason, int(row.answers)) for row in corpus.left_out],
            "notes": list(corpus.notes),
        },
    )


def _axes(prefix: str, places: np.ndarray) -> dict[str, np.ndarray]:
    """One column per axis."""
    return {f"{prefix}{axis}": places[:, axis] for axis in range(places.shape[1])}


def _ends(columns: dict[str, Any], prefix: str) -> list[np.ndarray]:
    """Where spans start and stop, (n, n_axes) each, as `_axes` wrote them."""
    n_axes = sum(name.startswith(f"{prefix}start.") for name in columns)
    return [
        np.stack([columns[f"{prefix}{end}.{n}"].to_numpy() for n in range(n_axes)], axis=1)
        for end in ("start", "stop")
    ]


def _question_front(name: str, annotations: Annotations) -> dict[str, Any]:
    scale = annotations.scale.to_dict()
    return {"name": name, "scale": scale, "repeats": annotations.repeats}


def _answer_columns(annotations: Annotations) -> dict[str, Any]:
    names = ("item", "annotator", "answer", "count", "response", "seconds")
    columns = {name: getattr(annotations, name) for name in names}
    columns = {name: column for name, column in columns.items() if column is not None}
    return columns | {f"extra.{name}": column for name, column in annotations.extra.items()}


def _read_corpus(folder: Path) -> Corpus:
    front = read_json(folder, "corpus")
    with reading(folder):
        return _assembled(folder, front)


def _assembled(folder: Path, front: dict[str, Any]) -> Corpus:
    table, people = (  # no table: nothing but a range of names
        _columns(folder / f"{name}.parquet") if name in front["tables"] else {}
        for name in ("items", "annotators")
    )
    items = Names(table["name"]) if "name" in table else Names.range(front["n_items"])
    annotators = Names(people["name"]) if "name" in people else Names.range(front["n_annotators"])
    roles = [held["role"] for held in front["contents"]]
    focus = None
    if front["focus"] is not None:
        focus = Focus(front["focus"], *_ends(table, "focus."))
    rationales = None
    if front["rationales"]:
        spans = _columns(folder / "rationales.parquet")
        start, stop = _ends(spans, "")
        rationales = Rationales(
            spans["item"].to_numpy(),
            spans["annotator"].to_numpy(),
            spans["question"],
            spans["role"],
            start,
            stop,
            spans["kind"],
        )
    corpus = Corpus(
        name=front["name"],
        items=items,
        annotators=annotators,
        questions={
            asked["name"]: _read_answers(folder / f"question-{n}.parquet", asked, items, annotators)
            for n, asked in enumerate(front["questions"])
        },
        contents={
            held["role"]: Contents(
                held["kind"], _columns(folder / f"content-{number}.parquet")["value"]
            )
            for number, held in enumerate(front["contents"])
        },
        content={role: table[f"content.{role}"].to_numpy() for role in roles},
        item_attributes=_stripped(table, "attribute."),
        annotator_attributes=_stripped(people, "attribute."),
        gold={
            asked["name"]: _read_answers(folder / f"gold-{n}.parquet", asked, items, Names.range(0))
            for n, asked in enumerate(front["gold"])
        },
        focus=focus,
        rationales=rationales,
        splits=_stripped(table, "split."),
        group=front["group"],
        left_out=tuple(LeftOut(*row) for row in front["left_out"]),
        notes=tuple(front["notes"]),
    )
    corpus._check()
    return corpus


def _read_answers(
    path: Path, front: dict[str, Any], items: Names, annotators: Names
) -> Annotations:
    columns = _columns(path)
    arrays = {
        name: column.to_numpy(zero_copy_only=False)
        for name, column in columns.items()
        if not name.startswith("extra.")
    }
    return Annotations.from_arrays(
        arrays.pop("item"),
        arrays.pop("annotator", None),
        arrays.pop("answer"),
        scale_from_dict(front["scale"]),
        items=items,
        annotators=annotators,
        extra=_stripped(columns, "extra."),
        repeats="keep" if front["repeats"] else "error",
        **arrays,
    )


def _columns(path: Path) -> dict[str, Any]:
    table = read_table(path)
    return {name: table[name].combine_chunks() for name in table.column_names}


def _stripped(columns: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {
        name.removeprefix(prefix): column
        for name, column in columns.items()
        if name.startswith(prefix)
    }
