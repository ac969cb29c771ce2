"""Annotators who copy: the same answers as another one, also where others answer differently."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from dissensus.agreement import false_discovery
from dissensus.annotations import Annotations
from dissensus.description.answer_times import given_later
from dissensus.scales import Interval, Ordinal

DIFFERENT = 0.09  # share of their answers in which annotators with a common view differ at least
KAPPA = 0.8  # of such annotators at most
CAREFUL = 0.75  # how often such ones differ, at least, where others differ once from the nearest
DIFFERENT_COPIES, KAPPA_COPIES = 0.055, 0.89  # of those who are named, at most and at least
TWO_OTHERS, TWO_OTHERS_COPIES = 0.05, 0.01  # likewise, if two others answered
THIRD_COPIES = 0.02  # likewise, if a third annotator is as much like them
PRIOR = 2.0  # answers that all answers together add to those of an item
MOST_ROWS = 400  # of an annotator, to find who may have copied from whom
MOST_PAIRS = 300_000_000  # of equal answers to look at
MOST_ITEMS = 1000  # of a pair, to compare it with others
MOST_VALUES = 8  # likewise: values are put together
LEVEL = 0.01  # of all pairs of annotators together
SHARED = 0.5  # share of answers that two annotators have in common for reasons that are not known
COPY = 0.05  # a third annotator who differs less often may have copied as well
OWN = 20  # answers from which on an annotator's own errors are estimated
PRIOR_ERRORS = 5.0  # answers that an annotator's overall errors add to those to one true value
HARD = 0.3  # share of hard items, to begin with
FEW_HARD = 0.1  # the most of them with two others: more would explain any copies
MOST_OTHERS = 8  # answers of others to an item
MOST_DECIDING = 300  # that count in the test of one truth: with more, any misfit is significant
BETWEEN = 0.03  # log-likelihood per item that true values between two levels may explain
FEW_ITEMS = 200  # that allow for as much: with fewer, errors are not well known
ELSEWHERE = 0.05  # level of the test whether two differ anywhere
MOST_ROUNDS = 40
_Fitted = tuple[float, np.ndarray]  # a log-likelihood, and states of items


@dataclass(frozen=True)
class Duplicated:
    """Two annotators who gave the same answers to the items they share."""

    annotators: list[str]
    answers: int  # the same ones
    items: int  # that both answered
    unusual: int  # of the same answers: unlike those of most others, if there are two or more
    chance: float  # of so much agreement if nobody copied, corrected for all pairs
    later: str | None = None  # who gave nine of ten of these answers after the other

    @property
    def text(self) -> str:
        """The evidence."""
        first, second = map(named_annotator, self.annotators)
        return (
            f"{first} and {second}: the same answer to {self.answers:,} of {self.items:,} items, "
            f"to {self.unusual:,} of them unlike most others (by chance {self.chance:.1g})"
            + (f"; {named_annotator(self.later)} answered later" if self.later else "")
        )


def named_annotator(name: str) -> str:
    """A name as it stands in a sentence."""
    return f"annotator {name}" if name.isdigit() else name


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
       at least 9 % of their answers, their kappa is at most 0.8, and they differ at least three
       quarters as often as others from the one most like them. With two others only, it is 5 %:
       these may err together on difficult items, so that two experts next to them look as if they
       copied. A binomial test says whether the two differ less often.

    The level is 1 % for all pairs together: the first test is corrected for all pairs that have
    enough items in common, the second one for all pairs that one truth does not explain.

    Both hypotheses are approximations, and with many items anything is significant. So the
    difference must be large as well. In the first test, the evidence counts as that of 300 items
    at most, less what true values between two levels or ratings explain. Those who are named differ
    in at most 5.5 % of their answers, with a kappa of 0.89; in 2 % if a third annotator is as much
    like them, as in a camp; in 1 % with two others. And they differ anywhere. Who slips is
    contradicted by the other one and by most others. A copy differs from the original no more often
    where most others contradict the original than elsewhere.

    Two others must have answered the items. With a single one, two annotators who copy cannot be
    told from two who are always right. Annotators who may have copied the same answers are none of
    the others. `docs/commands.md` says what else cannot be told from copies.

    Args:
        few: the least number of common items.

    Returns:
        The pairs; and a number per annotator that those with the same answers share,
        (n_annotators,).

    Reference: Dawid and Skene (1979), doi:10.2307/2346806.
    """
    rows = Answers.of(annotations)
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
    names, copies = annotations.annotators, []
    for chance, pair in named:
        later = given_later(annotations, pair.first, pair.second)
        copies.append(
            Duplicated(
                [names[code] for code in (pair.first, pair.second)],
                pair.equal,
                pair.items,
                rows.n_unusual(pair, same),
                float(chance),
                None if later is None else names[later],
            )
        )
    return copies, same


