"""How similarly annotators and members look, per item: `ObservedAttention -> figures`.

Figures are nan where undefined.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from dissensus.metrics import (
    attention_auroc,
    auroc_of_ranks,
    chance_f1,
    heaviest,
    overlap_f1,
    ranks,
)
from dissensus_papers.seedbert.studies.hypothesis.ensembles import ObservedAttention

Scored = tuple[np.ndarray, np.ndarray]  # a score, and the same by chance


@dataclass(frozen=True, eq=False)
class AttentionFigures:
    """Figures of one condition, per item: (n_items,) of annotators, (n_runs, n_items) of members.

    An annotator's set is what they marked; a member's is as many of its heaviest positions.
    """

    attention: ObservedAttention

    @cached_property
    def rank(self) -> np.ndarray:
        """Of each position among those of its item, nan: none."""
        rank = self.attention.rank.astype(float)
        return np.where(rank > 0, rank, np.nan)

    @cached_property
    def n_positions(self) -> np.ndarray:
        return (self.attention.rank[0, 0] > 0).sum(axis=-1)

    @cached_property
    def n_marked(self) -> np.ndarray:
        """(n_items, most_annotators); nan where no annotator marked anything."""
        n = self.attention.marked.sum(axis=-1).astype(float)
        return np.where(n > 0, n, np.nan)

    @cached_property
    def partner(self) -> np.ndarray:
        """Another item for each, drawn once: the next one in a random order."""
        order = np.random.default_rng(0).permutation(len(self.n_positions))
        other = np.empty_like(order)
        other[order] = np.roll(order, 1)
        return other

    # ---- sets of the same size: F1, and by chance ----

    def annotators(self, marked: np.ndarray | None = None) -> Scored:
        """Two annotators of an item; or one of them and the `marked` positions of others."""
        own = self.attention.marked
        other = own if marked is None else marked
        scores = []
        for one, two in combinations(range(own.shape[1]), 2):
            sizes = [marks[:, at].sum(axis=-1) for marks, at in ((own, one), (other, two))]
            both = (sizes[0] > 0) & (sizes[1] > 0)
            scored = (
                overlap_f1(own[:, one], other[:, two]),
                chance_f1(sizes[0], sizes[1], self.n_positions),
            )
            scores.append([np.where(both, marks, np.nan) for marks in scored])
        return _mean_of(scores)

    def members(self) -> Scored:
        """Two members, each by as many positions as annotators marked on average."""
        wanted = np.round(_mean(self.n_marked, axis=-1))
        n = np.where(np.isnan(wanted), 0, np.maximum(wanted, 1))
        sets = heaviest(self.rank, np.broadcast_to(n, self.rank.shape[:-1]))
        pairs = combinations(range(sets.shape[1]), 2)
        f1 = np.mean([overlap_f1(sets[:, one], sets[:, two]) for one, two in pairs], axis=0)
        chance = chance_f1(n, n, self.n_positions)
        return f1, np.broadcast_to(chance, f1.shape)

    def between(self, marked: np.ndarray | None = None) -> Scored:
        """A member and an annotator."""
        marked = self.attention.marked if marked is None else marked
        scores = []
        for annotator in range(marked.shape[1]):
            sizes = marked[:, annotator].sum(axis=-1)
            sets = heaviest(self.rank, np.broadcast_to(sizes, self.rank.shape[:-1]))
            f1 = overlap_f1(sets, marked[:, annotator]).mean(axis=1)  # nan: nothing marked
            chance = np.where(sizes > 0, chance_f1(sizes, sizes, self.n_positions), np.nan)
            scores.append([f1, np.broadcast_to(chance, f1.shape)])
        return _mean_of(scores)

    def elsewhere(self) -> np.ndarray:
        """What annotators marked in another item, at the same shares of its length."""
        here, there = self.n_positions, self.n_positions[self.partner]
        longest = self.attention.marked.shape[-1]
        share = (np.arange(longest) + 0.5) / np.maximum(here, 1)[:, None]
        at = np.minimum((share * there[:, None]).astype(int), longest - 1)
        moved = np.take_along_axis(self.attention.marked[self.partner], at[:, None], axis=-1)
        inside = np.arange(longest) < here[:, None]
        return moved & inside[:, None]

    # ---- weights as they are ----

    def auroc(self, rank: np.ndarray) -> np.ndarray:
        """How well weights, (..., n_items, longest), find what each annotator marked, mean
        over annotators."""
        by_annotator = self.attention.marked.swapaxes(0, 1)  # (most_annotators, n_items, longest)
        return _mean(np.stack([auroc_of_ranks(rank, marked) for marked in by_annotator]), axis=0)

    def one(self) -> np.ndarray:
        """AUROC of the first member: a network by itself, as `single` trains it."""
        return self.auroc(self.rank[:, 0])

    def each(self) -> np.ndarray:
        """AUROC of a member, mean over members."""
        return _mean(self.auroc(self.rank), axis=1)

    def together(self) -> np.ndarray:
        """AUROC of all members' mean rank."""
        return self.auroc(ranks(self.rank.mean(axis=1)))

    def another_annotator(self) -> np.ndarray:
        """AUROC of one annotator's marks for another's: what a member can be expected to reach."""
        own = self.attention.marked
        inside = np.arange(own.shape[-1]) < self.n_positions[:, None]
        weight = np.where(inside[:, None], own, np.nan)
        scores = []
        for one, two in combinations(range(own.shape[1]), 2):
            there = own[:, one].any(axis=-1) & own[:, two].any(axis=-1)
            auroc = attention_auroc(weight[:, one], own[:, two])
            scores.append(np.where(there, auroc, np.nan))
        return _mean(np.stack(scores), axis=0)

    # ---- how far apart, item by item ----

    def alike(self) -> np.ndarray:
        """The mean rank correlation of two members' weights."""
        return _mean(np.stack(list(self._pairs_alike().values())), axis=0)

    def _pairs_alike(self) -> dict[tuple[int, int], np.ndarray]:
        """By pair of members: rank correlations, (n_runs, n_items)."""
        middle = self.rank - _mean(self.rank, axis=-1)[..., None]
        middle = np.nan_to_num(middle)
        norm = np.sqrt((middle**2).sum(axis=-1))
        by_pair = {}
        for one, two in combinations(range(middle.shape[1]), 2):
            product = (middle[:, one] * middle[:, two]).sum(axis=-1)
            below = norm[:, one] * norm[:, two]
            by_pair[one, two] = np.where(below > 0, product / np.where(below > 0, below, 1), np.nan)
        return by_pair

    def looks_apart(self) -> np.ndarray:
        """Members: 1 less their rank correlation."""
        return 1 - self.alike()

    def answers_apart(self) -> np.ndarray:
        """Members: how far their probabilities lie from their mean, squared."""
        return self.attention.probability.var(axis=1).sum(axis=-1)

    def one_unsure(self) -> np.ndarray:
        """One network by itself: the chance that two draws of its distribution differ."""
        return 1 - (self.attention.probability[:, 0] ** 2).sum(axis=-1)

    def all_unsure(self) -> np.ndarray:
        """The same of the members' mean probability."""
        return 1 - (self.attention.probability.mean(axis=1) ** 2).sum(axis=-1)

    def annotators_look_apart(self) -> np.ndarray:
        """1 less two annotators' F1, relative to chance (0: the same, 1: as by chance)."""
        f1, chance = self.annotators()
        return (1 - f1) / np.where(chance < 1, 1 - chance, np.nan)

    def annotators_answer_apart(self) -> np.ndarray:
        """The chance that two of the annotators gave different answers."""
        n = self.attention.votes.sum(axis=-1).astype(float)
        same = (self.attention.votes * (self.attention.votes - 1.0)).sum(axis=-1)
        return np.where(n > 1, 1 - same / np.where(n > 1, n * (n - 1), 1), np.nan)

    # ---- is it what makes them answer differently? ----

    def contested(self) -> np.ndarray:
        """AUROC of how far members' ranks spread: positions that some annotators marked, against
        those that all marked."""
        n_annotators = (self.n_marked > 0).sum(axis=-1)
        times = self.attention.marked.sum(axis=1)  # (n_items, longest)
        several = (n_annotators > 1)[:, None] & (times > 0)
        spread = np.where(several, self.rank.std(axis=1), np.nan)  # (n_runs, n_items, longest)
        return auroc_of_ranks(ranks(spread), several & (times < n_annotators[:, None]))

    def members_by_answer(self) -> Scored:
        """Rank correlation of members that answer alike, and of those that do not; nan where an
        item does not have both."""
        answers = self.attention.probability.argmax(axis=-1)
        pairs = self._pairs_alike()
        same = np.stack([answers[:, one] == answers[:, two] for one, two in pairs])
        return _split(np.stack(list(pairs.values())), same)

    def annotators_by_answer(self) -> Scored:
        """F1 of annotators with the same answer, and of those with different ones."""
        marked, answer = self.attention.marked, self.attention.answer
        f1, same = [], []
        for one, two in combinations(range(marked.shape[1]), 2):
            both = (answer[:, one] >= 0) & (answer[:, two] >= 0)
            f1.append(np.where(both, overlap_f1(marked[:, one], marked[:, two]), np.nan))
            same.append(answer[:, one] == answer[:, two])
        return _split(np.stack(f1), np.stack(same))

    # ---- preferences of annotators and members ----

    def clause_of_members(self) -> np.ndarray:
        """The aspect of the clause with the highest mean rank, (n_runs, n_members, n_items)."""
        clause, aspect = self.attention.clause, self.attention.aspect
        weight = []
        for part in range(aspect.shape[1]):
            inside = np.where(clause == part, 1.0, np.nan)
            weight.append(np.nan_to_num(_mean(self.rank * inside, axis=-1), nan=-1))
        chosen = np.stack(weight).argmax(axis=0)
        return aspect[np.arange(len(aspect)), chosen]

    def clause_of_annotators(self) -> np.ndarray:
        """The aspect that each annotator looked at in each item, (n_annotators, n_items); -1
        where they did not answer."""
        clause, aspect = self.attention.clause, self.attention.aspect
        annotator = self.attention.annotator
        clauses = np.full((annotator.max() + 1, len(annotator)), -1)
        first = self.attention.marked.argmax(axis=-1)  # (n_items, most_annotators)
        part = np.take_along_axis(clause, first, axis=1)
        item, slot = np.nonzero(annotator >= 0)
        clauses[annotator[item, slot], item] = aspect[item, part[item, slot]]
        return clauses


