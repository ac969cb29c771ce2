"""Annotators who copy: the same answers as another one, also where others answer differently."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dissensus.agreement import false_discovery
from dissensus.annotations import Annotations
from dissensus.description.annotator_pair import LEVEL, MOST_OTHERS, AnnotatorPair
from dissensus.scales import Interval, Ordinal

DIFFERENT = 0.09  # share of their answers in which annotators with a common view differ at least
KAPPA = 0.8  # of such annotators at most
DIFFERENT_COPIES, KAPPA_COPIES = 0.055, 0.89  # of those who are named, at most and at least
TWO_OTHERS, TWO_OTHERS_COPIES = 0.05, 0.01  # likewise, if two others answered
PRIOR = 2.0  # answers that all answers together add to those of an item
MOST_ROWS = 400  # of an annotator, to find who may have copied from whom
MOST_PAIRS = 300_000_000  # of equal answers to look at
MOST_ITEMS = 1000  # of a pair, to compare it with others
MOST_VALUES = 8  # likewise: values are put together


@dataclass(frozen=True)
class Duplicated:
    """Two annotators who gave the same answers to the items they share."""

    annotators: list[str]
    answers: int  # the same ones
    items: int  # that both answered
    unusual: int  # of the same answers: unlike those of most others, if there are two or more
    chance: float  # of so much agreement if nobody copied, corrected for all pairs


def duplicated(annotations: Annotations, few: int) -> tuple[list[Duplicated], np.ndarray]:
    """Pairs of annotators who gave the same answers, the least likely by chance first.

    Annotators who answer on their own may give the same answers because both are right, or because
    they see things alike. These are two null hypotheses, and a pair is named if both are rejected:

    1. *One truth.* Every item has a true value. Given it, annotators err independently of each
       other, each with errors of their own (Dawid and Skene's model). On hard items, all choose
       between the same two values, and find the right one at least half of the time. On top of
       that, the two may have half of their answers in common for any other reason. A
       likelihood-ratio test says whether they have more. Two experts among novices agree, but they
       do not make the same errors, and the novices err independently of each other.
    2. *A common view.* The two may hold views, and use the scale in a way, that nobody else
       shares, or be right where others err together. Still they slip independently: they differ in
       at least 9 % of their answers, their kappa is at most 0.8, and they differ at least half as
       often as others from the one most like them. With two others only, it is 5 %: these may err
       together on difficult items, so that two experts next to them look as if they copied. A
       binomial test says whether the two differ less often.

    The level is 1 % for all pairs together: the first test is corrected for all pairs that have
    enough items in common, the second one for all pairs that one truth does not explain.

    Both hypotheses are approximations, and with many items anything is significant. So the
    difference must be large as well. In the first test, the evidence counts as that of 300 items
    at most, less what true values between two levels or ratings explain. Those who are named differ
    in at most 5.5 % of their answers, with a kappa of 0.89, or in 1 % with two others. And they
    differ anywhere. Who slips is contradicted by the other one and by most others. A copy differs
    from the original no more often where most others contradict the original than elsewhere.

    What cannot be told from copies, above all with fewer than 1000 items: two who both slip in less
    than about 2 % of their answers, and hold a view that nobody else shares, or are right about
    many items where most others give the same wrong answer.

    Two others must have answered the items. With a single one, two annotators who copy cannot be
    told from two who are always right. Annotators who may have copied the same answers are none of
    the others. With fewer than 49 common items, the second hypothesis is never rejected; with two
    others, with fewer than 90.

    Args:
        few: the least number of common items.

    Returns:
        The pairs; and a number per annotator that those with the same answers share,
        (n_annotators,).

    Reference: Dawid and Skene (1979), doi:10.2307/2346806.
    """
    rows = _Rows.of(annotations)
    same = np.arange(annotations.n_annotators)
    pairs = [
        pair
        for first, second in zip(*rows.candidates(few), strict=True)
        if (pair := rows.compared(int(first), int(second), few)) is not None
    ]
    by_truth = false_discovery(np.array([pair.by_truth for pair in pairs]))
    by_truth *= rows.n_pairs(few) / max(len(pairs), 1)
    kept = np.flatnonzero(by_truth < LEVEL)
    by_view = false_discovery(np.array([pairs[place].by_view for place in kept]))
    chances = np.maximum(by_truth[kept], by_view)
    named = [(chances[at], pairs[kept[at]]) for at in np.argsort(chances, kind="stable")]
    named = [(chance, pair) for chance, pair in named if chance < LEVEL]
    for _, pair in named:
        same[same == same[pair.second]] = same[pair.first]
    return [
        Duplicated(
            [str(annotations.annotators[code]) for code in (pair.first, pair.second)],
            pair.equal,
            pair.items,
            rows.n_unusual(pair, same),
            float(chance),
        )
        for chance, pair in named
    ], same


@dataclass(frozen=True)
class _Pair:
    first: int
    second: int
    items: int
    equal: int
    by_truth: float  # p-values of the two null hypotheses
    by_view: float


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows sorted by annotator, then by item; one for each annotator and item."""

    annotator: np.ndarray  # (n_rows,)
    item: np.ndarray
    answer: np.ndarray  # codes of the different answers
    coarse: np.ndarray  # (n_rows,) codes below `MOST_VALUES`
    begin: np.ndarray  # (n_annotators + 1,)
    by_item: np.ndarray  # (n_rows,) rows sorted by item, those of annotators with many rows first
    begin_item: np.ndarray  # (n_items + 1,)
    group: np.ndarray  # (n_rows,) rows about one item with one answer
    times: np.ndarray  # (n_rows,) how often the item has this answer
    size: np.ndarray  # (n_rows,) answers of the item
    share: np.ndarray  # (n_rows,) of this answer among all answers
    ordered: bool  # whether answers are levels or ratings

    @classmethod
    def of(cls, annotations: Annotations) -> _Rows:
        annotator = annotations.annotator_codes("finding copies").astype(np.int64)
        item = annotations.item.astype(np.int64)
        _, answer = np.unique(annotations.answer, return_inverse=True)
        answer = answer.reshape(-1)
        order = np.argsort(annotator * annotations.n_items + item, kind="stable")
        annotator, item, answer = annotator[order], item[order], answer[order]
        fresh = (np.diff(annotator, prepend=-1) != 0) | (np.diff(item, prepend=-1) != 0)
        annotator, item, answer = annotator[fresh], item[fresh], answer[fresh]
        n_values = int(answer.max(initial=0)) + 1
        _, group, times = np.unique(
            item * n_values + answer, return_inverse=True, return_counts=True
        )
        share = np.bincount(answer, minlength=n_values) / max(len(answer), 1)
        begin = np.searchsorted(annotator, np.arange(annotations.n_annotators + 1))
        by_item = np.lexsort((-np.diff(begin)[annotator], item))
        begin_item = np.searchsorted(item[by_item], np.arange(annotations.n_items + 1))
        size = np.diff(begin_item)[item]
        group = group.reshape(-1)
        ordered = isinstance(annotations.scale, Interval | Ordinal)
        coarse = _coarse(share, ordered)[answer]
        return cls(
            annotator,
            item,
            answer,
            coarse,
            begin,
            by_item,
            begin_item,
            group,
            times[group],
            size,
            share[answer],
            ordered,
        )

    def n_pairs(self, few: int) -> float:
        """At least as many as there are pairs of annotators with so many common items."""
        n_active = np.count_nonzero(np.diff(self.begin) >= few)
        sizes = np.diff(self.begin_item).astype(float)
        return max(min(n_active * (n_active - 1), (sizes * (sizes - 1)).sum() / few) / 2, 1.0)

    def candidates(self, few: int) -> tuple[np.ndarray, np.ndarray]:
        """For each annotator the one who shares the most surprising answers."""
        from scipy.sparse import csr_array

        probability = (self.times - 2 + PRIOR * self.share) / (self.size - 2 + PRIOR)
        many = np.diff(self.begin)[self.annotator] >= few
        kept = np.flatnonzero(many & (self.times >= 2) & (probability <= 0.5))
        if not kept.size:
            return kept, kept
        kept = self._sampled(kept)
        groups, column = np.unique(self.group[kept], return_inverse=True)
        surprise = np.sqrt(-np.log(probability[kept]))
        shape = (len(self.begin) - 1, len(groups))
        matrix = csr_array((surprise, (self.annotator[kept], column.reshape(-1))), shape)
        other = matrix.T.tocsr()
        first, second = [], []
        active = np.unique(self.annotator[kept])
        for block in _blocks(active, shape[0]):
            product = (matrix[block] @ other).tocsr()
            for place, code in enumerate(block.tolist()):
                cells = slice(product.indptr[place], product.indptr[place + 1])
                partners, values = product.indices[cells], product.data[cells].copy()
                values[partners == code] = -1.0
                if values.size and values.max() > 0:
                    first.append(code)
                    second.append(int(partners[values.argmax()]))
        pairs = np.unique(np.sort(np.array([first, second], dtype=np.int64), axis=0), axis=1)
        return pairs[0], pairs[1]

    def _sampled(self, kept: np.ndarray) -> np.ndarray:
        """At most `MOST_ROWS` of an annotator, of the same items for everybody."""
        chance = np.random.default_rng(0).permutation(int(self.item.max()) + 1)
        kept = kept[np.lexsort((chance[self.item[kept]], self.annotator[kept]))]
        sizes = np.bincount(self.annotator[kept])
        rank = np.arange(len(kept)) - (np.cumsum(sizes) - sizes)[self.annotator[kept]]
        most = MOST_ROWS
        while True:
            chosen = kept[rank < most]
            _, sizes = np.unique(self.group[chosen], return_counts=True)
            if most < 20 or (sizes.astype(float) ** 2).sum() <= MOST_PAIRS:
                return chosen
            most //= 2

    def compared(self, first: int, second: int, few: int) -> _Pair | None:
        """The p-values of two annotators; None if one of them is not small."""
        from scipy.special import bdtr

        a, b = self._common(first, second)
        n, n_different = len(a), int((self.answer[a] != self.answer[b]).sum())
        if n < few:
            return None
        by_chance = _different_by_chance(self.answer[a], self.answer[b])
        if n_different > n * min(DIFFERENT_COPIES, (1 - KAPPA_COPIES) * by_chance):
            return None
        least = min(DIFFERENT, (1 - KAPPA) * by_chance)
        if not bdtr(n_different, n, least) < LEVEL:
            return None
        step = -(-n // MOST_ITEMS)
        a, b = a[::step], b[::step]
        place, rows = self._about(self.item[a], 3 * MOST_OTHERS)
        others = (self.annotator[rows] != first) & (self.annotator[rows] != second)
        answers = AnnotatorPair.of(
            self.coarse[a], self.coarse[b], place[others], self.annotator[rows[others]],
            self.coarse[rows[others]], least, few,
        )  # fmt: skip
        if np.count_nonzero(answers.n_others() >= 2) < few:
            return None
        if answers.two_others():
            least = min(least, TWO_OTHERS)
            if n_different > n * TWO_OTHERS_COPIES:
                return None
        by_view = float(bdtr(n_different, n, min(least, answers.usual_difference() / 2)))
        if not (by_view < LEVEL and answers.differ_anywhere()):
            return None
        by_truth = answers.by_truth(self.ordered)
        return _Pair(first, second, n, n - n_different, by_truth, by_view)

    def _common(self, first: int, second: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows of two annotators about the items that both answered."""
        a = np.arange(self.begin[first], self.begin[first + 1])
        last = self.begin[second + 1] - 1
        mine, others = self.item[a], self.item[self.begin[second] : last + 1]
        b = np.minimum(np.searchsorted(others, mine) + self.begin[second], last)
        common = self.item[b] == mine
        return a[common], b[common]

    def _about(self, items: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows about these items, at most so many about each, and places of their items."""
        sizes = np.minimum(np.diff(self.begin_item)[items], most)
        place = np.repeat(np.arange(len(items)), sizes)
        inside = np.arange(len(place)) - (np.cumsum(sizes) - sizes)[place]
        return place, self.by_item[self.begin_item[items][place] + inside]

    def n_unusual(self, pair: _Pair, same: np.ndarray) -> int:
        """How many of the same answers are unlike those of most others, at least two."""
        a, b = self._common(pair.first, pair.second)
        a = a[self.answer[a] == self.answer[b]]
        place, rows = self._about(self.item[a], int(self.size[a].max(initial=0)))
        others = same[self.annotator[rows]] != same[pair.first]
        place, unlike = place[others], (self.answer[rows] != self.answer[a][place])[others]
        n_others = np.bincount(place, minlength=len(a))
        n_unlike = np.bincount(place, unlike, len(a))
        return int(np.count_nonzero((n_others >= 2) & (2 * n_unlike > n_others)))


def _coarse(share: np.ndarray, ordered: bool) -> np.ndarray:
    """A code below `MOST_VALUES` for each value: neighbours, or all rare values, have the same."""
    if len(share) <= MOST_VALUES:
        return np.arange(len(share))
    if ordered:
        middle = np.cumsum(share) - share / 2
        return np.minimum((middle * MOST_VALUES).astype(np.int64), MOST_VALUES - 1)
    rank = np.empty(len(share), dtype=np.int64)
    rank[np.argsort(-share, kind="stable")] = np.arange(len(share))
    return np.minimum(rank, MOST_VALUES - 1)


def _different_by_chance(one: np.ndarray, two: np.ndarray) -> float:
    """How often two annotators would differ if they answered other items."""
    k = int(max(one.max(), two.max())) + 1
    return (
        1.0 - float(np.bincount(one, minlength=k) @ np.bincount(two, minlength=k)) / len(one) ** 2
    )


def _blocks(codes: np.ndarray, width: int) -> Iterator[np.ndarray]:
    """Blocks of annotators whose rows of a matrix with `width` columns fit into memory."""
    step = max(1, (1 << 23) // max(width, 1))
    for begin in range(0, len(codes), step):
        yield codes[begin : begin + step]