@dataclass(frozen=True)
class _Pair:
    first: int
    second: int
    items: int
    equal: int
    by_truth: float  # p-values of the two null hypotheses
    by_view: float


@dataclass(frozen=True, eq=False)
class Answers:
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
    def of(cls, annotations: Annotations) -> Answers:
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

    def _surprising(self, few: int) -> np.ndarray:
        """For each annotator the two who share the most surprising answers, (2, n)."""
        from scipy.sparse import csr_array

        probability = (self.times - 2 + PRIOR * self.share) / (self.size - 2 + PRIOR)
        many = np.diff(self.begin)[self.annotator] >= few
        kept = np.flatnonzero(many & (self.times >= 2) & (probability <= 0.5))
        kept = self.sampled(kept) if kept.size else kept
        if not kept.size:
            return np.zeros((2, 0), dtype=np.int64)
        annotator, surprise = self.annotator[kept], np.sqrt(-np.log(probability[kept]))
        group = np.unique(self.group[kept], return_inverse=True)[1].reshape(-1)
        matrix = csr_array((surprise, (annotator, group)), (len(self.begin) - 1, group.max() + 1))
        other = matrix.T.tocsr()
        work = np.bincount(annotator, np.bincount(group)[group], minlength=matrix.shape[0])
        edges = np.searchsorted(np.cumsum(work), np.arange(0, work.sum(), 1 << 23))
        pairs = []
        for begin, stop in itertools.pairwise(np.unique([*edges, matrix.shape[0]]).tolist()):
            product = matrix[begin:stop] @ other
            sizes, second = np.diff(product.indptr), product.indices
            starts, places = (
                product.indptr[:-1][sizes > 0],
                np.repeat(np.arange(begin, stop), sizes),
            )
            shared = np.where(places == second, 0.0, product.data)  # with others
            for _ in range(2):
                most = np.maximum.reduceat(shared, starts)
                best = shared == np.repeat(most, sizes[sizes > 0])
                other_one = np.minimum.reduceat(np.where(best, second, len(self.begin)), starts)
                both = np.stack([places[starts], other_one])[:, most > 0]
                pairs.append(np.sort(both, axis=0))
                shared[second == np.repeat(other_one, sizes[sizes > 0])] = 0.0
        return np.asarray(np.unique(np.hstack(pairs), axis=1))

    def candidates(self, few: int) -> np.ndarray:
        """Pairs with enough common items and few different answers to them, (2, n)."""
        from scipy.sparse import csr_array

        pairs = self._surprising(few)
        if not pairs.size:
            return pairs

        def times(column: np.ndarray) -> np.ndarray:
            ones = np.ones(len(column), dtype=np.float32)
            there = csr_array((ones, (self.annotator, column)))
            both = there[pairs[0]].multiply(there[pairs[1]])
            return np.asarray(both.sum(axis=1), dtype=float)

        n = times(self.item)
        alike = (n >= few) & (n - times(self.group) <= DIFFERENT_COPIES * n)
        return pairs[:, alike]

    def sampled(self, kept: np.ndarray) -> np.ndarray:
        """At most `MOST_ROWS` of an annotator, of the same items for everybody."""
        chance = np.random.default_rng(0).permutation(int(self.item.max()) + 1)
        kept = kept[np.lexsort((chance[self.item[kept]], self.annotator[kept]))]
        sizes = np.bincount(self.annotator[kept])
        rank = np.arange(len(kept)) - (np.cumsum(sizes) - sizes)[self.annotator[kept]]
        most = MOST_ROWS
        while True:
            chosen = kept[rank < most]
            _, group, sizes = np.unique(self.group[chosen], return_inverse=True, return_counts=True)
            order, rare = np.argsort(sizes, kind="stable"), np.zeros(len(sizes), dtype=bool)
            rare[order[np.cumsum(sizes[order].astype(float) ** 2) <= MOST_PAIRS]] = True
            if most < 20 or rare.all():
                return chosen[rare[group.reshape(-1)]]  # what very many answered says least
            most //= 2

    def compared(self, first: int, second: int, few: int) -> _Pair | None:
        """The p-values of two annotators; None if one of them is not small."""
        from scipy.special import bdtr

        a, b = self._common(first, second)
        n, n_different = len(a), int((self.answer[a] != self.answer[b]).sum())
        if n < few:
            return None
        times = [np.bincount(self.answer[rows], minlength=self.answer.max() + 1) for rows in (a, b)]
        by_chance = 1.0 - float(times[0] @ times[1]) / n**2  # if they answered other items
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
        most = THIRD_COPIES if answers.third else DIFFERENT_COPIES
        if answers.two_others():
            least, most = min(least, TWO_OTHERS), TWO_OTHERS_COPIES
        if n_different > n * most:
            return None
        by_view = float(bdtr(n_different, n, min(least, answers.usual_difference() * CAREFUL)))
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