def preference(chosen: np.ndarray, aspect: np.ndarray, seed: int = 0) -> tuple[float, float]:
    """How much annotators (or members) differ in the aspects that they prefer, and by chance.

    The standard deviation, over annotators, of the share of items in which an aspect is chosen,
    of those that have it; mean over aspects. By chance: the choices of an item are shuffled
    between its annotators.

    Args:
        chosen: aspects, (n_annotators, n_items); -1 where there is no choice.
        aspect: those of the item's parts, (n_items, most_parts).
    """
    generator = np.random.default_rng(seed)
    dealt = chosen.copy()
    for item in range(chosen.shape[1]):
        looked = np.flatnonzero(chosen[:, item] >= 0)
        dealt[looked, item] = generator.permutation(chosen[looked, item])
    return _preferred(chosen, aspect), _preferred(dealt, aspect)


def _preferred(chosen: np.ndarray, aspect: np.ndarray) -> float:
    spread = []
    for code in range(aspect.max() + 1):
        could = (aspect == code).any(axis=1) & (chosen >= 0)
        share = (could & (chosen == code)).sum(axis=1) / np.maximum(could.sum(axis=1), 1)
        spread.append(share.std())
    return float(np.mean(spread))


def rank_correlation(observed: np.ndarray, other: np.ndarray, given: np.ndarray | None) -> Scored:
    """Ranks over items whose plain correlation is Spearman's, of annotators and of every run.

    Args:
        observed: of annotators, (n_items,); items with nan are left out.
        other: (n_runs, n_items).
        given: a variable that both are corrected for, (n_items,), by linear regression of ranks.
    """
    defined = ~np.isnan(observed) & ~np.isnan(other).any(axis=0)
    mine, theirs = ranks(observed[defined]), ranks(other[:, defined])
    if given is None:
        return mine, theirs
    line = ranks(given[defined].astype(float))
    return _freed(mine, line), _freed(theirs, line)


