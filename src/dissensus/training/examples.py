"""Everything that training or prediction needs from a corpus, as tensors, and the batches of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from dissensus.annotations import Annotations
from dissensus.corpus import Corpus
from dissensus.encoders import (
    ByBatch,
    Encoding,
    NeuralEncoder,
    Prepared,
    Store,
    mean_vectors,
    prepared,
    roles_of,
)
from dissensus.networks.likelihoods import likelihood
from dissensus.networks.noise import Key
from dissensus.training.batch import Batch, Rows
from dissensus.training.settings import Training


@dataclass(eq=False)
class Table:
    """The rows of all questions, sorted by item; answers that an annotator gave together are one
    row."""

    item: np.ndarray  # (n_rows,) codes
    annotator: np.ndarray  # (n_rows,) codes, -1 anonymous
    answer: dict[str, np.ndarray]  # question -> (n_rows, ...)
    weight: dict[str, np.ndarray]  # question -> (n_rows,)

    @classmethod
    def of_corpus(cls, corpus: Corpus, questions: tuple[str, ...]) -> Table:
        """An outer join of the questions by response, or else by item and annotator."""
        annotations = {question: corpus[question] for question in questions}
        item = np.concatenate([rows.item.astype(np.int64) for rows in annotations.values()])
        annotator = np.concatenate([_annotators(rows) for rows in annotations.values()])
        nth = np.concatenate([_occurrences(rows) for rows in annotations.values()])
        key = (item * (corpus.n_annotators + 1) + annotator + 1) * (nth.max(initial=0) + 1) + nth
        _, index, at = np.unique(key, return_index=True, return_inverse=True)
        table = cls(item[index], annotator[index], {}, {})
        for question, answers in annotations.items():
            rows, at = at[: answers.n_rows], at[answers.n_rows :]
            target = likelihood(answers.scale).target(answers.answer)
            table.answer[question] = np.zeros((len(index), *target.shape[1:]), target.dtype)
            table.weight[question] = np.zeros(len(index), np.float32)
            table.answer[question][rows], table.weight[question][rows] = target, answers.weight
        return table

    @classmethod
    def of_pairs(cls, item: np.ndarray, annotator: np.ndarray) -> Table:
        """Rows without answers, to be predicted; they keep their order within an item."""
        order = np.argsort(item, kind="stable")
        return cls(item[order], annotator[order], {}, {})

    @classmethod
    def of_nothing(cls) -> Table:
        """No rows: only items are predicted."""
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int64), {}, {})

    def offsets(self, n_items: int) -> np.ndarray:
        return np.searchsorted(self.item, np.arange(n_items + 1))


def _annotators(annotations: Annotations) -> np.ndarray:
    if annotations.annotator is None:
        return np.full(annotations.n_rows, -1, dtype=np.int64)
    return annotations.annotator.astype(np.int64)


def _occurrences(annotations: Annotations) -> np.ndarray:
    """Numbers that tell apart the rows of one annotator and item: the response, or their order."""
    if annotations.response is not None:
        return annotations.response - annotations.response.min(initial=0)
    nth = np.zeros(annotations.n_rows, np.int64)
    if annotations.repeats or annotations.annotator is None:
        item, annotator = annotations.item, _annotators(annotations)
        order = np.lexsort((annotator, item))
        new = np.r_[True, (np.diff(item[order]) != 0) | (np.diff(annotator[order]) != 0)]
        starts = np.flatnonzero(new[: annotations.n_rows])
        nth[order] = np.arange(len(nth)) - np.repeat(starts, np.diff(np.r_[starts, len(nth)]))
    return nth


@dataclass(eq=False)
class Examples:
    """Vectors, rows and targets on one device, from which batches are taken."""

    n_items: int
    pooled: dict[str, Tensor]  # role -> (n_entries, width); an item's entry is in `entry`
    entry: dict[str, Tensor]  # role -> (n_items,)
    stores: dict[str, Store]  # role -> sequences, where the method does not pool
    prepared: dict[str, Prepared | ByBatch]  # role -> input of an encoder that is fine-tuned
    content: dict[str, np.ndarray]  # role -> (n_items,)
    focus: dict[str, Tensor]  # role -> (n_items, n_axes, 2), where contents are not pooled yet
    table: Table
    targets: dict[str, Tensor]
    device: torch.device
    unfocused: int = 0  # items whose focus contains no position
    n_cut: int = 0  # contents longer than their encoder reads
    seen: tuple[np.ndarray, dict[str, Tensor]] | None = None  # items and vectors before training
    rows: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of_corpus(
        cls,
        corpus: Corpus,
        encodings: Mapping[str, Encoding],
        table: Table,
        targets: Mapping[str, np.ndarray] | None = None,
        *,
        pool: bool = True,
        tuned: bool = False,
        device: torch.device | None = None,
    ) -> Examples:
        """Encode the contents of a corpus.

        Args:
            pool: one vector per item, the mean over its focus or its whole content.
            tuned: encoders with a network are fine-tuned: contents are prepared, not encoded.
        """
        device = device or torch.device("cpu")
        examples = cls(corpus.n_items, {}, {}, {}, {}, {}, {}, table, {}, device)
        for role, encoding in encodings.items():
            examples.content[role] = encoding.content
            if tuned and isinstance(encoding.encoder, NeuralEncoder):
                examples.prepared[role] = prepared(encoding.encoder, encoding.contents)
                examples.n_cut += int(examples.prepared[role].cut.sum())
                examples._set_focus(corpus, role)
                continue
            if pool and not _has_focus(corpus, role):
                means = mean_vectors(encoding.encoder, encoding.contents)
                examples.n_cut += int(means.cut.sum())
                examples._set_pooled(role, means.vectors, encoding.content.astype(np.int64))
                continue
            store = encoding.store()
            examples.n_cut += store.n_cut
            if pool:  # one vector for each item, the mean over its focus
                assert corpus.focus is not None
                codes = encoding.content.astype(np.int64)
                present = np.flatnonzero(codes >= 0)
                focus = corpus.focus.take(present)
                vectors, unfocused = store.pooled_at(codes[present], focus.start, focus.stop)
                entry = np.full(len(codes), -1)
                entry[present] = np.arange(len(present))
                examples._set_pooled(role, vectors, entry)
                examples.unfocused += unfocused
            else:
                examples.stores[role] = store
                examples._set_focus(corpus, role)
        for name, values in (targets or {}).items():
            examples.targets[name] = torch.from_numpy(np.asarray(values)).to(device)
        return examples

    def _set_pooled(self, role: str, vectors: np.ndarray, entry: np.ndarray) -> None:
        """Vectors, and which of them each item has; zeros for items without this role (-1)."""
        nothing = np.zeros((1, vectors.shape[1]), np.float32)
        entry = np.where(entry < 0, len(vectors), entry)
        self.pooled[role] = torch.from_numpy(np.concatenate([vectors, nothing])).to(self.device)
        self.entry[role] = torch.from_numpy(entry).to(self.device)

    def _set_focus(self, corpus: Corpus, role: str) -> None:
        if _has_focus(corpus, role):
            assert corpus.focus is not None
            both = np.stack([corpus.focus.start, corpus.focus.stop], axis=2)
            self.focus[role] = torch.from_numpy(both.astype(np.float32)).to(self.device)

    @property
    def roles(self) -> set[str]:
        """The roles that are read."""
        return set(self.content)

    def __post_init__(self) -> None:
        def tensor(values: np.ndarray) -> Tensor:
            return torch.from_numpy(np.ascontiguousarray(values)).to(self.device)

        self.offsets = self.table.offsets(self.n_items)
        self.rows = {
            "annotator": tensor(self.table.annotator),
            "answer": {q: tensor(a) for q, a in self.table.answer.items()},
            "weight": {q: tensor(w) for q, w in self.table.weight.items()},
        }
        nothing = torch.zeros(0, dtype=torch.int64, device=self.device)
        self._no_rows = {"annotators": nothing, "rows": Rows(nothing, nothing, {}, {})}

    def batch(
        self,
        items: np.ndarray,
        rows: np.ndarray,
        owner: np.ndarray,
        share: np.ndarray,
        noise: Key = 0,
        with_contents: bool = True,
    ) -> Batch:
        """A batch: item codes, row numbers, and the item (by position) of each row.

        Args:
            noise: the key that dropout draws from, in training.
            with_contents: False leaves out the contents.
        """
        at = torch.from_numpy(items).to(self.device)
        inputs, sequence, content = {}, {}, {}
        for role in (*self.stores, *self.prepared):
            distinct, content[role] = self.distinct(role, items)
            if with_contents and role in self.stores:
                sequence[role] = self.stores[role].sequence(distinct).to(self.device)
            elif with_contents:
                inputs[role] = self.prepared[role].inputs(distinct).to(self.device)
        return Batch(
            items=at,
            share=torch.from_numpy(share).to(self.device),
            pooled={role: v[self.entry[role][at]] for role, v in self.pooled.items()},
            inputs=inputs,
            sequence=sequence,
            content=content,
            focus={role: focus[at] for role, focus in self.focus.items()},
            targets={name: values[at] for name, values in self.targets.items()},
            noise=noise,
            **self._rows_of(rows, owner),
        )

    def _rows_of(self, rows: np.ndarray, owner: np.ndarray) -> dict[str, Any]:
        if not len(rows) and not self.rows["answer"]:
            return self._no_rows
        row = torch.from_numpy(rows).to(self.device)
        annotators, local = torch.unique(self.rows["annotator"][row], return_inverse=True)
        answers, weights = (
            {question: values[row] for question, values in self.rows[name].items()}
            for name in ("answer", "weight")
        )
        item = torch.from_numpy(owner).to(self.device)
        return {"annotators": annotators, "rows": Rows(item, local, answers, weights)}

    def distinct(self, role: str, items: np.ndarray) -> tuple[np.ndarray, Tensor]:
        """The distinct contents of these items, and which of them each item has, -1 none."""
        codes = self.content[role][items]
        distinct, at = np.unique(codes[codes >= 0], return_inverse=True)
        positions = np.full(len(codes), -1)
        positions[codes >= 0] = at
        if not distinct.size:  # an encoder needs at least one content
            distinct = np.zeros(1, np.int64)
        return distinct, torch.from_numpy(positions).to(self.device)


def _has_focus(corpus: Corpus, role: str) -> bool:
    """Whether questions are about a part of the content in this role."""
    return corpus.focus is not None and [corpus.focus.role] == roles_of(role, corpus.contents)


# ---- which items and rows make up each batch ----


class BatchIndex(NamedTuple):
    """The items and rows of a batch."""

    items: np.ndarray  # (n_items,) codes
    rows: np.ndarray  # (n_rows,) numbers in the table
    owner: np.ndarray  # (n_rows,) the position in `items` of each row's item
    share: np.ndarray  # (n_items,) the share of the item's rows that is here


@dataclass(frozen=True, eq=False)
class EpochPlan:
    """An epoch: items, or pieces of items with very many rows, in their order, with their rows."""

    items: np.ndarray  # (n_pieces,) codes
    share: np.ndarray  # (n_pieces,) the share of the item's rows in each piece
    rows: np.ndarray  # (n_rows,) numbers in the table
    starts: np.ndarray  # (n_pieces + 1,) where each piece's rows begin
    batch_size: int

    def __len__(self) -> int:
        return -(-len(self.items) // self.batch_size)

    def batch(self, number: int) -> BatchIndex:
        """The items and rows of the batch of this number."""
        first = number * self.batch_size
        last = min(first + self.batch_size, len(self.items))
        starts = self.starts[first : last + 1]
        owner = np.repeat(np.arange(last - first), np.diff(starts))
        rows = self.rows[starts[0] : starts[-1]]
        return BatchIndex(self.items[first:last], rows, owner, self.share[first:last])


def plan_epoch(
    examples: Examples, learned: np.ndarray, training: Training, order: np.random.Generator | None
) -> EpochPlan:
    """Every row of the learned items once, in an order drawn from the generator.

    Without a generator, or where the training does not shuffle, items keep their order. An item
    with more than `max_rows_per_item` rows is divided into pieces, after its rows are shuffled, and
    the pieces may be in different batches.
    """
    order = order if training.shuffle else None
    first, last = examples.offsets[learned], examples.offsets[learned + 1]
    pieces = np.maximum(1, -(-(last - first) // training.max_rows_per_item))
    item = np.repeat(np.arange(len(learned)), pieces)
    nth = np.arange(len(item)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    rows = np.arange(len(examples.table.item))
    if order is not None:
        for heavy in np.flatnonzero(pieces > 1):
            order.shuffle(rows[first[heavy] : last[heavy]])
    n = last - first
    start = first[item] + n[item] * nth // pieces[item]
    stop = first[item] + n[item] * (nth + 1) // pieces[item]
    sequence = _sequence(examples, learned[item], training, order)
    lengths = (stop - start)[sequence]
    starts = np.r_[0, np.cumsum(lengths)]
    within = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
    share = (1.0 / pieces[item]).astype(np.float32)[sequence]
    rows = rows[np.repeat(start[sequence], lengths) + within]
    return EpochPlan(learned[item[sequence]], share, rows, starts, training.batch_size)


def batch_indices(
    examples: Examples, learned: np.ndarray, training: Training, order: np.random.Generator | None
) -> Iterator[BatchIndex]:
    """The batches of an epoch, one after another."""
    plan = plan_epoch(examples, learned, training, order)
    return (plan.batch(number) for number in range(len(plan)))


def _sequence(
    examples: Examples, item: np.ndarray, training: Training, order: np.random.Generator | None
) -> np.ndarray:
    """The order of the pieces of items: shuffled, and grouped by content with `batch_by`."""
    if order is None:
        return np.arange(len(item))
    shuffled = order.permutation(len(item))
    if training.batch_by == "item":
        return shuffled
    codes = np.stack([content[item] for content in examples.content.values()], axis=1)
    _, group = np.unique(codes, axis=0, return_inverse=True)
    place = order.permutation(group.max(initial=0) + 1)
    return shuffled[np.argsort(place[group.reshape(-1)[shuffled]], kind="stable")]


def batches(examples: Examples, items: np.ndarray, size: int) -> Iterator[tuple[Batch, np.ndarray]]:
    """Batches to predict with, in order, each with the numbers of its rows in the table."""
    settings = Training(batch_size=size, max_rows_per_item=1 << 40)
    for index in batch_indices(examples, items, settings, None):
        yield examples.batch(*index), index.rows