# ---- two annotators next to others who answered the same items ----


@dataclass(frozen=True, eq=False)
class AnnotatorPair:
    """Answers of two annotators, and of others to the same items.

    Annotators with enough answers have columns. The answers of all others are in further columns,
    in no particular order; their errors are estimated together.
    """

    table: np.ndarray  # (n_items, n_columns) codes of values, -1 for none; the pair is last
    source: np.ndarray  # (n_columns,) columns of one annotator, or of several, have one number
    n_own: int  # columns of others with enough answers; they are the first ones
    third: bool  # whether somebody who may have copied as well was left out

    @classmethod
    def of(
        cls,
        x: np.ndarray,
        y: np.ndarray,
        place: np.ndarray,
        annotator: np.ndarray,
        answer: np.ndarray,
        least: float,
        few: int,
    ) -> AnnotatorPair:
        """Leave out annotators with one answer to all items, and who may have copied as well.

        The latter differ from one of the two in few answers, and not significantly more often than
        the two differ from each other.

        Args:
            x: answers of the first annotator, (n_items,); y: of the second one.
            place: the item of each answer of others, (n_answers,); annotator, answer: likewise.
            least: how often annotators with a common view differ.
            few: the least number of answers to tell whether somebody copied.
        """
        from scipy.special import bdtr

        _, at, annotator = np.unique(annotator, return_index=True, return_inverse=True)
        annotator = annotator.reshape(-1)
        size = np.bincount(annotator)

        def times(happens: np.ndarray) -> np.ndarray:
            return np.bincount(annotator[happens], minlength=len(size))

        differ = np.minimum(times(answer != x[place]), times(answer != y[place]))
        pair = times((x != y)[place])
        alike = (size >= few) & (differ <= min(least, COPY) * size)
        alike &= ~(bdtr(pair, np.maximum(pair + differ, 1), 0.5) < LEVEL)
        constant = times(answer != answer[at][annotator]) == 0
        kept = ~(alike | (constant & (size >= few)))[annotator]
        place, annotator, answer = place[kept], annotator[kept], answer[kept]
        size = np.bincount(annotator, minlength=len(size))
        n_own = min(int(np.count_nonzero(size >= OWN)), MOST_OTHERS)
        rank = np.empty(len(size), dtype=np.int64)
        rank[np.argsort(-size, kind="stable")] = np.arange(len(size))
        table = np.full((len(x), n_own + MOST_OTHERS + 2), -1)
        own = rank[annotator] < n_own
        table[place[own], rank[annotator[own]]] = answer[own]
        order = np.lexsort((answer[~own], place[~own]))
        place, answer = place[~own][order], answer[~own][order]
        slot = np.arange(len(place)) - np.searchsorted(place, place)
        kept = slot < MOST_OTHERS
        table[place[kept], n_own + slot[kept]] = answer[kept]
        table[:, -2], table[:, -1] = x, y
        source = np.minimum(np.arange(table.shape[1]), n_own)
        source[-2:] = n_own + 1, n_own + 2
        filled = (table >= 0).any(axis=0)
        return cls(table[:, filled], source[filled], n_own, bool(alike.any()))

    def n_others(self) -> np.ndarray:
        return np.asarray((self.table[:, :-2] >= 0).sum(axis=1))

    def two_others(self) -> bool:
        """Whether most items have answers of two others only."""
        return float(self.n_others().mean()) < 2.5

    def differ_anywhere(self) -> bool:
        """Whether the two differ no more often where most others contradict one of them.

        So do copies, if that one is the original. Who slips is contradicted by the partner and by
        most others.
        """
        from scipy.special import bdtrc

        others, n_others = self.table[:, :-2], self.n_others()
        known = n_others >= 2
        differ = known & (self.table[:, -2] != self.table[:, -1])
        chances = []
        for x in self.table[:, -2:].T:
            unlike = ((others != x[:, None]) & (others >= 0)).sum(axis=1)
            against = known & (2 * unlike > n_others)
            usual = against.sum() / max(known.sum(), 1)
            chances.append(bdtrc((against & differ).sum() - 1, differ.sum(), usual))
        return bool(max(chances) >= ELSEWHERE)

    def usual_difference(self) -> float:
        """How often annotators differ from the one who is most like them, apart from the pair.

        Half of the items say who that is, the other half how often they differ. Who uses the scale
        in another way differs if the answer is not the one that usually goes with the other's.
        """
        others, pair = self.table[:, :-2], self.table[:, -2:]
        usual = min(float((others != x[:, None])[others >= 0].mean()) for x in pair.T)
        table = np.hstack([self.table[:, : self.n_own], pair])
        halves = [_differences(table[half::2]) for half in (0, 1)]
        nearest = np.zeros(len(halves[0]))
        for chosen, other in (halves, halves[::-1]):
            chosen[-2:, -2:] = 1.0
            at = chosen.argmin(axis=1)[:, None]
            nearest += np.take_along_axis(other, at, axis=1)[:, 0] / 2
        if self.n_own >= 2:
            usual = min(usual, float(np.median(nearest[:-2])))
        return min(usual, float(nearest[-2:].min()))

    def by_truth(self, ordered: bool) -> float:
        """The p-value of at most the share `SHARED` of common answers beyond one truth.

        1 if it is clearly large. The likelihood of both hypotheses is maximised from what the
        others say and from what the pair says is true, and from the best of the other hypothesis.

        Args:
            ordered: whether values are levels or ratings, and items may lie between them.
        """
        from scipy.special import ndtr, ndtri

        model = _Model.of(self)
        if model is None:
            return 1.0
        n = len(self.table)
        allowance = BETWEEN * max(n, FEW_ITEMS) if ordered and model.answers.shape[2] > 2 else 0.0

        def root(copied: _Fitted, own: _Fitted) -> float:
            gain = (copied[0] - own[0] - allowance) * min(1.0, MOST_DECIDING / n)
            return float(np.sqrt(2 * max(0.0, gain)))

        by_others, by_pair = model.values()
        copied = max(
            (model.fit(model.states(by_others, hard), SHARED, 1.0) for hard in (0.02, HARD)),
            key=itemgetter(0),
        )
        own = model.fit(model.states(by_pair, HARD), 0.0, SHARED)
        for start in (model.states(by_others, HARD), copied[1]):
            if root(copied, own) < -ndtri(LEVEL):
                return 1.0
            own = max(own, model.fit(start, 0.0, SHARED), key=itemgetter(0))
        copied = max(copied, model.fit(own[1], SHARED, 1.0), key=itemgetter(0))
        return float(ndtr(-root(copied, own)))


