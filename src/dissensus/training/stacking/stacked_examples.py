"""The examples of all members of a stack on one device, and the batches of a step of them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from dissensus.encoders import Inputs, Prepared, Store
from dissensus.encoders import Sequence as Vectors
from dissensus.training.batch import Batch, Rows
from dissensus.training.examples import EpochPlan, Examples

EIGHT = 8  # half precision is fast where the number of units is a multiple of it
MOST = 1 << 31  # bytes of sequences that stay on the device, at most


@dataclass(eq=False)
class Sequences:
    """Sequences of vectors, one after another, on one device."""

    vectors: Tensor  # (n_positions, width)
    places: Tensor  # (n_positions, n_axes, 2)
    starts: Tensor  # (n_contents,) where each content's positions begin
    lengths: Tensor  # (n_contents,)

    @classmethod
    def of_stores(cls, stores: Sequence[Store], device: torch.device) -> Sequences:
        lengths = np.concatenate([np.diff(store.offsets) for store in stores])
        starts, n = torch.from_numpy(np.cumsum(lengths) - lengths), torch.from_numpy(lengths)
        vectors, places = (
            torch.cat([torch.from_numpy(np.array(part, np.float32)) for part in parts]).to(device)
            for parts in ([s.vectors for s in stores], [s.places for s in stores])
        )
        return cls(vectors, places, starts.to(device), n.to(device))

    def take(self, codes: Tensor, longest: int) -> Vectors:
        """The contents with these codes, (n_members, n_contents), padded with zeros."""
        along = torch.arange(longest, device=codes.device)
        mask = along < self.lengths[codes][..., None]  # (n_members, n_contents, longest)
        at = torch.where(mask, self.starts[codes][..., None] + along, 0)
        return Vectors(self.vectors[at] * mask[..., None], mask, self.places[at])


@dataclass(eq=False)
class StackedIndices:
    """An epoch of all members, padded: (n_steps, n_members, ...) each.

    What is padding has a share (items) or a weight (rows) of 0.
    """

    items: Tensor  # numbers among the items of all examples
    share: Tensor
    rows: Tensor  # numbers among the rows of all examples
    owner: Tensor
    is_row: Tensor  # 1 for a row, 0 for padding
    contents: dict[str, Tensor]  # role -> codes of distinct contents
    content: dict[str, Tensor]  # role -> the position of each item's, -1 none

    def tensors(self) -> list[Tensor]:
        of_rows = [self.items, self.share, self.rows, self.owner, self.is_row]
        return [*of_rows, *self.contents.values(), *self.content.values()]


class StackedExamples:
    """Distinct examples, one after another in the same tables.

    Args:
        examples: of each member; members may share one.
        even: whether batches are padded a little more, and never less than before, so that those of
            all epochs have one shape nearly always.
    """

    def __init__(self, examples: Sequence[Examples], even: bool = False) -> None:
        self.even = even
        self.widest: dict[Any, int] = {}  # of all epochs so far
        self.distinct = list({id(one): one for one in examples}.values())
        number = {id(one): n for n, one in enumerate(self.distinct)}
        self.number = [number[id(one)] for one in examples]  # of each member
        first = self.distinct[0]
        self.device = first.device
        self.item_start = _starts([one.n_items for one in self.distinct])
        self.row_start = _starts([len(one.table.item) for one in self.distinct])
        self.pooled = {r: torch.cat([f.pooled[r] for f in self.distinct]) for r in first.pooled}
        self.entry = {}
        for role in first.entry:
            starts = _starts([len(one.pooled[role]) for one in self.distinct])
            both = zip(self.distinct, starts, strict=True)
            self.entry[role] = torch.cat([one.entry[role] + start for one, start in both])
        self.targets = {t: torch.cat([f.targets[t] for f in self.distinct]) for t in first.targets}
        self.focus = {r: torch.cat([f.focus[r] for f in self.distinct]) for r in first.focus}
        rows = [one.rows for one in self.distinct]
        self.annotator = torch.cat([of_one["annotator"] for of_one in rows])
        self.answer = {q: torch.cat([f["answer"][q] for f in rows]) for q in rows[0]["answer"]}
        self.weight = {q: torch.cat([f["weight"][q] for f in rows]) for q in rows[0]["weight"]}
        n_annotators = int(self.annotator.max()) + 1 if len(self.annotator) else 0
        self.annotators = torch.arange(n_annotators, device=self.device)
        self.inputs = {role: self._inputs(role) for role in first.prepared}
        self.sequences = {
            role: Sequences.of_stores([one.stores[role] for one in self.distinct], self.device)
            for role in first.stores
        }
        self.ragged: dict[str, Inputs | Sequences] = {**self.inputs, **self.sequences}
        self.longest = {  # units or positions of a content
            role: int(values.lengths.max()) for role, values in self.ragged.items()
        }
        if even:
            self.longest |= {role: values.units.shape[1] for role, values in self.inputs.items()}
        self.content_start = {}
        for role in self.ragged:
            stored = role in first.stores
            n = [len(f.stores[role] if stored else f.prepared[role].cut) for f in self.distinct]
            self.content_start[role] = _starts(n)

    @staticmethod
    def obstacle(examples: Examples) -> str:
        """Why not everything that a batch needs can stay on the device; empty if it can."""
        for role, store in examples.stores.items():
            if 4 * store.vectors.size > MOST:
                return f"sequences of {role!r} are too large to stay in memory"
        for role, values in examples.prepared.items():
            if not isinstance(values, Prepared):
                return f"contents of {role!r} are read batch by batch"
            if not (values.unit_by_unit or values.one_position):
                return f"positions of {role!r} are not its units, as for images and speech"
        return ""

    def _inputs(self, role: str) -> Inputs:
        """All contents padded to the longest one."""
        values = [one.prepared[role] for one in self.distinct]
        joined = Prepared.joined([part for part in values if isinstance(part, Prepared)])
        inputs = joined.inputs(np.arange(len(joined))).to(self.device)
        if not self.even:
            return inputs
        missing = -inputs.units.shape[1] % EIGHT
        behind = [0, 0] * (inputs.units.dim() - 2) + [0, missing]
        return replace(inputs, units=pad(inputs.units, behind))

    # ---- an epoch ----

    def indices(self, epochs: Sequence[EpochPlan | None]) -> StackedIndices:
        """The epoch of each member, padded to the longest; None for a member that is finished."""
        n_steps = max(len(epoch) for epoch in epochs if epoch is not None)
        parts = [self._padded(m, epoch, n_steps) for m, epoch in enumerate(epochs)]
        return StackedIndices(
            **{name: self._stacked(parts, name) for name in _NAMES},
            contents={role: self._stacked(parts, ("contents", role)) for role in self.ragged},
            content={role: self._stacked(parts, ("content", role)) for role in self.ragged},
        )

    def _padded(self, member: int, epoch: EpochPlan | None, n_steps: int) -> dict[Any, np.ndarray]:
        number = self.number[member]
        if epoch is None:
            nothing = np.zeros((n_steps, 1), np.int64)
            parts: dict[Any, np.ndarray] = dict.fromkeys(_NAMES, nothing)
            for role in self.ragged:
                parts["contents", role] = parts["content", role] = nothing
            return parts
        size = epoch.batch_size
        items = _filled(epoch.items, n_steps * size).reshape(n_steps, size)
        share = _filled(epoch.share, n_steps * size).reshape(n_steps, size)
        parts = {"items": items + self.item_start[number] * (share > 0), "share": share}
        parts |= self._padded_rows(number, epoch, n_steps)
        for role in self.ragged:
            codes = self.distinct[number].content[role][items].astype(np.int64)
            codes[share == 0] = -1
            contents, at = _distinct(codes)
            parts["contents", role] = contents + self.content_start[role][number]
            parts["content", role] = at
        return parts

    def _padded_rows(self, number: int, epoch: EpochPlan, n_steps: int) -> dict[Any, np.ndarray]:
        edges = np.minimum(np.arange(n_steps + 1) * epoch.batch_size, len(epoch.items))
        starts = epoch.starts[edges]  # of each step's rows
        n_rows = np.diff(starts)
        step = np.repeat(np.arange(n_steps), n_rows)
        at = np.arange(len(epoch.rows)) - starts[step]
        piece = np.repeat(np.arange(len(epoch.items)), np.diff(epoch.starts))
        width = max(1, int(n_rows.max(initial=0)))
        rows, owner, is_row = np.zeros((3, n_steps, width), np.int64)
        rows[step, at] = epoch.rows + self.row_start[number]
        owner[step, at] = piece - edges[step]
        is_row[step, at] = 1
        return {"rows": rows, "owner": owner, "is_row": is_row}

    def lengths(self, indices: StackedIndices) -> list[dict[str, int]]:
        """Units or positions of the longest content of each role, at each step."""
        longest = {
            role: values.lengths[indices.contents[role]].flatten(1).max(dim=1).values.tolist()
            for role, values in self.ragged.items()
        }
        steps = range(len(indices.items))
        return [{role: int(values[step]) for role, values in longest.items()} for step in steps]

    def _stacked(self, parts: list[dict[Any, np.ndarray]], name: Any) -> Tensor:
        members = [part[name] for part in parts]
        width = max(member.shape[1] for member in members)
        if self.even:  # the next larger width of few, at most an eighth more
            step = 1 << max(0, width.bit_length() - 4)
            width = self.widest[name] = max(-(-width // step) * step, self.widest.get(name, 0))
        dtype = np.result_type(*members)  # that of a finished member says nothing
        padded = np.zeros((len(members[0]), len(members), width), dtype)
        for number, member in enumerate(members):
            padded[:, number, : member.shape[1]] = member
        return torch.from_numpy(padded).to(self.device)

    # ---- a batch ----

    def batch(
        self, indices: StackedIndices, step: int | Tensor, noise: Tensor, longest: dict[str, int]
    ) -> Batch:
        """The batches of all members at a step, one axis more than a single one.

        Args:
            noise: the members' keys, (n_members,).
            longest: units of a role's content that are read, at least as many as any has here.
        """
        items, share = at_step(indices.items, step), at_step(indices.share, step)
        rows, is_row = at_step(indices.rows, step), at_step(indices.is_row, step)
        members = len(items)
        inputs = {}
        for role, values in self.inputs.items():
            codes = at_step(indices.contents[role], step)
            units, places = (
                padded[codes][:, :, : longest[role]] for padded in (values.units, values.places)
            )
            inputs[role] = Inputs(units, values.lengths[codes], values.n_positions[codes], places)
        return Batch(
            items=items,
            share=share.to(torch.float32),
            annotators=self.annotators.expand(members, -1),
            pooled={role: values[self.entry[role][items]] for role, values in self.pooled.items()},
            inputs=inputs,
            sequence={
                role: values.take(at_step(indices.contents[role], step), longest[role])
                for role, values in self.sequences.items()
            },
            content={role: at_step(values, step) for role, values in indices.content.items()},
            focus={role: values[items] for role, values in self.focus.items()},
            rows=Rows(
                at_step(indices.owner, step),
                self.annotator[rows] if len(self.annotator) else rows,
                {question: values[rows] for question, values in self.answer.items()},
                {question: values[rows] * is_row for question, values in self.weight.items()},
            ),
            targets={name: values[items] for name, values in self.targets.items()},
            noise=noise,
        )


def at_step(values: Tensor, step: int | Tensor) -> Tensor:
    """values[step], without copying the number of the step from the device."""
    if isinstance(step, int):
        return values[step]
    return values.index_select(0, step.view(1)).squeeze(0)


_NAMES: tuple[Any, ...] = ("items", "share", "rows", "owner", "is_row")


def _starts(lengths: list[int]) -> np.ndarray:
    return np.cumsum([0, *lengths])[:-1]


def _filled(values: np.ndarray, length: int) -> np.ndarray:
    filled = np.zeros(length, values.dtype)
    filled[: len(values)] = values
    return filled


def _distinct(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct codes of each step, padded with the first, and the position of each; -1 none."""
    order = np.argsort(codes, axis=1)
    sorted_ = np.take_along_axis(codes, order, axis=1)
    new = sorted_ >= 0
    new[:, 1:] &= sorted_[:, 1:] != sorted_[:, :-1]
    rank = np.cumsum(new, axis=1) - 1  # -1 before the first
    step, place = np.nonzero(new)
    contents = np.zeros((len(codes), max(1, int(rank.max(initial=0)) + 1)), np.int64)
    contents[step, rank[step, place]] = sorted_[step, place]
    at = np.empty_like(rank)
    np.put_along_axis(at, order, rank, axis=1)
    return contents, at
