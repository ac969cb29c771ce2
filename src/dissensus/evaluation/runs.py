"""Runs: the scores of single items by one method, a row for each seed and repetition."""

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
    """Scores of single items by one method, nan where a fit did not end well."""

    keys: list[RunKey]
    items: Any  # (n_items,) Arrow strings, in order of first appearance
    scores: np.ndarray  # (n_runs, n_items)

    @classmethod
    def of(cls, keys: list[RunKey], parts: Sequence[tuple[int, Any]]) -> Runs:
        """From tables of item and score, each with the row that it belongs to."""
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
        """Whether the method was fitted with one seed only, as one that draws nothing is."""
        return len({seed for seed, _ in self.keys}) == 1

    def on(self, keys: Sequence[RunKey], items: Any) -> np.ndarray:
        """The scores of these runs and items, nan where there is none, (n_keys, n_items).

        A method that was fitted with one seed only counts with it in the runs of every seed.
        """
        codes = pc.fill_null(pc.index_in(items, value_set=self.items), len(self.items))
        padded = np.column_stack([self.scores, np.full(len(self.scores), np.nan)])
        rows = dict(zip(self.keys, range(len(self.keys)), strict=True))
        if self.one_seed:
            rows |= {(seed, run): rows[self.keys[0][0], run] for seed, run in keys
                     if (self.keys[0][0], run) in rows}  # fmt: skip
        found = np.full((len(keys), len(items)), np.nan)
        for at, key in enumerate(keys):
            if key in rows:
                found[at] = padded[rows[key], codes.to_numpy(zero_copy_only=False)]
        return found


def shared_runs(first: Runs, second: Runs) -> tuple[list[RunKey], Any]:
    """The runs that two methods are compared on, those of the one with more seeds where the other
    has one, and the items of either."""
    if first.one_seed or second.one_seed:
        keys = second.keys if first.one_seed and not second.one_seed else first.keys
    else:
        keys = sorted(set(first.keys) & set(second.keys))
    further = second.items.filter(pc.invert(pc.is_in(second.items, value_set=first.items)))
    return list(keys), pa.concat_arrays([first.items, further])