@dataclass(frozen=True, eq=False)
class _Model:
    """Items are in one of several states: a true value; or hard, and two values are possible.

    In a state, answers are independent, but for those that the second annotator of the pair shares
    with the first one. In the first n_values states, every annotator has errors of their own. In
    the other two, one of the possible values is right, and annotators choose this one as often as
    they can tell, at least half of the time, or else the other one.
    """

    answers: np.ndarray  # (n_items, n_columns, n_values), 0 or 1; items with the same answers once
    weight: np.ndarray  # (n_items,) how many items have these answers
    tied: np.ndarray  # (n_columns, n_columns) whether columns have one source
    possible: np.ndarray  # (2, n_items) values of a hard item
    most_hard: float  # the largest share of hard items

    @classmethod
    def of(cls, pair: AnnotatorPair) -> _Model | None:
        table, weight = np.unique(pair.table, axis=0, return_counts=True)
        values = np.unique(table[table >= 0])
        if len(values) < 2:
            return None
        answers = (table[:, :, None] == values).astype(float)
        votes = answers[:, :-2].sum(axis=1)
        first, second = answers[:, -2], answers[:, -1]
        rival = (3 * votes + 2 * second + votes.mean(axis=0) / votes.sum()) * (1 - first)
        possible = np.stack([first.argmax(axis=1), rival.argmax(axis=1)])
        tied = (pair.source[:, None] == pair.source).astype(float)
        most_hard = FEW_HARD if pair.two_others() else 0.999
        return cls(answers, weight.astype(float), tied, possible, most_hard)

    def values(self) -> tuple[np.ndarray, np.ndarray]:
        """True values as the others say, and as the pair says, (n_items, n_values)."""
        others = self.answers[:, :-2].sum(axis=1) + self.answers.mean(axis=(0, 1))
        others /= others.sum(axis=1, keepdims=True)
        return others, 0.98 * self.answers[:, -2:].mean(axis=1) + 0.02 * others

    def states(self, values: np.ndarray, hard: float) -> np.ndarray:
        """To begin with, (n_items, n_values + 2)."""
        votes = np.take_along_axis(self.answers.sum(axis=1) + 0.1, self.possible.T, axis=1)
        votes *= hard / votes.sum(axis=1, keepdims=True)
        return np.hstack([(1 - hard) * values, votes])

    def fit(self, states: np.ndarray, low: float, high: float) -> _Fitted:
        """The log-likelihood with a share of copied answers between two bounds, and the states."""
        n, m, k = self.answers.shape
        flat = self.answers.reshape(n, m * k)
        same = (self.answers[:, -2] * self.answers[:, -1]).sum(axis=1, keepdims=True)
        usual = (self.tied @ (self.weight @ flat).reshape(m, k)) + 0.1
        usual /= usual.sum(axis=1, keepdims=True)
        right = np.stack([self.answers[np.arange(n), :, value] for value in self.possible])
        rare = self.answers @ np.log(usual.mean(axis=0) / 20)  # a third value of a hard item
        rare = np.where(right.any(axis=0), 0.0, rare)
        share = min(high, 0.95)
        copied = share * same
        likelihood = -np.inf
        for _ in range(MOST_ROUNDS):
            states = states * self.weight[:, None]
            second = states * (1 - copied)  # where the second annotator answered alone
            values = (states[:, :k].sum(axis=0) + 0.1) / (states[:, :k].sum() + 0.1 * k)
            errors = (states[:, :k].T @ flat).reshape(k, m, k).transpose(1, 0, 2)
            errors[-1] = second[:, :k].T @ self.answers[:, -1]
            errors = np.tensordot(self.tied, errors, axes=1)
            known = np.trace(errors, axis1=1, axis2=2) + 0.5
            known = (known / (errors.sum(axis=(1, 2)) + 1))[:, None, None]
            errors += PRIOR_ERRORS * (known * np.eye(k) + (1 - known) * usual[:, None])
            errors /= errors.sum(axis=2, keepdims=True)
            each = np.stack([states[:, k:].T] * m, axis=2)  # (2, n, m)
            each[..., -1] = second[:, k:].T
            hits = self.tied @ (each * right).sum(axis=(0, 1)) + 1
            misses = self.tied @ (each * right[::-1]).sum(axis=(0, 1)) + 1
            right_share = np.clip(hits / (hits + misses), 0.5, 0.999)
            hard = np.clip(states[:, k:].sum() / states.sum(), 1e-3, self.most_hard)
            alone = right * np.log(right_share) + right[::-1] * np.log(1 - right_share)
            alone += rare  # (2, n, m)
            easy = np.log(errors).transpose(0, 2, 1).reshape(m * k, k)
            logs = np.empty((n, k + 2))
            logs[:, :k] = flat[:, :-k] @ easy[:-k] + np.log((1 - hard) * values)
            logs[:, k:] = alone[..., :-1].sum(axis=2).T
            logs[:, k:] += np.log(hard * values[self.possible] / (k - 1)).T
            second = np.hstack([flat[:, -k:] @ easy[-k:], alone[..., -1].T])
            second = share * same + (1 - share) * np.exp(second)
            logs += np.log(second)
            top = logs.max(axis=1, keepdims=True)
            states = np.exp(logs - top)
            total = states.sum(axis=1, keepdims=True)
            states /= total
            copied = share * same / second
            share = float(self.weight @ (states * copied).sum(axis=1) / self.weight.sum())
            share = min(max(share, low), high)
            before, likelihood = likelihood, float(self.weight @ (np.log(total) + top)[:, 0])
            if likelihood - before < 0.01:
                break
        return likelihood, states


