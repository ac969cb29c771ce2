"""How alike people and members look, item by item: `Looks -> figures`, nan where undefined."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from dissensus.metrics.rationales import (
    attention_auroc,
    auroc_of_ranks,
    chance_f1,
    heaviest,
    overlap_f1,
    ranks,
)
from dissensus.papers.seedbert.studies.hypothesis.ensembles import Looks

Scored = tuple[np.ndarray, np.ndarray]  # a score, and the same by chance


@dataclass(frozen=True, eq=False)
class Figures:
    """What one condition's looks say of each item; (n_items,) of people, (n_runs, n_items) else.

    A person's set is what they marked; a member's is as many of its heaviest positions.
    """

    looks: Looks

    @cached_property
    def rank(self) -> np.ndarray:
        """Of each position among those of its item, nan: none."""
        rank = self.looks.rank.astype(float)
        return np.where(rank > 0, rank, np.nan)

    @cached_property
    def n_positions(self) -> np.ndarray:
        return (self.looks.rank[0, 0] > 0).sum(axis=-1)

    @cached_property
    def n_marked(self) -> np.ndarray:
        """(n_items, most_people); nan where there is nobody."""
        n = self.looks.marked.sum(axis=-1).astype(float)
        return np.where(n > 0, n, np.nan)

    @cached_property
    def partner(self) -> np.ndarray:
        """Another item for each, drawn once: the next one in a random order."""
        order = np.random.default_rng(0).permutation(len(self.n_positions))
        other = np.empty_like(order)
        other[order] = np.roll(order, 1)
        return other

    # ---- sets of the same size: F1, and by chance ----

    def people(self, marked: np.ndarray | None = None) -> Scored:
        """Two people of an item; or one of them with what others marked, (like `marked`)."""
        own = self.looks.marked
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
        """Two members, each by as many positions as people marked on average."""
        wanted = np.round(_mean(self.n_marked, axis=-1))
        n = np.where(np.isnan(wanted), 0, np.maximum(wanted, 1))
        sets = heaviest(self.rank, np.broadcast_to(n, self.rank.shape[:-1]))
        pairs = combinations(range(sets.shape[1]), 2)
        f1 = np.mean([overlap_f1(sets[:, one], sets[:, two]) for one, two in pairs], axis=0)
        chance = chance_f1(n, n, self.n_positions)
        return f1, np.broadcast_to(chance, f1.shape)

    def between(self, marked: np.ndarray | None = None) -> Scored:
        """A member and a person."""
        marked = self.looks.marked if marked is None else marked
        scores = []
        for person in range(marked.shape[1]):
            sizes = marked[:, person].sum(axis=-1)
            sets = heaviest(self.rank, np.broadcast_to(sizes, self.rank.shape[:-1]))
            f1 = overlap_f1(sets, marked[:, person]).mean(axis=1)  # nan: nobody
            chance = np.where(sizes > 0, chance_f1(sizes, sizes, self.n_positions), np.nan)
            scores.append([f1, np.broadcast_to(chance, f1.shape)])
        return _mean_of(scores)

    def elsewhere(self) -> np.ndarray:
        """What people marked in another item, at the same shares of its length."""
        here, there = self.n_positions, self.n_positions[self.partner]
        longest = self.looks.marked.shape[-1]
        share = (np.arange(longest) + 0.5) / np.maximum(here, 1)[:, None]
        at = np.minimum((share * there[:, None]).astype(int), longest - 1)
        moved = np.take_along_axis(self.looks.marked[self.partner], at[:, None], axis=-1)
        inside = np.arange(longest) < here[:, None]
        return moved & inside[:, None]

    # ---- weights as they are ----

    def auroc(self, rank: np.ndarray) -> np.ndarray:
        """How well weights, (..., n_items, longest), find what each person marked, mean over
        people."""
        people = self.looks.marked.swapaxes(0, 1)  # (most_people, n_items, longest)
        return _mean(np.stack([auroc_of_ranks(rank, marked) for marked in people]), axis=0)

    def one(self) -> np.ndarray:
        """AUROC of the first member: a network by itself, as `single` trains it."""
        return self.auroc(self.rank[:, 0])

    def each(self) -> np.ndarray:
        """AUROC of a member, mean over members."""
        return _mean(self.auroc(self.rank), axis=1)

    def together(self) -> np.ndarray:
        """AUROC of all members' mean rank."""
        return self.auroc(ranks(self.rank.mean(axis=1)))

    def person(self) -> np.ndarray:
        """AUROC of a person's marks for another's: what can be asked for."""
        own = self.looks.marked
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
        return self.looks.probability.var(axis=1).sum(axis=-1)

    def one_unsure(self) -> np.ndarray:
        """One network by itself: the chance that two draws of its distribution differ."""
        return 1 - (self.looks.probability[:, 0] ** 2).sum(axis=-1)

    def all_unsure(self) -> np.ndarray:
        """The same of the members' mean probability."""
        return 1 - (self.looks.probability.mean(axis=1) ** 2).sum(axis=-1)

    def people_look_apart(self) -> np.ndarray:
        """1 less two people's F1, as far as it is above chance (0: alike, 1: as by chance)."""
        f1, chance = self.people()
        return (1 - f1) / np.where(chance < 1, 1 - chance, np.nan)

    def people_answer_apart(self) -> np.ndarray:
        """The chance that two of those who answered differ."""
        n = self.looks.votes.sum(axis=-1).astype(float)
        same = (self.looks.votes * (self.looks.votes - 1.0)).sum(axis=-1)
        return np.where(n > 1, 1 - same / np.where(n > 1, n * (n - 1), 1), np.nan)

    # ---- is it what makes them answer differently? ----

    def contested(self) -> np.ndarray:
        """AUROC of how far members' ranks spread: positions that some people marked, against those
        that everybody did."""
        n_people = (self.n_marked > 0).sum(axis=-1)
        times = self.looks.marked.sum(axis=1)  # (n_items, longest)
        several = (n_people > 1)[:, None] & (times > 0)
        spread = np.where(several, self.rank.std(axis=1), np.nan)  # (n_runs, n_items, longest)
        return auroc_of_ranks(ranks(spread), several & (times < n_people[:, None]))

    def members_by_answer(self) -> Scored:
        """Rank correlation of members that answer alike, and of those that do not; nan where an
        item does not have both."""
        answers = self.looks.probability.argmax(axis=-1)
        pairs = self._pairs_alike()
        same = np.stack([answers[:, one] == answers[:, two] for one, two in pairs])
        return _split(np.stack(list(pairs.values())), same)

    def people_by_answer(self) -> Scored:
        """F1 of people who answer alike, and of those who do not."""
        marked, answer = self.looks.marked, self.looks.answer
        f1, same = [], []
        for one, two in combinations(range(marked.shape[1]), 2):
            both = (answer[:, one] >= 0) & (answer[:, two] >= 0)
            f1.append(np.where(both, overlap_f1(marked[:, one], marked[:, two]), np.nan))
            same.append(answer[:, one] == answer[:, two])
        return _split(np.stack(f1), np.stack(same))

    # ---- has a member preferences, as people have? ----

    def clause_of_members(self) -> np.ndarray:
        """The aspect of the clause with the highest mean rank, (n_runs, n_members, n_items)."""
        clause, aspect = self.looks.clause, self.looks.aspect
        weight = []
        for part in range(aspect.shape[1]):
            inside = np.where(clause == part, 1.0, np.nan)
            weight.append(np.nan_to_num(_mean(self.rank * inside, axis=-1), nan=-1))
        chosen = np.stack(weight).argmax(axis=0)
        return aspect[np.arange(len(aspect)), chosen]

    def clause_of_people(self) -> np.ndarray:
        """The aspect that each of the people looked at in each item, (n_people, n_items); -1 where
        they did not answer."""
        clause, aspect, person = self.looks.clause, self.looks.aspect, self.looks.person
        clauses = np.full((person.max() + 1, len(person)), -1)
        first = self.looks.marked.argmax(axis=-1)  # (n_items, most_people)
        part = np.take_along_axis(clause, first, axis=1)
        item, slot = np.nonzero(person >= 0)
        clauses[person[item, slot], item] = aspect[item, part[item, slot]]
        return clauses


