"""Runs: the scores of a method on single items, a row for each seed and repetition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

RunKey = tuple[int, int]  # seed and repetition


@dataclass(frozen=True, eq=False)
class Runs:
    """Scores of a method on single items; nan if a fit failed or diverged."""

    keys: list[RunKey]
    items: Any  # (n_items,) Arrow strings, in order of first appearance
    scores: np.ndarray  # (n_runs, n_items)

    @classmethod
    def of(cls, keys: list[RunKey], parts: Sequence[tuple[int, Any]]) -> Runs:
        """From tables of item and score, each with its row."""
        named = [table["item"].combine_chunks() for _, table in parts]
        every = pa.concat_arrays(named) if named else pa.array([], pa.string())
        items = every.unique()
        scores = np.full((len(keys), len(items)), np.nan)
        for (row, table), names in zip(parts, named, strict=True):
            codes = pc.index_in(names, value_set=items).to_numpy(zero_copy_only=False)
            scores[row, codes] = table["score"].to_numpy()
        return cls(keys, items, scores)

    @property
    def one_seed(self) -> bool:
        """Whether the method was fitted with one seed only, as a method without randomness is."""
        return len({seed for seed, _ in self.keys}) == 1

    def on(self, keys: Sequence[RunKey], items: Any) -> np.ndarray:
        """The scores of these runs and items, (n_keys, n_items); nan where there is none.

        A method that was fitted with one seed only has the same scores in the runs of every seed.
        """
        codes = pc.fill_null(pc.index_in(items, value_set=self.items), len(self.items))
        padded = np.column_stack([self.scores, np.full(len(self.scores), np.nan)])
        rows = dict(zip(self.keys, range(len(self.keys)), strict=True))
        if self.one_seed:
            rows |= {(seed, run): rows[self.keys[0][0], run] for seed, run in keys
                     if (self.keys[0][0], run) in rows}  # fmt: skip
        scores = np.full((len(keys), len(items)), np.nan)
        for at, key in enumerate(keys):
            if key in rows:
                scores[at] = padded[rows[key], codes.to_numpy(zero_copy_only=False)]
        return scores


def shared_runs(first: Runs, second: Runs) -> tuple[list[RunKey], Any]:
    """The runs that two methods are compared on, and the items of either.

    If one method has a single seed, these are the runs of the other.
    """
    if first.one_seed or second.one_seed:
        keys = second.keys if first.one_seed and not second.one_seed else first.keys
    else:
        keys = sorted(set(first.keys) & set(second.keys))
    further = second.items.filter(pc.invert(pc.is_in(second.items, value_set=first.items)))
    return list(keys), pa.concat_arrays([first.items, further])
