"""Corpus: contents, items, questions with their answers, and facts about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.annotations import Annotations
from dissensus.contents import Contents
from dissensus.corpus.fields import CorpusFields, Joint, plain_column
from dissensus.corpus.folder import read_corpus, write_corpus
from dissensus.corpus.tables import answer_table, dropped_pairs, of_answers, pair_of, pairs_of
from dissensus.errors import DataError, counted, listed
from dissensus.files.folders import writing
from dissensus.names import Names, new_codes
from dissensus.tables import MOST_ROWS, html_rows, to_frame


@dataclass(frozen=True, eq=False)
class Corpus(CorpusFields):
    """Contents, items, questions with their annotations, and facts about items and annotators.

    Every selection gives another Corpus; nothing is changed in place. All questions share one
    list of items and one of annotators. Build one with `Corpus.build`, or with `dissensus.read`.
    """

    def __repr__(self) -> str:
        questions = ", ".join(
            f"{name!r} ({annotations.scale.kind}, {counted(annotations.n_answers, 'answer')})"
            for name, annotations in self.questions.items()
        )
        contents = ", ".join(f"{role!r} ({of.kind})" for role, of in self.contents.items())
        return (
            f"<Corpus {self.name!r}: {counted(self.n_items, 'item')}, "
            f"{counted(self.n_annotators, 'annotator')}; questions: {questions or 'none'}; "
            f"contents: {contents or 'none'}>"
        )

    @classmethod
    def build(
        cls,
        name: str,
        items: Any,
        questions: dict[str, Annotations],
        *,
        annotators: Names | None = None,
        contents: Mapping[str, Any] | None = None,
        item_attributes: dict[str, Any] | None = None,
        annotator_attributes: dict[str, Any] | None = None,
        gold: dict[str, Annotations] | None = None,
        **facts: Any,
    ) -> Corpus:
        """A corpus from its parts, checked; annotations may come with name lists of their own.

        Args:
            items: every item's name; questions and gold may be about some of them.
            annotators: every annotator; left out, those of the questions in order.
            contents: role -> the text of each item, or (contents, a code per item), as
                `Contents.distinct` gives them for texts and other kinds.
            facts: focus, rationales, splits, group, left_out, notes, columns. What is left out
                without any answer is not kept.

        Example:
            >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no")]
            >>> questions = {"offensive": Annotations.from_rows(rows)}
            >>> corpus = Corpus.build("mine", ["t1"], questions, contents={"text": ["so good!"]})
            >>> corpus["offensive"].n_rows, corpus.annotators[1]
            (2, 'bob')
        """
        items = items if isinstance(items, Names) else Names(items)
        if annotators is None:  # those of all questions, each once, in order of first appearance
            lists = [a.annotators for a in questions.values() if len(a.annotators)]
            annotators = lists[0] if lists else Names.range(0)
            if any(names != annotators for names in lists):
                arrays = [names.array.cast(pa.string()) for names in lists]
                annotators = Names(pa.concat_arrays(arrays).unique())
        coded = {role: _coded(role, of, len(items)) for role, of in (contents or {}).items()}
        splits = {
            name: plain_column(values, name) for name, values in facts.pop("splits", {}).items()
        }
        left_out = tuple(row for row in facts.pop("left_out", ()) if row.answers)
        corpus = cls(
            name,
            items,
            annotators,
            {key: answers.on(items, annotators) for key, answers in questions.items()},
            {role: of_role for role, (of_role, _) in coded.items()},
            {role: np.asarray(codes, np.int32) for role, (_, codes) in coded.items()},
            {key: plain_column(values, key) for key, values in (item_attributes or {}).items()},
            {
                key: plain_column(values, key)
                for key, values in (annotator_attributes or {}).items()
            },
            {key: label.on(items, Names.range(0)) for key, label in (gold or {}).items()},
            splits=splits,
            left_out=left_out,
            **facts,
        )
        corpus.check()
        return corpus

    # ---- questions and texts ----

    def __getitem__(self, question: str) -> Annotations:
        self.check_questions([question])
        return self.questions[question]

    def joint(self, *questions: str) -> Joint:
        """Answers to several questions, joined by response, else by (item, annotator)."""
        self.check_questions(questions)
        joined = [self.questions[question] for question in questions]
        by_response = all(annotations.response is not None for annotations in joined)
        keys = [
            a.response
            if by_response and a.response is not None
            else pairs_of(a.item, a.annotator_codes("joining questions"))
            for a in joined
        ]
        shared = keys[0]
        for key in keys[1:]:
            shared = np.intersect1d(shared, key)
        rows = []
        for key, question in zip(keys, questions, strict=True):
            distinct, first = np.unique(key, return_index=True)
            if len(distinct) < len(key):
                twice = f"an annotator answered {question!r} twice on one item; without a response"
                twice += " column the answers cannot be paired"
                if by_response:
                    twice = f"a response answers {question!r} twice; the answers cannot be paired"
                raise DataError(f"{self.name}: {twice}")
            rows.append(first[np.searchsorted(distinct, shared)])
        annotator = joined[0].annotator
        return Joint(
            joined[0].item[rows[0]],
            None if annotator is None else annotator[rows[0]],
            {q: a.answer[r] for q, a, r in zip(questions, joined, rows, strict=True)},
        )

    def text_of(self, item: int) -> str:
        """The texts of an item, joined for display; the focus is in [[ ]]."""
        parts = []
        for role, contents in self.contents.items():
            code = self.content[role][item]
            if code < 0:
                continue
            value = contents[code] if contents.kind == "text" else f"<{contents.kind}>"
            if self.focus is not None and self.focus.role == role and contents.kind == "text":
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
        """Only these items, annotators (names, codes or a mask) and questions.

        Selecting items keeps the names of all annotators, so that their codes do not change, and
        drops contents that no item uses any more.
        """
        corpus = self
        if questions is not None:
            self.check_questions(questions)
            rationales = corpus.rationales
            if rationales is not None:
                names = pa.array(list(questions), pa.string())
                kept = pc.is_in(rationales.question, value_set=names)
                rationales = rationales.take(np.asarray(kept).astype(bool))
            corpus = replace(
                corpus,
                questions={q: corpus.questions[q] for q in questions},
                gold={q: gold for q, gold in corpus.gold.items() if q in questions},
                rationales=rationales,
                left_out=tuple(row for row in corpus.left_out if row.question in questions),
            )
        if annotators is not None:
            corpus = corpus._select_annotators(_codes(annotators, self.annotators, "annotator"))
        if items is not None:
            corpus = corpus._select_items(_codes(items, self.items, "item"))
        return corpus

    def without(self, *, annotators: Any | None = None, items: Any | None = None) -> Corpus:
        """Everything except these annotators or items."""
        kept: dict[str, Any] = {}
        if annotators is not None:
            kept["annotators"] = np.ones(self.n_annotators, bool)
            kept["annotators"][_codes(annotators, self.annotators, "annotator")] = False
        if items is not None:
            kept["items"] = np.ones(self.n_items, bool)
            kept["items"][_codes(items, self.items, "item")] = False
        return self.select(**kept)

    def part(self, name: str, scheme: str = "official") -> Corpus:
        """One part of an official split, such as "train" or "dev"."""
        return self.select(items=self.in_part(name, scheme))

    def parts(self, scheme: str = "official") -> list[str]:
        """The names of the parts of an official split; empty if there is no such split."""
        if scheme not in self.splits:
            return []
        parts = self.splits[scheme].unique().to_pylist()
        order = {"train": 0, "dev": 1, "validation": 1, "valid": 1, "val": 1, "test": 2}
        return sorted((p for p in parts if p is not None), key=lambda p: (order.get(p, 3), p))

    def in_part(self, name: str, scheme: str = "official") -> np.ndarray:
        """Which items are in this part, (n_items,) booleans."""
        if name not in self.parts(scheme):
            parts = listed(self.parts(scheme))
            choices = f"choose from {parts}" if parts else f"it has no split {scheme!r}"
            raise DataError(f"{self.name}: no part {name!r}; {choices}")
        chosen = pc.fill_null(pc.equal(self.splits[scheme], name), False)
        return np.asarray(chosen.to_numpy(zero_copy_only=False), dtype=bool)

    def units(self, by: str | None = None) -> np.ndarray:
        """The group of each item as a code; a split keeps a group in one part.

        Args:
            by: "content", "item" or an item attribute; if left out, the grouping attribute of the
                corpus, else "content". An item without content, or without the attribute, is its
                own group.
        """
        by = by or self.group or "content"
        if by == "item":
            return np.arange(self.n_items)
        if by == "content":
            if not self.content:
                return np.arange(self.n_items)
            codes = np.stack(list(self.content.values()), axis=1)
            units = np.unique(codes, axis=0, return_inverse=True)[1].reshape(-1)
            return _own_groups(units, codes.max(axis=1) < 0)
        if by not in self.item_attributes:
            raise DataError(
                f"{self.name}: cannot split by {by!r}; there are 'content', 'item' and the "
                f"item attributes {listed(self.item_attributes, 20)}"
            )
        encoded = self.item_attributes[by].dictionary_encode()
        missing = encoded.is_null().to_numpy(zero_copy_only=False)
        units = pc.fill_null(encoded.indices, 0).to_numpy(zero_copy_only=False)
        return _own_groups(units, missing)

    def split(
        self, test_share: float = 0.2, by: str | None = None, seed: int = 0
    ) -> tuple[Corpus, Corpus]:
        """Two corpora, train and test; items of one group stay in one part.

        Args:
            test_share: the share of items in the test part, met up to half of the largest group.
            by: how items are grouped, as in `units`.
        """
        if not 0 < test_share < 1:
            raise DataError(f"test_share must be between 0 and 1, found {test_share}")
        units = self.units(by)
        sizes = np.bincount(units)
        test = _drawn(sizes, test_share * self.n_items, seed)[units]
        if not test.any() or test.all():
            raise DataError(
                f"{self.name}: {counted(self.n_items, 'item')} in "
                f"{counted(int((sizes > 0).sum()), 'group')} (items with the same content stay "
                f"together) cannot be split with a share of {test_share:g}: one side is empty"
            )
        return self.select(items=~test), self.select(items=test)

    def drop_labels(self, share: float, seed: int = 0, items: Any | None = None) -> Corpus:
        """Drop this share of every annotator's answers, at random.

        The share counts pairs of item and annotator: the answers of a pair are dropped from all
        questions or from none. A rationale is dropped with its answer.

        Args:
            items: those whose answers are counted and dropped, as in `select`; all if left out.
                For example, `corpus.in_part("train")`.
        """
        if not 0 <= share < 1:
            raise DataError(f"share must be 0 or more and below 1, found {share}")
        counted = self.questions
        if items is not None:
            codes = _codes(items, self.items, "item")
            counted = {q: a.take(np.isin(a.item, codes)) for q, a in counted.items()}
        pairs = dropped_pairs(counted, share, seed)
        kept = {q: a.take(~np.isin(pair_of(a), pairs)) for q, a in self.questions.items()}
        rationales = of_answers(self.rationales, self.questions, kept)
        return replace(self, questions=kept, rationales=rationales)

    def _select_items(self, codes: np.ndarray) -> Corpus:
        at = pa.array(codes)
        items = self.items.take(codes)
        contents, content = {}, {}
        for role, of_role in self.contents.items():
            shown, new = np.unique(self.content[role][codes], return_inverse=True)
            absent = int(shown.size > 0 and shown[0] < 0)
            contents[role] = of_role.take(shown[absent:])
            content[role] = (new.reshape(-1) - absent).astype(np.int32)
        rationales = self.rationales
        if rationales is not None:
            new_code = new_codes(codes, self.n_items)
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
            new_code = np.append(new_codes(codes, self.n_annotators), -1)
            unknown = rationales.annotator < 0  # whose spans stay
            rationales = rationales.take(unknown | (new_code[rationales.annotator] >= 0))
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

    # ---- tables ----

    def to_table(self) -> pa.Table:
        """An Arrow table of all answers with names, contents and attributes, for pandas, polars or
        a file.

        It has one row per item and annotator, and a column for each question. Columns are called as
        in the table that was read. If annotators are anonymous or may answer an item several times,
        and there are several questions, it has one row per answer, and the columns question and
        answer.

        Example:
            >>> rows = [("t1", "ann", "yes"), ("t1", "bob", "no")]
            >>> corpus = Corpus.build("mine", ["t1"], {"rude": Annotations.from_rows(rows)})
            >>> corpus.to_table().to_pylist()
            [{'item': 't1', 'annotator': 'ann', 'rude': 'yes'},
            {'item': 't1', 'annotator': 'bob', 'rude': 'no'}]
        """
        return answer_table(self)

    def to_pandas(self) -> Any:
        """All answers as a pandas DataFrame, with the rows and columns of `to_table`."""
        return to_frame(self.to_table())

    def _repr_html_(self) -> str:
        first = self.select(items=np.arange(min(self.n_items, MOST_ROWS))).to_table()
        n_rows = max((a.n_rows for a in self.questions.values()), default=self.n_items)
        return html_rows(first, repr(self).strip("<>"), max(n_rows, len(first)))

    # ---- a folder of Parquet and JSON ----

    def save(self, path: str | Path, overwrite: bool = False) -> None:
        """Write the corpus as a folder, whole or not at all; `Corpus.load` reads it back.

        Args:
            overwrite: whether a corpus that is there is replaced; any other folder never is.
        """
        with writing(path, "corpus", overwrite) as folder:
            write_corpus(self, folder)

    @classmethod
    def load(cls, path: str | Path) -> Corpus:
        """Read a folder that `save` wrote."""
        return read_corpus(Path(path), cls)


# ---- helpers ----


def _coded(role: str, content: Any, n_items: int) -> tuple[Contents, np.ndarray]:
    """Contents and a code per item, of the same or of a text for each item."""
    if isinstance(content, tuple) and len(content) == 2 and isinstance(content[0], Contents):
        return content[0], np.asarray(content[1], np.int32)
    content = content.to_pylist() if isinstance(content, pa.Array | pa.ChunkedArray) else content
    texts = [] if isinstance(content, str) or not isinstance(content, Iterable) else list(content)
    if not texts or not all(text is None or isinstance(text, str) for text in texts):
        raise DataError(
            f"contents {role!r} must be a list with the text of each item, or of another kind, as "
            f'in {{"{role}": Contents.distinct("image", paths)}}'
        )
    if len(texts) != n_items:
        raise DataError(f"contents {role!r}: {len(texts)} texts for {counted(n_items, 'item')}")
    return Contents.distinct("text", texts)


def _codes(chosen: Any, names: Names, what: str) -> np.ndarray:
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
        raise DataError(f"an {what} is selected twice")
    return codes


def _own_groups(units: np.ndarray, single: np.ndarray) -> np.ndarray:
    """The units, where each of the single items becomes a unit of its own."""
    units = units.astype(np.int64)
    units[single] = units.max(initial=-1) + 1 + np.arange(single.sum())
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
    if gap > 0.5 and left.size:  # one that is too large may come nearer
        nearest = left[np.abs(sizes[left] - gap).argmin()]
        chosen[nearest] = abs(sizes[nearest] - gap) < gap
    return chosen