def preference(chosen: np.ndarray, aspect: np.ndarray, seed: int = 0) -> tuple[float, float]:
    """How far apart those who look are in the aspects they prefer, and the same by chance.

    The standard deviation, over who looks, of the share in which an aspect is chosen where it can
    be; mean over aspects. By chance: what was chosen in an item is dealt out anew among those who
    looked at it.

    Args:
        chosen: aspects, (n_who, n_items); -1 where one did not look.
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


def rank_correlation(people: np.ndarray, other: np.ndarray, given: np.ndarray | None) -> Scored:
    """Ranks over items whose plain correlation is Spearman's, of people and of every run.

    Args:
        people: (n_items,); items with nan are left out.
        other: (n_runs, n_items).
        given: what both are freed of, (n_items,): what is left of ranks beside a straight line.
    """
    defined = ~np.isnan(people) & ~np.isnan(other).any(axis=0)
    mine, theirs = ranks(people[defined]), ranks(other[:, defined])
    if given is None:
        return mine, theirs
    line = ranks(given[defined].astype(float))
    return _freed(mine, line), _freed(theirs, line)


def _freed(rank: np.ndarray, line: np.ndarray) -> np.ndarray:
    line = line - line.mean()
    centred = rank - rank.mean(axis=-1, keepdims=True)
    if not line.any():  # all items are as long
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


APART: dict[str, Callable[[Figures], np.ndarray]] = {
    "looks": Figures.looks_apart,
    "answers": Figures.answers_apart,
    "one": Figures.one_unsure,
    "all": Figures.all_unsure,
}