def _differences(table: np.ndarray) -> np.ndarray:
    """How often each two columns differ, or an answer is not predicted by those to other items.

    1 if they have few answers to the same items, (n_columns, n_columns).
    """
    n, m = table.shape
    k = int(table.max()) + 1
    flat = (table[:, :, None] == np.arange(k)).astype(np.float32).reshape(n, m * k)
    cells = (flat.T @ flat).reshape(m, k, m, k).transpose(0, 2, 1, 3)
    common = np.maximum(cells.sum(axis=(2, 3)), 1)
    best = np.sort(cells, axis=3)[..., -2:]
    clear = (best[..., -1] > 1) & ((best[..., -1] > best[..., 0]) if k > 1 else True)
    missed = 1 - np.where(clear, best[..., -1], 0).sum(axis=2) / common
    varied = 1 - cells.sum(axis=2).max(axis=2) / common  # (m, m) of the second of two columns
    compared = (common >= OWN / 2) & ~np.eye(m, dtype=bool) & (varied > 0) & (varied.T > 0)
    # relative to the errors without the other's answers: anybody's answers predict a constant;
    # and as if all used the scale as the pair does: two of five levels are seldom confused
    relative = np.divide(missed, varied, out=np.ones_like(missed), where=varied > 0)
    predicted = np.minimum(relative, relative.T) * varied[-2:, -2:].max()
    differ = np.minimum(1 - np.trace(cells, axis1=2, axis2=3) / common, predicted)
    return np.where(compared, differ, 1.0)