def _freed(rank: np.ndarray, line: np.ndarray) -> np.ndarray:
    line = line - line.mean()
    centred = rank - rank.mean(axis=-1, keepdims=True)
    if not line.any():  # all items have the same length
        return centred
    slope = centred @ line / (line @ line)
    return np.asarray(centred - np.multiply.outer(slope, line))


def _split(scores: np.ndarray, same: np.ndarray) -> Scored:
    """The mean over pairs (first axis) of those that are the same and those that are not, where
    there are both."""
    alike = _mean(np.where(same, scores, np.nan), axis=0)
    apart = _mean(np.where(same, np.nan, scores), axis=0)
    both = ~np.isnan(alike) & ~np.isnan(apart)
    return np.where(both, alike, np.nan), np.where(both, apart, np.nan)


def _mean_of(scored: list[list[np.ndarray]]) -> Scored:
    """The mean over pairs of scores, and of what chance gives."""
    score, chance = (np.stack(parts) for parts in zip(*scored, strict=True))
    return _mean(score, axis=0), _mean(chance, axis=0)


def _mean(values: np.ndarray, axis: int) -> np.ndarray:
    """The mean of what is not nan; nan where there is nothing."""
    there = ~np.isnan(values)
    n = there.sum(axis=axis)
    total = np.where(there, values, 0).sum(axis=axis)
    return np.divide(total, n, out=np.full(total.shape, np.nan), where=n > 0)


APART: dict[str, Callable[[AttentionFigures], np.ndarray]] = {
    "looks": AttentionFigures.looks_apart,
    "answers": AttentionFigures.answers_apart,
    "one": AttentionFigures.one_unsure,
    "all": AttentionFigures.all_unsure,
}
