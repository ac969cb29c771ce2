"""Scores of two methods on the same items, checked and paired for tests of their means."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dissensus.errors import DataError
from dissensus.evaluation.significance.difference import NAN, Difference
from dissensus.evaluation.significance.resampling import sums_by_group


@dataclass(frozen=True, eq=False)
class PairedScores:
    """Differences between the scores of two methods, for runs and items where both are defined."""

    difference: np.ndarray  # (n_runs, n_items)
    groups: np.ndarray  # (n_items,) codes without gaps
    notes: tuple[str, ...] = ()
    effect: float = field(init=False)

    def __post_init__(self) -> None:
        effect = float(self.difference.mean()) if self.difference.size else NAN
        object.__setattr__(self, "effect", effect)

    @classmethod
    def of(cls, first: np.ndarray, second: np.ndarray, groups: np.ndarray | None) -> PairedScores:
        """Pair the scores, (n_items,) or (n_runs, n_items).

        A run without any score (a fit that failed or diverged) is left out of both methods, then
        an item without a score in some run; notes say how many.
        """
        a, b = (np.atleast_2d(np.asarray(side, dtype=float)) for side in (first, second))
        check_alike(a.shape, b.shape)
        codes = group_codes(groups, a.shape[1])
        apart = np.where(np.isfinite(a) & np.isfinite(b), a, np.nan) - np.where(
            np.isfinite(b), b, np.nan
        )
        ran = ~np.isnan(apart).all(axis=1) if apart.size else np.ones(len(apart), bool)
        defined = ~np.isnan(apart[ran]).any(axis=0)
        notes = (
            *left_out(~ran, "run"),
            *(left_out(~defined, "item") if ran.any() else ()),
        )
        return cls(apart[ran][:, defined], group_codes(codes[defined], int(defined.sum())), notes)

    @property
    def n_runs(self) -> int:
        return len(self.difference)

    @property
    def n_items(self) -> int:
        return self.difference.shape[1]

    @property
    def n_groups(self) -> int:
        return int(self.groups.max(initial=-1)) + 1

    def sums(self) -> np.ndarray:
        """The sum of each run's differences in each group, (n_groups, n_runs)."""
        return sums_by_group(self.difference.T, self.groups, self.n_groups)

    def sizes(self) -> np.ndarray:
        """Items in each group, (n_groups,)."""
        return np.bincount(self.groups, minlength=self.n_groups).astype(float)

    def begun(self, test: str, level: float) -> Difference:
        """A Difference with the effect and the counts, still without interval and p."""
        return Difference(
            test,
            self.effect,
            level=level,
            n_items=self.n_items,
            n_groups=self.n_groups,
            n_runs=self.n_runs,
            ties=int((self.difference == 0).all(axis=0).sum()) if self.n_runs else 0,
            notes=self.notes,
        )

    def settled(self, begun: Difference) -> Difference | None:
        """The result if no test is needed: no pairs, all scores equal, or a single group."""
        if not self.difference.size:
            return begun.undefined("no item has scores of both methods")
        if not self.difference.any():
            return begun.answered(0, 0, 1, f"identical scores on all {self.n_items} items")
        if self.n_groups == 1:
            what = "one item" if self.n_items == 1 else f"one group of {self.n_items} items"
            return begun.undefined(f"{what}: the variance is unknown")
        return None


def check_alike(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    """Refuse scores of different runs or items."""
    if first != second:
        shown = [f"{shape[0]} runs x {shape[1]} items" for shape in (first, second)]
        raise DataError(
            f"scores are compared on the same runs and items; the first method has {shown[0]}, "
            f"the second {shown[1]}"
        )


def check_level(level: float) -> None:
    if not 0 < level < 1:
        raise DataError(f"level must be between 0 and 1, found {level:g}")


def check_resamples(resamples: int) -> None:
    if resamples < 1:
        raise DataError(f"resamples must be at least 1, found {resamples}")


def group_codes(groups: np.ndarray | None, n_items: int) -> np.ndarray:
    """Codes of groups without gaps; without groups, each item is its own."""
    if groups is None:
        return np.arange(n_items)
    codes = np.asarray(groups)
    if codes.shape != (n_items,):
        raise DataError(f"{n_items} items have {codes.size} groups; give one group per item")
    return np.unique(codes, return_inverse=True)[1].reshape(-1)


def left_out(gone: np.ndarray, what: str) -> tuple[str, ...]:
    """A note on how many are left out, if any."""
    if not gone.any():
        return ()
    return (f"{int(gone.sum())} of {len(gone)} {what}s left out: one method has no score",)
